import CLinux
import Library
import Platform

/// A folder in which this program and the system of an image exchange messages about one subject, such as Wi-Fi. The
/// system needs the rights of root for its part; this program does not have them. Each file is replaced as a whole
/// (docs/decisions/set-up-without-a-screen.md).
///
/// Any thread that may block.
struct SystemFolder: Sendable {
    /// The most bytes of a file.
    private static let limit = 64 << 10

    /// An absolute path.
    let path: String

    private var wanted: String { path + "/wanted" }

    /// Identifies the version of the file with the state; nil when there is none.
    var stateStamp: FileStamp? { FileStamp(of: path + "/state") }
    /// Whether the last request waits for the system.
    var isWanted: Bool { FileKind(at: wanted) != nil }

    /// Returns a report of the system; empty for a missing file, which the system has not written yet.
    func contents(of name: String) throws(SystemError) -> [UInt8] {
        do throws(SystemError) { return try File.contents(of: path + "/" + name, limit: Self.limit) } catch {
            if error.code == ENOENT { return [] }
            throw error
        }
    }

    /// Replaces the last request, if it still waits. The file may contain a password, so only its owner and root can
    /// read it.
    func want(_ text: String) throws(SystemError) {
        try FileReplacement.write(Array(text.utf8), to: wanted, mode: 0o600)
    }

    /// Whether the system has not seen the request to cancel.
    var isCancelWanted: Bool { FileKind(at: path + "/cancel") != nil }

    /// Requests that the system end its work, and withdraws the last request. The withdrawal comes second, because the
    /// system may take the request at this moment.
    func cancel() throws(SystemError) {
        try FileReplacement.write([], to: path + "/cancel", mode: 0o600)
        try Folder.removeFile(wanted)
    }

    /// Withdraws a request to cancel that the system has not seen.
    func withdrawCancel() throws(SystemError) { try Folder.removeFile(path + "/cancel") }

    /// Removes files that a crash left while one was written. They may contain a password.
    func removeLeftovers() { _ = try? FileReplacement.removeLeftovers(in: path) }
}
