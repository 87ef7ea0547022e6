import CLinux
import Platform

/// The control socket could not be opened, so clients cannot connect.
public enum SocketFileError: Error, Equatable, Sendable {
    /// Another program listens at the path.
    case inUse(path: String)
    /// Another kind of file is at the path; it is not changed.
    case notASocket(path: String)
    /// A call of the system failed.
    /// - Parameter path: the configured path; the failed operation may have used another one.
    case system(path: String, SystemError)
}

extension SocketFileError: CustomStringConvertible {
    /// The text for the user in one line, with the solution.
    public var description: String {
        switch self {
        case .inUse(let path):
            "control socket \(path): another program listens there, perhaps another tonearm. Stop it, or set another "
                + "path: [control] socket"
        case .notASocket(let path):
            "control socket \(path): there is something else. Remove it, or set another path: [control] socket"
        case .system(let path, let error): "control socket \(path): \(Self.reason(error, path)): [control] socket"
        }
    }

    private static func reason(_ error: SystemError, _ path: String) -> String {
        let folder = Folder.containing(path)
        return switch error.code {
        case EACCES, EPERM:
            "\(error.reason). Start it as a user who may write to \(folder), or set another path"
        case EEXIST, ENOTDIR: "the folder \(folder) cannot be made: a file is in the way. Set another path"
        default: "\(error.operation): \(error.reason). Fix that, or set another path"
        }
    }
}
