import Media
import Network

/// The values that a license server may require.
public struct LicenseContext: Sendable {
    /// The service's id of the product to play.
    public var productId: String
    public var streamingSessionId: String
    /// The address in the playbackinfo; nil when it has none.
    public var licenseURL: String?
    /// The token in the playbackinfo; nil when it has none.
    public var securityToken: String?

    package init(productId: String, streamingSessionId: String, licenseURL: String?, securityToken: String?) {
        self.productId = productId
        self.streamingSessionId = streamingSessionId
        self.licenseURL = licenseURL
        self.securityToken = securityToken
    }
}

/// How to reach a content service, and the parameters of its use.
public struct ServiceSettings: Sendable {
    package static let standardReadAhead = 16 << 20

    /// `https://host:port/path`, without a slash at the end.
    public var baseURL: String
    /// Identifies this kind of client to the service without a login.
    public var clientName: String
    /// How many bytes of encoded audio are fetched before the decoder of a product needs them.
    public var readAhead = Self.standardReadAhead
    /// Returns the keys of content that a proprietary system protects, for licensees of that system; nil for content
    /// that it does not serve. Called on a decoder thread for each product that is opened. Its provider has priority
    /// over ClearKey and the keys of playlists. nil: there is no such system.
    public var licenses: (@Sendable (LicenseContext) -> (any LicenseProvider)?)?

    public init(baseURL: String, clientName: String = "tonearm") {
        var address = Array(baseURL.utf8)
        while address.last == UInt8(ascii: "/") { address.removeLast() }
        self.baseURL = String(decoding: address, as: UTF8.self)
        self.clientName = clientName
    }

    /// Returns the field that identifies a request: by the login, or without one by the kind of client.
    package func identity(_ token: String?) -> HeaderField {
        token.map { HeaderField("Authorization", "Bearer \($0)") } ?? HeaderField("x-tidal-token", clientName)
    }
}
