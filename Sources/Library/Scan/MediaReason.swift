import Media
import Platform

extension MediaError {
    /// Why a file cannot be used, as a phrase for the log.
    package var reason: String {
        switch self {
        case .notAudio(let looksLike?): "it is not audio, but looks like \(looksLike)"
        case .notAudio(nil): "it is not audio of a kind that is known"
        case .unsupported(let what): "\(what) is not supported"
        case .damaged(let what): "it is damaged: \(what)"
        case .protected(let systems): "it is protected by \(systems)"
        case .missingKey(let id): "it is encrypted, and the key \(hexadecimal(id)) is missing"
        case .license(let reason): "there is no license: \(reason)"
        case .empty: "the file is empty"
        case .source(.medium(let error)): error.reason
        case .source(.integrity(let reason)), .source(.unusable(let reason)), .source(.network(let reason)),
            .source(.tls(let reason)), .source(.foreign(_, let reason)):
            reason
        case .source(.cancelled), .source(.meteredLink), .source(.offlineMode), .source(.status): "it cannot be read"
        }
    }
}
