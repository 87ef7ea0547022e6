/// The destination of a request, redirect by redirect (RFC 9110, 15.4). libcurl follows none itself: pins belong to
/// hosts, and Tonearm has its own rules for credentials.
struct Redirection {
    static let limit = 5

    private(set) var address: WebAddress
    private(set) var method: TransferRequest.Method
    /// The fields of the request for the current address.
    private(set) var headers: [HeaderField]
    private let isAllowed: Bool
    private var count = 0

    /// The fields that another origin gets: those about the resource, and none that identifies the client.
    private static let harmless = [
        "accept", "accept-language", "cache-control", "if-modified-since", "if-none-match", "if-range",
    ]

    init(_ request: TransferRequest, to address: WebAddress) {
        self.address = address
        method = request.method
        headers = request.headers
        isAllowed = request.isRedirectAllowed
    }

    /// Returns whether this response redirects the request; if so, sets address, method and headers for the next
    /// request.
    mutating func follow(status: Int, location: String?) throws(RedirectFailure) -> Bool {
        guard isAllowed, [301, 302, 303, 307, 308].contains(status), let location else { return false }
        guard count < Self.limit else { throw .tooMany }
        guard let next = WebAddress(location, relativeTo: address) else { throw .address }
        if address.isSecure && !next.isSecure { throw .insecure }
        if case .post = method, status < 307 { method = .get }
        if !next.hasOrigin(of: address) {
            headers.removeAll { header in !Self.harmless.contains { header.isNamed($0) } }
        }
        address = next
        count += 1
        return true
    }
}
