import CLinux

/// A system call that failed: what was tried, on what, and the system's own reason.
public struct SystemError: Error, Equatable, Sendable {
    /// errno.
    public var code: Int32
    /// What was tried, as a person says it: "open", "rename".
    public var operation: String
    /// The path or name it was tried on, where there is one.
    public var subject: String?

    public init(code: Int32, operation: String, subject: String? = nil) {
        self.code = code
        self.operation = operation
        self.subject = subject
    }

    /// The error that the last system call on this thread left.
    public static func last(_ operation: String, _ subject: String? = nil) -> SystemError {
        SystemError(code: tonearm_errno(), operation: operation, subject: subject)
    }

    /// Whether the medium is full, or the user's share of it.
    public var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT }

    /// The system's text for `code`: "No such file or directory".
    public var reason: String { String(cString: strerror(code)) }
}

extension SystemError: CustomStringConvertible {
    /// `open /media/stick/a.flac: No such file or directory`
    public var description: String {
        if let subject { "\(operation) \(subject): \(reason)" } else { "\(operation): \(reason)" }
    }
}
