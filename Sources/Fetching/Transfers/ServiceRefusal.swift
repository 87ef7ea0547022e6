import Platform

/// An answer other than the requested resource, with its reason (docs/service.md, "Errors").
///
/// A status from 400 on decides about a product only in the service's format: a JSON object with that status or a
/// `subStatus`. Any other answer at its address says nothing about the product: it may be a login page, a filter or a
/// proxy.
public struct ServiceRefusal: Equatable, Sendable {
    public var status: Int
    /// Whether the body has the service's format.
    package var isOfService = false
    /// The service's reason; nil without one.
    package var subStatus: Int?
    /// The message for users, in the service's words.
    package var userMessage: String?

    /// - Parameter isOfService: whether the answer comes from the service.
    public init(status: Int, isOfService: Bool = false) {
        self.status = status
        self.isOfService = isOfService
    }

    /// - Parameter body: the body of the answer; a body in another format has no reason.
    package init(status: Int, body: [UInt8]) {
        self.status = status
        guard status >= 400, let json = try? JSONValue.parseForeign(body) else { return }
        subStatus = json["subStatus"]?.integer.flatMap { Int(exactly: $0) }
        isOfService = subStatus != nil || json["status"]?.integer == Int64(status)
        userMessage = isOfService ? json["userMessage"]?.string : nil
    }

    /// Whether a third party has answered. A temporary status means the same from any sender.
    package var isForeign: Bool { !isOfService && !Self.isTemporary(status) }

    /// Whether a server has answered that it has no such resource, or none for this player. Another answer in place of
    /// content says nothing about the product.
    package static func isOfMissing(_ status: Int) -> Bool { status == 403 || status == 404 || status == 410 }

    /// Returns whether the login is refused, which says nothing about the product. The service's reasons for a product
    /// are 4000 to 4999, with any status.
    package static func isOfLogin(_ status: Int, _ subStatus: Int? = nil) -> Bool {
        status == 401 && !(4000...4999 ~= subStatus ?? 0)
    }

    /// Returns for users why an answer of a third party is useless.
    package static func foreignReason(_ status: Int) -> String {
        let login =
            switch status {
            case 401: " If it is the service, log in with `tonearm login`"
            // nginx and other servers answer with 400 at a port that requires TLS.
            case 400: " Is [service] url right, and does it begin with https:// where the server speaks TLS?"
            default: " Is [service] url right?"
            }
        return "the answer (status \(status)) does not come from the content service: a login page of the network, a "
            + "filter or a proxy may be in between, or the server fails." + login
    }

    /// Returns whether the same request may succeed later.
    package static func isTemporary(_ status: Int) -> Bool { status == 429 || (500..<600).contains(status) }
}
