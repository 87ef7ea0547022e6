import CLinux

/// A system call that failed: the operation, its subject, and the system's reason.
public struct SystemError: Error, Equatable, Sendable {
    /// errno.
    public var code: Int32
    /// The operation in a word: "open", "rename".
    public var operation: String
    /// The path or name, if there is one.
    public var subject: String?

    public init(code: Int32, operation: String, subject: String? = nil) {
        self.code = code
        self.operation = operation
        self.subject = subject
    }

    /// The error of the last system call on this thread.
    public static func last(_ operation: String, _ subject: String? = nil) -> SystemError {
        SystemError(code: tonearm_errno(), operation: operation, subject: subject)
    }

    /// ENOSPC.
    public static let outOfSpace = ENOSPC

    /// ENOMEM.
    public static let outOfMemory = ENOMEM

    /// Whether the medium is full, or the user's quota is exhausted.
    public var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT }

    /// EMFILE, ENFILE, EAGAIN, ENOMEM: no descriptor, thread or memory is left now. The shortage is temporary, and is
    /// not due to the subject.
    public var isOfResources: Bool { [EMFILE, ENFILE, EAGAIN, ENOMEM].contains(code) }

    /// ENOENT: there is nothing with this name.
    public var isMissingFile: Bool { code == ENOENT }

    /// EACCES or EPERM: the rights of this process do not suffice.
    public var isRefused: Bool { code == EACCES || code == EPERM }

    /// EIO: the medium cannot read or write the bytes.
    public var isOfMedium: Bool { code == EIO }

    /// The system's text for `code`: "No such file or directory".
    public var reason: String { String(cString: strerror(code)) }
}

extension SystemError: CustomStringConvertible {
    /// `open /media/stick/a.flac: No such file or directory`
    public var description: String {
        if let subject { "\(operation) \(subject): \(reason)" } else { "\(operation): \(reason)" }
    }
}
