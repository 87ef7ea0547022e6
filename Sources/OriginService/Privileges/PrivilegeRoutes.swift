import Database
import HTTPServer
import Platform

/// The address of the WebSocket for streaming privileges, and its upgrade (docs/service.md, "Streaming privileges").
///
/// Thread: any.
struct PrivilegeRoutes: Sendable {
    static let connectPath = "/v1/rt/connect"
    static let socketPath = "/v1/rt/socket"
    private static let longestName = 64

    let sockets: PrivilegeSockets
    let tickets: SocketTickets
    let publicAddress: String?
    /// Returns seconds since 1970.
    let now: @Sendable () -> Int64

    init(
        _ sockets: PrivilegeSockets, tickets: SocketTickets = SocketTickets(), publicAddress: String? = nil,
        now: @escaping @Sendable () -> Int64
    ) {
        self.sockets = sockets
        self.tickets = tickets
        self.publicAddress = publicAddress
        self.now = now
    }

    /// Answers a client that may connect.
    /// - Parameter login: the name of its login; nil without one.
    func connect(_ request: HTTPRequest, login: String?) -> HTTPAnswer {
        guard request.method == "POST" else { return .wrongMethod("POST") }
        guard let origin = publicAddress ?? request.origin else { return .wrongParameter("Host") }
        guard let ticket = tickets.make(for: Self.name(login, request), at: now()) else { return Self.full }
        // `http` becomes `ws`, `https` becomes `wss`.
        return .json(["url": .string("ws\(origin.dropFirst(4))\(Self.socketPath)?ticket=\(ticket)")])
    }

    /// The name that other players show.
    private static func name(_ login: String?, _ request: HTTPRequest) -> String {
        let product = request.headers["user-agent"]?.prefix { $0 != "/" && $0 != " " && $0 != "(" } ?? ""
        let name = login ?? String(product.filter { $0.isASCII && !$0.isWhitespace }.prefix(longestName))
        return name.isEmpty ? "another player" : name
    }

    /// Answers the upgrade (RFC 6455, 4.2).
    /// - Parameter fault: the fault to inject after it.
    func socket(_ request: HTTPRequest, fault: DeliveryFault.SocketFault? = nil) -> HTTPAnswer {
        guard request.method == "GET" else { return .wrongMethod("GET") }
        guard Self.has("websocket", in: request.headers["upgrade"]),
            Self.has("upgrade", in: request.headers["connection"])
        else {
            var refusal = HTTPAnswer.refusal(426, SubStatus.wrongParameter, "Only WebSockets are served here.")
            refusal.headers.append(HTTPField("Upgrade", "websocket"))
            return refusal
        }
        guard request.headers["sec-websocket-version"] == "13" else {
            var refusal = HTTPAnswer.refusal(426, SubStatus.wrongParameter, "Only version 13 is spoken.")
            refusal.headers += [HTTPField("Upgrade", "websocket"), HTTPField("Sec-WebSocket-Version", "13")]
            return refusal
        }
        guard let key = request.headers["sec-websocket-key"], Base64.bytes(key.utf8)?.count == 16 else {
            return .wrongParameter("Sec-WebSocket-Key")
        }
        guard sockets.hasRoom else { return Self.full }
        guard let client = tickets.use(request.query["ticket"] ?? "", at: now()) else {
            return .refusal(
                403, SubStatus.wrongSignature, "The ticket was used, has expired, or is not of this service.")
        }
        var answer = HTTPAnswer(
            status: 101,
            headers: [
                HTTPField("Upgrade", "websocket"), HTTPField("Sec-WebSocket-Accept", WebSocketKey.accept(key)),
            ])
        answer.upgrade = { [sockets] socket in sockets.add(socket, client: client, fault: fault) }
        return answer
    }

    /// Whether a list of tokens has this one, in any case.
    private static func has(_ token: String, in list: String?) -> Bool {
        list?.split(separator: ",").contains { $0.filter { !$0.isWhitespace }.lowercased() == token } ?? false
    }

    private static var full: HTTPAnswer {
        var refusal = HTTPAnswer.refusal(503, SubStatus.notReady, "Too many players are connected.")
        refusal.headers.append(HTTPField("Retry-After", "60"))
        return refusal
    }
}
