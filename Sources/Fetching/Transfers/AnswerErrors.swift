import Media
import Platform

// The meaning of an answer's error for the requests that follow (docs/playback.md, 15).

extension MediaError {
    /// Whether a new playbackinfo may help (docs/playback.md, 15.5): a part of the content has a status of 4XX, or
    /// another version has replaced the content.
    package var isWorthRestarting: Bool {
        switch self {
        case .source(.status(let status)): (400..<500).contains(status) && status != 429
        case .source(.foreign(let status?, _)): status < 500
        case .source(.integrity): true
        default: isOfNoService
        }
    }

    /// Whether no service sends this as music: a third party has answered, perhaps only once.
    package var isOfNoService: Bool {
        switch self {
        case .empty: true
        case .notAudio(let name?):
            name.utf8.elementsEqual("HTML".utf8) || name.utf8.elementsEqual("XML".utf8)
                || name.utf8.elementsEqual("text".utf8)
        default: false
        }
    }

    /// Whether the resource may be available later, after all retries.
    package var isTemporary: Bool {
        switch self {
        case .source(.status(let status)): ServiceRefusal.isTemporary(status)
        case .source(.foreign(let status, _)): status.map { $0 < 400 } ?? true
        case .source(.network), .source(.tls), .source(.medium), .source(.meteredLink), .source(.offlineMode): true
        default: false
        }
    }

    /// Whether the bytes are not the content that the service names. The cache may contain a web page instead.
    package var isOfWrongContent: Bool {
        switch self {
        case .source(.integrity), .source(.foreign): true
        default: isOfNoService
        }
    }

    /// Whether it comes from an answer, or from the bytes of the answer. Other errors come from this player, and end
    /// live content.
    package var isOfAnswer: Bool {
        switch self {
        case .source(.cancelled), .source(.offlineMode), .source(.meteredLink), .source(.medium): false
        case .source, .damaged, .notAudio, .empty, .unsupported, .license: true
        case .protected, .missingKey: false
        }
    }
}
