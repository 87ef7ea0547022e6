import Account
import Manifests
import Media
import Network

/// The address of a picture that a catalogue names (docs/service.md, "Catalogue").
struct CoverAddress: Equatable {
    let url: String
    /// Whether the server is that of the service, so that it gets the login.
    let isOfService: Bool

    private static let longest = 2048

    /// - Parameter reference: absolute, or relative to the service's address.
    /// - Returns: nil for an invalid one, and for one that leaves TLS.
    init?(_ reference: String, of service: ServiceSettings) {
        guard 1...Self.longest ~= reference.utf8.count else { return nil }
        let base = service.baseURL + "/"
        url = URLReference(reference).resolved(against: URLReference(base)).url
        // The user name of an address is none of ours.
        guard Network.host(of: url) != nil else { return nil }
        guard !base.utf8.starts(with: "https:".utf8) || url.utf8.starts(with: "https:".utf8) else { return nil }
        isOfService = Network.haveSameOrigin(url, base)
    }
}
