import Fetching
import Media
import Platform

extension PlayerError {
    /// How far an error reaches beyond its product (docs/playback.md, 12.9 and 16.8).
    public enum Reach: Equatable, Sendable {
        /// Only the product: waiting does not change it, and the next product may play.
        case product
        /// A server refuses the content of the product (403, 404, 410), and the service gave no reason. The content may
        /// be missing, or a filter may block all content. The next product shows which.
        case content
        /// The service is away, and with it all products: the network or the service fails, something else answers, or
        /// the login is not valid any more.
        case service
        /// This machine has no file descriptor, thread or memory left for the moment.
        case machine
    }

    public var reach: Reach {
        switch cause {
        case .service(let status, let subStatus):
            ServiceRefusal.isTemporary(status) || ServiceRefusal.isOfLogin(status, subStatus) ? .service : .product
        case .foreign: .service
        // An answer that is not JSON is a web page, or comes from a server that is not a content service.
        case .answer(let field): field.utf8.elementsEqual(PlayerError.Cause.noAnswer.utf8) ? .service : .product
        case .media(let error) where isOfWeb: error.reachOfWebFile
        case .media(.source(let error)): Self.reach(of: error)
        // Data that is not in the form of content or of a license proves nothing about the product.
        case .media(let error) where error.isOfNoService: isOfService ? .service : .product
        case .media(.license): isOfService ? .service : .product
        case .system(let error): error.isOfResources ? .machine : .product
        case .media, .memory, .device, .database, .source: .product
        }
    }

    private var isOfService: Bool { mediaProduct.map { ServiceAddress.isMeant(by: $0.productId) } ?? false }

    private var isOfWeb: Bool { mediaProduct.map { WebFileAddress.isMeant(by: $0.productId) } ?? false }

    private static func reach(of error: ByteSourceError) -> Reach {
        switch error {
        case .network, .tls, .meteredLink, .foreign(status: nil, _): .service
        case .foreign(let status?, _): ServiceRefusal.isOfMissing(status) ? .content : .service
        case .status(let status):
            ServiceRefusal.isTemporary(status) || ServiceRefusal.isOfLogin(status) ? .service : .product
        case .medium(let error): error.isOfResources ? .machine : .product
        // Only the product, because others may have offline copies.
        case .cancelled, .unusable, .integrity, .offlineMode: .product
        }
    }
}
