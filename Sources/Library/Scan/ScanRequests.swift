import Platform

/// Requests of other threads to compare files, because not every change raises an event. A network file system raises
/// none for changes by other machines. A file that stays open for writing raises none until it is closed.
///
/// Thread: any.
/// `@unchecked Sendable` is safe because `lock` guards the requests.
package final class ScanRequests: @unchecked Sendable {
    private let lock = Lock()
    private var files: Set<PathBytes> = []
    private var isAll = false
    private let wakeUp: WakeUp

    package init() throws(SystemError) { wakeUp = try WakeUp() }

    /// Readable while there is a request.
    package var descriptor: Int32 { wakeUp.descriptor }

    /// Requests a comparison of one file.
    package func add(_ file: String) {
        lock.withLock { _ = files.insert(PathBytes(file)) }
        wakeUp.signal()
    }

    /// Requests a comparison of everything.
    package func addAll() {
        lock.withLock { isAll = true }
        wakeUp.signal()
    }

    func take() -> (files: Set<PathBytes>, isAll: Bool) {
        wakeUp.clear()
        return lock.withLock {
            defer { (files, isAll) = ([], false) }
            return (files, isAll)
        }
    }
}
