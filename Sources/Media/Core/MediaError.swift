/// Why a stream cannot be decoded, or not to its end.
public enum MediaError: Error, Equatable, Sendable {
    /// No known format of audio. `looksLike` names the content if the first bytes show it: "JPEG", "MP3", "text".
    case notAudio(looksLike: String?)
    /// A known format that is not supported, or a known container with such content; `what` names it: "APE", "WAV with
    /// codec 0x0055".
    case unsupported(what: String)
    /// A known container with damage that cannot be skipped; `what` names it.
    case damaged(what: String)
    /// Encrypted content, and no `LicenseProvider` that gets its keys. `by` names the key systems: "Widevine", or
    /// "a key system that it does not name".
    case protected(by: String)
    /// The content's key with this ID, of 16 bytes, is not there.
    case missingKey(id: [UInt8])
    /// A license server refused, or its answer cannot be used. `reason` is for people.
    case license(reason: String)
    /// No bytes at all.
    case empty
    /// The bytes cannot be read.
    case source(ByteSourceError)
}
