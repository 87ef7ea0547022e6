import CLinux
import Library
import Platform

/// The folder in which this program and the system of an image talk about Wi-Fi. The system needs the rights of root
/// for its part; this program does not have them (docs/decisions/set-up-without-a-screen.md).
///
/// Any thread that may block.
struct WiFiFolder: Sendable {
    /// The most bytes of a file.
    private static let limit = 64 << 10

    /// An absolute path.
    let path: String

    private var state: String { path + "/state" }
    private var wanted: String { path + "/wanted" }

    /// Identifies the version of the file with the state; nil when there is none.
    var stateStamp: FileStamp? { FileStamp(of: state) }
    /// Whether the last request waits for the system.
    var isWanted: Bool { FileKind(at: wanted) != nil }
    /// The machine's address in its own network; nil when there is none, or it cannot be read.
    var address: String? { (try? contents(state)).flatMap { WiFiStatus.address(inState: $0) } }

    func status() throws(SystemError) -> WiFiStatus {
        WiFiStatus(
            state: try contents(state), networks: try contents(path + "/networks"), known: try contents(path + "/known")
        )
    }

    /// Replaces the last request, if it waits still. The file may have a password: only its owner and root read it.
    func want(_ text: String) throws(SystemError) {
        try FileReplacement.write(Array(text.utf8), to: wanted, mode: 0o600)
    }

    /// Removes what a crash while writing has left. It may have a password.
    func removeLeftovers() { _ = try? FileReplacement.removeLeftovers(in: path) }

    /// - Returns: nothing for a missing file: the system has not written it yet.
    private func contents(_ path: String) throws(SystemError) -> [UInt8] {
        do throws(SystemError) { return try File.contents(of: path, limit: Self.limit) } catch {
            if error.code == ENOENT { return [] }
            throw error
        }
    }
}
