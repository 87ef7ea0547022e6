import Media

/// What a license server may ask for.
public struct LicenseContext: Sendable {
    /// The service's id of the product that is played.
    public var productId: String
    public var streamingSessionId: String
    /// Of the playbackinfo; nil when it has none.
    public var licenseURL: String?
    /// Of the playbackinfo; nil when it has none.
    public var securityToken: String?
}

/// How to reach a content service, and what to ask of it.
public struct ServiceSettings: Sendable {
    /// `https://host:port/path`, without a slash at the end.
    public var baseURL: String
    /// Identifies this kind of client to the service when nobody is logged in.
    public var clientName: String
    /// How many bytes of encoded audio a product fetches ahead of its decoder.
    public var readAhead = 16 << 20
    /// Gives keys of content that is protected by a system of its own, for who has a license of that system; nil for
    /// content that it does not serve. Called on a decoder thread for each product that is opened; its provider goes
    /// before ClearKey and keys of playlists. nil: there is none.
    public var licenses: (@Sendable (LicenseContext) -> (any LicenseProvider)?)?

    public init(baseURL: String, clientName: String = "tonearm") {
        var address = Array(baseURL.utf8)
        while address.last == UInt8(ascii: "/") { address.removeLast() }
        self.baseURL = String(decoding: address, as: UTF8.self)
        self.clientName = clientName
    }
}
