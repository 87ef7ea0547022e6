import Platform

/// Files that a request found changed, because not every change raises an event. A network file system raises none for
/// changes by other machines. A file that stays open for writing raises none until it is closed.
///
/// Thread: any.
/// `@unchecked Sendable` is safe because `lock` guards the files.
final class ScanRequests: @unchecked Sendable {
    private let lock = Lock()
    private var files: Set<PathBytes> = []
    private let wakeUp: WakeUp

    init() throws(SystemError) { wakeUp = try WakeUp() }

    /// Readable while there is a request.
    var descriptor: Int32 { wakeUp.descriptor }

    func add(_ file: String) {
        lock.withLock { _ = files.insert(PathBytes(file)) }
        wakeUp.signal()
    }

    func take() -> Set<PathBytes> {
        wakeUp.clear()
        return lock.withLock {
            let taken = files
            files = []
            return taken
        }
    }
}
