import Network
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Account
@testable import Offline
@testable import Player

/// The effects of the state machine, on the real loop and thread; the network answers as a script says.
@Suite("Streaming privileges over a scripted network")
struct StreamingPrivilegesTests {
    private static let refusal = #"{"status":401,"subStatus":11003}"#

    private let network = ScriptedPrivileges()
    private let loop: EventLoop
    private let thread: NamedThread
    private let revoked = Locked<[String?]>([])

    init() throws {
        let loop = try EventLoop()
        self.loop = loop
        thread = try NamedThread.start(name: "control") { loop.run() }
    }

    private func privileges(
        _ address: String = "http://service.example", _ credentials: any CredentialsProvider = OneToken()
    ) -> StreamingPrivileges {
        let service = PrivilegesService(
            network: network, settings: ServiceSettings(baseURL: address), credentials: credentials)
        let privileges = StreamingPrivileges(
            loop: loop, service, PrivilegesTime(trusted: nil, jitter: { 1 }), timer: LoopTimer(loop))
        privileges.revoked = { [revoked] device in revoked.withLock { $0.append(device) } }
        return privileges
    }

    private func onLoop(_ action: @escaping @Sendable () -> Void) { loop.post(action) }

    private func play(_ privileges: StreamingPrivileges) {
        onLoop {
            privileges.linkChanged(to: .ethernet)
            privileges.pressed()
            privileges.needChanged(to: true)
        }
    }

    private func end(_ privileges: StreamingPrivileges) {
        onLoop { privileges.shutDown() }
        loop.stop()
        thread.join()
    }

    @Test("The address is requested with the login, the press is sent, and a notification arrives with its name")
    func wholeWay() throws {
        let privileges = privileges()
        let before = SystemTime.clockMilliseconds()
        play(privileges)
        let sink = try network.connection(1)
        #expect(network.requests == ["POST http://service.example/v1/rt/connect Bearer old"])
        #expect(network.addresses == ["ws://service.example/socket"])
        sink.opened()
        let text = try network.text(1)
        let startedAt = try #require(try JSONValue.parse(text)["payload"]?["startedAt"]?.integer)
        #expect(before...SystemTime.clockMilliseconds() ~= startedAt)
        sink.received(#"{"type":"PRIVILEGED_SESSION_NOTIFICATION","payload":{"clientDisplayName":"Kitchen"}}"#)
        try waitUntil("it is revoked") { revoked.value == ["Kitchen"] }
        end(privileges)
        #expect(network.closings == [1000])
    }

    @Test("A refused token is replaced once; two refused ones end the attempts")
    func refusedTokens() throws {
        network.answers = [(401, Self.refusal), (200, #"{"url":"ws://service.example/socket"}"#)]
        let privileges = privileges("http://service.example", TwoTokens())
        play(privileges)
        _ = try network.connection(1)
        #expect(network.requests.map { $0.suffix(3) } == ["old", "new"])
        end(privileges)
    }

    @Test("Without a login, and with refused ones, nothing connects, and nothing is tried again")
    func notAuthorised() throws {
        network.answers = [(401, Self.refusal), (401, Self.refusal)]
        let privileges = privileges("http://service.example", TwoTokens())
        play(privileges)
        try waitUntil("both tokens were refused") { network.requests.count == 2 }
        // The answer is handled before this press, which asks once more.
        try waitUntil("a press asks again") {
            onLoop { privileges.pressed() }
            return network.requests.count > 2
        }
        end(privileges)

        let silent = ScriptedPrivileges()
        let service = PrivilegesService(
            network: silent, settings: ServiceSettings(baseURL: "http://a"), credentials: StaticCredentials(token: nil))
        silent.answers = [(401, Self.refusal)]
        #expect(service.discover(try Cancellation()) == .notAuthorised)
        #expect(silent.requests == ["POST http://a/v1/rt/connect -"])
    }

    @Test(
        "Answers to the request for an address",
        arguments: [
            (200, #"{"url":"wss://b/x"}"#, .address("wss://b/x")), (200, #"{"url":7}"#, .failed(retryAfter: nil)),
            (200, "no JSON", .failed(retryAfter: nil)), (404, #"{"status":404}"#, .unknown),
            (403, #"{"status":403}"#, .notAuthorised),
            // A proxy, and not the service.
            (404, "<html>", .failed(retryAfter: nil)), (403, "", .failed(retryAfter: nil)),
            (503, "", .failed(retryAfter: nil)),
            // A ticket in the clear, from a service over TLS.
            (200, #"{"url":"ws://b/x"}"#, .failed(retryAfter: nil)),
        ] as [(Int, String, PrivilegesService.Answer)])
    func answers(status: Int, body: String, answer: PrivilegesService.Answer) throws {
        network.answers = [(status, body)]
        let service = PrivilegesService(
            network: network, settings: ServiceSettings(baseURL: "https://service.example"), credentials: OneToken())
        #expect(service.discover(try Cancellation()) == answer)
    }

    @Test("Offline mode closes the connection, and its end makes another one")
    func offlineMode() throws {
        let privileges = privileges()
        play(privileges)
        try network.connection(1).opened()
        _ = try network.text(1)
        onLoop { privileges.offlineModeChanged(to: true) }
        try waitUntil("the connection is closed") { network.closings == [1000] }
        onLoop { privileges.offlineModeChanged(to: false) }
        try network.connection(2).opened()
        _ = try network.text(2)
        end(privileges)
    }
}

private final class OneToken: CredentialsProvider {
    func token(insteadOf rejected: String?, for use: TokenUse) -> String? { rejected == nil ? "old" : nil }
}

/// Two tokens, one after the other.
private final class TwoTokens: CredentialsProvider {
    func token(insteadOf rejected: String?, for use: TokenUse) -> String? { rejected == nil ? "old" : "new" }
}

/// A service without a network.
// @unchecked: `lock` guards the mutable state.
private final class ScriptedPrivileges: PrivilegesNetwork, @unchecked Sendable {
    private let lock = Lock()
    private var script: [(status: Int, body: String)] = []
    private var requested: [String] = []
    private var sockets: [(url: String, sink: any WebSocketSink)] = []
    private var texts: [String] = []
    private var codes: [UInt16] = []

    /// The answers to requests, in their order; afterwards each gets an address.
    var answers: [(Int, String)] {
        get { lock.withLock { script.map { ($0.status, $0.body) } } }
        set { lock.withLock { script = newValue.map { (status: $0.0, body: $0.1) } } }
    }
    var requests: [String] { lock.withLock { requested } }
    var addresses: [String] { lock.withLock { sockets.map { $0.url } } }
    var closings: [UInt16] { lock.withLock { codes } }

    func connection(_ number: Int) throws -> any WebSocketSink {
        try waitUntil("connection \(number)") { lock.withLock { sockets.count >= number } }
        return lock.withLock { sockets[number - 1].sink }
    }

    func text(_ number: Int) throws -> String {
        try waitUntil("text \(number)") { lock.withLock { texts.count >= number } }
        return lock.withLock { texts[number - 1] }
    }

    func fetch(
        _ request: TransferRequest, maximumBody: Int, cancellation: Cancellation
    ) throws(TransferError) -> Response {
        let answer = lock.withLock { () -> (status: Int, body: String) in
            let token = request.headers.first { $0.isNamed("Authorization") }?.value ?? "-"
            requested.append("POST \(request.url) \(token)")
            return script.isEmpty ? (200, #"{"url":"ws://service.example/socket"}"#) : script.removeFirst()
        }
        return Response(
            head: ResponseHead(status: answer.status, effectiveURL: request.url), body: Array(answer.body.utf8))
    }

    func openSocket(_ request: WebSocketRequest, into sink: any WebSocketSink) -> any OngoingSocket {
        lock.withLock { sockets.append((request.url, sink)) }
        return ScriptedSocket(
            sent: { [self] text in lock.withLock { texts.append(text) } },
            closed: { [self] code in lock.withLock { codes.append(code) } })
    }

    var linkChanges: UInt32 { 0 }
    func wait(_ nanoseconds: Int64, cancellation: Cancellation) -> Bool { false }
    func waitForLink(since seen: UInt32, atMost nanoseconds: Int64, cancellation: Cancellation) -> LinkWaitEnd? { nil }
}

private final class ScriptedSocket: OngoingSocket {
    private let sent: @Sendable (String) -> Void
    private let closed: @Sendable (UInt16) -> Void

    init(sent: @escaping @Sendable (String) -> Void, closed: @escaping @Sendable (UInt16) -> Void) {
        self.sent = sent
        self.closed = closed
    }

    func send(_ text: String) { sent(text) }
    func close(code: UInt16) { closed(code) }
}
