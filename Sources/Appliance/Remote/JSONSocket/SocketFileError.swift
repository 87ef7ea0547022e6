import CLinux
import Platform

/// The control socket could not be opened, so clients cannot connect.
public enum SocketFileError: Error, Equatable, Sendable {
    /// Another program listens there.
    case inUse(path: String)
    /// Another kind of file is there; it is left alone.
    case notASocket(path: String)
    /// The system refuses it.
    /// - Parameter path: as configured; the failed operation may have used another one.
    case system(path: String, SystemError)
}

extension SocketFileError: CustomStringConvertible {
    /// One line, with what to do.
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
