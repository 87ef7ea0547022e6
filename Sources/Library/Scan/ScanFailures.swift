import Platform

/// The files and folders that could not be used, with the reasons. Each is logged once. A damaged file is not opened
/// again before the next start, unless it has changed.
///
/// Thread: the scan's.
package final class ScanFailures {
    private struct Failure {
        var stamp: FileStamp?
        var reason: String
        /// Whether the content of the file is the reason. It stays the same until the file changes.
        var isOfContent: Bool
    }

    private var failures: [PathBytes: Failure] = [:]
    /// The most paths: about 2 MB.
    private static let most = 10_000

    package init() {}

    /// Returns whether the content of this version of a file was refused.
    func haveRefused(_ path: String, _ stamp: FileStamp) -> Bool {
        guard let failure = failures[PathBytes(path)] else { return false }
        return failure.isOfContent && failure.stamp == stamp
    }

    /// Notes a failure, and logs it unless it is known.
    /// - Parameter stamp: the stamp of a file; nil for a folder.
    /// - Returns: whether it is new.
    @discardableResult
    func note(_ path: String, _ stamp: FileStamp?, _ reason: String, isOfContent: Bool = false) -> Bool {
        let known = failures[PathBytes(path)]
        if let known, known.stamp == stamp, known.reason.utf8.elementsEqual(reason.utf8) { return false }
        // Beyond the limit it is unknown whether a failure is new, so it counts as known and is not logged.
        guard known != nil || failures.count < Self.most else { return false }
        failures[PathBytes(path)] = Failure(stamp: stamp, reason: reason, isOfContent: isOfContent)
        Log.warning("\(path): \(reason)")
        return true
    }

    func forget(_ path: String) {
        if !failures.isEmpty { failures[PathBytes(path)] = nil }
    }
}
