/// Why a stream cannot be decoded, or not any further.
public enum MediaError: Error, Equatable, Sendable {
    /// No known container. `looksLike` names what the first bytes are, where they tell: "JPEG", "MP3", "text".
    case notAudio(looksLike: String?)
    /// A known container holds something that is not supported; `what` names it: "WAV with codec 0x0055".
    case unsupported(what: String)
    /// A known container is damaged where nothing can replace it; `what` says where.
    case damaged(what: String)
    /// No bytes at all.
    case empty
    /// The bytes cannot be read.
    case source(ByteSourceError)
}
