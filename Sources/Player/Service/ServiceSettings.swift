/// How to reach a content service, and what to ask of it.
public struct ServiceSettings: Sendable {
    /// `https://host:port/path`, without a slash at the end.
    public var baseURL: String
    /// Identifies this kind of client to the service when nobody is logged in.
    public var clientName: String
    /// How many bytes of encoded audio a product fetches ahead of its decoder.
    public var readAhead = 16 << 20

    public init(baseURL: String, clientName: String = "tonearm") {
        var address = Array(baseURL.utf8)
        while address.last == UInt8(ascii: "/") { address.removeLast() }
        self.baseURL = String(decoding: address, as: UTF8.self)
        self.clientName = clientName
    }
}
