import Platform

/// Why a path, or an entry of a playlist or cue sheet, has no music.
public struct MusicProblem: Error, Equatable, Sendable {
    /// The file or folder, or the playlist or cue sheet with the entry.
    public let path: String
    /// The reason for the user.
    public let reason: String
    /// The error of the system, if it is the cause.
    public let systemError: SystemError?

    /// The code of a playlist or cue sheet that cannot be used (docs/control.md).
    package static let listCode = "l1"

    public init(_ error: SystemError, at path: String) {
        self.path = error.subject ?? path
        reason = error.reason
        systemError = error
    }

    /// - Parameter reason: about a playlist or cue sheet.
    init(_ path: String, _ reason: String, _ error: SystemError? = nil) {
        self.path = path
        self.reason = reason
        systemError = error
    }

    public var message: String { "\(path): \(reason)" }

    /// The code for programs; the same codes as in `PlayerError`.
    public var code: String { systemError.map { "s\($0.code)" } ?? Self.listCode }
}

extension PlayerError {
    /// Describes a track of a cue sheet that cannot be played.
    init(_ problem: MusicProblem, _ product: MediaProduct) {
        self.init(
            .unexpected, problem.systemError.map { .system($0) } ?? .source(code: MusicProblem.listCode),
            message: "\(product.productId): \(problem.reason)", mediaProduct: product)
    }
}
