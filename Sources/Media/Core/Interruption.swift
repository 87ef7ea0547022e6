/// The reason why a step of opening, seeking or decoding ended without its result.
enum Interruption: Error, Equatable {
    /// The source has no bytes yet. The step had no effect and can be repeated.
    case notYet
    case failed(MediaError)

    static func damaged(what: String) -> Interruption { .failed(.damaged(what: what)) }
    static func unsupported(what: String) -> Interruption { .failed(.unsupported(what: what)) }
    static func source(_ error: ByteSourceError) -> Interruption { .failed(.source(error)) }

    /// Whether the source failed. Such an error does not concern the content.
    var isOfSource: Bool {
        switch self {
        case .notYet, .failed(.source): true
        case .failed: false
        }
    }
}
