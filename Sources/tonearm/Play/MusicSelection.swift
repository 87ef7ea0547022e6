import CLinux
import Media
import Platform
import Player

/// The files at the paths of a command line.
struct MusicSelection {
    /// A path without anything to play, and the reason.
    struct Problem: Equatable {
        let path: String
        /// For scripts; the same codes as in `PlayerError`.
        let code: String
        let message: String
    }

    /// In the order to play them.
    private(set) var files: [String] = []
    private(set) var problems: [Problem] = []

    init(_ paths: [String]) {
        for path in paths { add(path) }
    }

    private mutating func add(_ path: String) {
        do throws(SystemError) {
            let found = try MusicFolder.contents(of: path)
            for error in found.unreadable { add(error, at: error.subject ?? path) }
            files += found.files
            if found.files.isEmpty, found.unreadable.isEmpty {
                let message = "\(path): no music in this folder. Supported: \(AudioFormats.supported)."
                problems.append(Problem(path: path, code: "c1", message: message))
            }
        } catch {
            add(error, at: path)
        }
    }

    private mutating func add(_ error: SystemError, at path: String) {
        problems.append(Problem(path: path, code: "s\(error.code)", message: "\(path): \(error.reason)"))
    }
}
