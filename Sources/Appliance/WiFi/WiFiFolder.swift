import Platform

/// The folder in which this program and the system exchange messages about Wi-Fi.
///
/// Any thread that may block.
package struct WiFiFolder: Sendable {
    let files: SystemFolder

    /// - Parameter path: an absolute path.
    package init(path: String) { files = SystemFolder(path: path) }

    /// The machine's address in its own network; nil when there is none, or it cannot be read.
    package var address: String? { (try? files.contents(of: "state")).flatMap { WiFiStatus.address(inState: $0) } }

    func status() throws(SystemError) -> WiFiStatus {
        WiFiStatus(
            state: try files.contents(of: "state"), networks: try files.contents(of: "networks"),
            known: try files.contents(of: "known"))
    }
}
