import Fetching
import Media
import Platform

extension MediaError {
    /// The reason and the remedy for the user when a web server does not deliver a file; nil when the usual text fits.
    var reasonOfWebFile: String? {
        switch self {
        case .source(.status(let status)), .source(.foreign(let status?, _)): Self.reason(ofWebStatus: status)
        case .source(.offlineMode):
            "it comes over the network, and the player is in offline mode ([offline] only)."
        default: nil
        }
    }

    private static func reason(ofWebStatus status: Int) -> String {
        switch status {
        case 200..<300:
            "the server sends a web page instead of audio. Open it in a browser, and use the address of the file."
        case 401, 407: "the server wants a login (status \(status)), and this player has none for it."
        case 403:
            "the server does not allow it (status 403). Check its permissions, or whether the address has expired."
        case 404, 410: "the server has no such file (status \(status)). Check the address."
        case _ where ServiceRefusal.isTemporary(status):
            "the server fails at present (status \(status)). Try again later."
        default: "the server refuses it (status \(status))."
        }
    }

    /// The kind of error when a web server has answered with a status; nil when the usual kind fits.
    var kindOfWebFile: PlayerError.Kind? {
        switch self {
        case .source(.foreign(let status?, _)): ServiceRefusal(status: status, isOfService: true).kind
        default: nil
        }
    }

    /// How far the error of a web file reaches. The failure of one server proves nothing about others. The next
    /// products show whether the network is the reason (docs/playback.md, 18.5).
    var reachOfWebFile: PlayerError.Reach {
        switch self {
        case .source(.network), .source(.tls), .source(.meteredLink): .content
        case .source(.status(let status)), .source(.foreign(let status?, _)):
            ServiceRefusal.isTemporary(status) ? .content : .product
        case .source(.medium(let error)): error.isOfResources ? .machine : .product
        default: .product
        }
    }
}
