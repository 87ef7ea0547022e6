import Fetching
import Network

/// Why there is no cover of a product.
public enum CoverFailure: Error, Equatable, Sendable {
    /// The catalogue has no such product, or no cover of it.
    case none
    /// The picture cannot be used; the reason follows "there is no small form of the cover: ".
    case unusable(String)
    /// The service, or the server of the picture, takes too long.
    case slow
    /// The service is not reached now, or refuses for now; the reason is for the user.
    case away(String)

    /// Whether the next request would fail in the same way.
    public var lasts: Bool { if case .away = self { false } else { true } }

    /// Ends a sentence.
    public var reason: String {
        switch self {
        case .none: "there is none"
        case .unusable(let reason), .away(let reason): reason
        case .slow: "its server takes too long"
        }
    }

    init(_ error: TransferError) {
        switch error {
        case .tooLarge: self = .unusable("it is larger than \(FetchedPicture.mostBytes >> 20) MiB")
        case .timeOut: self = .slow
        default: self = .away(error.description)
        }
    }

    /// - Parameter status: the status of an answer without a cover, 300 or above.
    init(status: Int) {
        switch status {
        case 401: self = .away("the service refuses the login")
        case 400..<500 where status != 408 && status != 429: self = .none
        default: self = .away("the server of the cover answers with status \(status)")
        }
    }

    init(_ failure: ResourceFailure) {
        self =
            switch failure {
            case .transfer(let error): CoverFailure(error)
            case .refused(let refusal): CoverFailure(status: refusal.status)
            case .cancelled, .changed, .tooLarge: .away("the player ends")
            }
    }
}
