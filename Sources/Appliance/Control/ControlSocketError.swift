import Platform

/// Why nobody can connect: the control socket could not be opened.
public enum ControlSocketError: Error, Equatable, Sendable {
    /// Another program listens there.
    case inUse(path: String)
    /// Something is there that is no socket; it is left alone.
    case notASocket(path: String)
    /// The system refuses it.
    case system(SystemError)
}

extension ControlSocketError: CustomStringConvertible {
    /// One line that also says the way out.
    public var description: String {
        switch self {
        case .inUse(let path):
            "control socket \(path): another program listens there, perhaps another tonearm. Stop it, or set another "
                + "path: [control] socket"
        case .notASocket(let path):
            "control socket \(path): there is something else. Remove it, or set another path: [control] socket"
        case .system(let error): "control socket: \(error.description)"
        }
    }
}
