import Foundation
import HTTPServer
import Network
import Platform
import TestSupport
import Testing

@testable import OriginService

@Suite("Streaming privileges: the WebSockets of the origin (docs/service.md)")
struct WebSocketServerTests {
    /// An origin in this process.
    private final class Origin {
        let server: OriginServer
        private let folder: ScratchFolder
        private let origin: ContentOrigin

        init(_ faults: String = "", _ change: (inout OriginSettings) -> Void = { _ in }) throws {
            folder = try ScratchFolder()
            try FileManager.default.createDirectory(atPath: folder["music"], withIntermediateDirectories: true)
            var settings = OriginSettings()
            change(&settings)
            origin = try ContentOrigin(
                musicFolder: folder["music"], stateFolder: folder["state"], settings: settings,
                faults: try FaultPlan(parsing: Array(faults.utf8)))
            server = try origin.serve(address: "127.0.0.1", port: 0, certificate: nil, key: nil)
        }

        /// Asks for an address.
        func discover(_ network: Network, agent: String = "player/1", token: String? = nil) throws -> Response {
            var request = TransferRequest(
                .post(body: [], contentType: "application/json"), url: server.address + "/v1/rt/connect",
                headers: [HeaderField("User-Agent", agent)])
            if let token { request.headers.append(HeaderField("Authorization", "Bearer \(token)")) }
            return try network.fetch(request, maximumBody: 4096, cancellation: try Cancellation())
        }

        func url(_ network: Network, agent: String = "player/1", token: String? = nil) throws -> String {
            let body = try discover(network, agent: agent, token: token).body
            return try #require(JSONValue.parse(body)["url"]?.string)
        }

        func connect(_ network: Network, agent: String) throws -> Listener {
            Listener(network, try url(network, agent: agent))
        }

        /// Waits until the origin has taken connections that are open for their players.
        func waitForSockets(_ count: Int) { expectSoon("\(count) connections") { server.socketCount == count } }
    }

    /// A player's end of a WebSocket.
    // @unchecked: `condition` guards the mutable state.
    private final class Listener: WebSocketSink, @unchecked Sendable {
        private let condition = Condition()
        private var isOpen = false
        private var texts: [String] = []
        private var end: WebSocketEnd?
        private var socket: WebSocket?

        init(_ network: Network, _ url: String) {
            socket = network.openWebSocket(WebSocketRequest(url: url, mayUseMeteredLink: true), into: self)
        }

        func opened() { condition.update { isOpen = true } }
        func received(_ text: String) { condition.update { texts.append(text) } }
        func closed(_ end: WebSocketEnd) { condition.update { self.end = end } }

        func waitForOpen() -> Bool {
            expectSoon("the WebSocket") { condition.update { isOpen || end != nil } }
            return condition.update { isOpen }
        }

        func press(_ startedAt: Int64) {
            socket?.send("{\"type\":\"USER_ACTION\",\"payload\":{\"startedAt\":\(startedAt)}}")
        }

        /// A press of a player that names itself and counts its presses.
        func press(_ player: String, _ number: Int, age: Int) {
            let payload = "{\"startedAt\":1,\"age\":\(age),\"player\":\"\(player)\",\"press\":\(number)}"
            socket?.send("{\"type\":\"USER_ACTION\",\"payload\":\(payload)}")
        }

        func close() { socket?.close(code: 1000) }

        /// The next message.
        func next() throws -> JSONValue? {
            expectSoon("a message") { condition.update { !texts.isEmpty || end != nil } }
            return try condition.update { texts.isEmpty ? nil : texts.removeFirst() }.map { try JSONValue.parse($0) }
        }

        /// The name in the next message, which is a notification.
        func name() throws -> String? {
            guard let message = try next() else { return nil }
            #expect(message["type"]?.string == "PRIVILEGED_SESSION_NOTIFICATION")
            #expect(message["payload"]?["sessionId"]?.string?.isEmpty == false)
            #expect(message["payload"]?["updatedAt"]?["serverTime"]?.integer ?? 0 > 1_700_000_000_000)
            return message["payload"]?["clientDisplayName"]?.string
        }

        func waitForEnd() -> WebSocketEnd? {
            expectSoon("the end") { condition.update { end != nil } }
            return condition.update { end }
        }

        var count: Int { condition.update { texts.count } }
    }

    private func network() throws -> Network {
        var settings = NetworkSettings { 1_800_000_000 }
        settings.caFile = "/nonexistent"
        return try Network(settings)
    }

    // MARK: Players with names

    @Test("a player replaces its own former connection, and learns which of its presses the origin knew")
    func namedPlayers() throws {
        let (network, origin) = (try network(), try Origin { $0.sessions = 1 })
        let first = try origin.connect(network, agent: "kitchen/1")
        let study = try origin.connect(network, agent: "study/1")
        #expect(first.waitForOpen() && study.waitForOpen())
        origin.waitForSockets(2)
        first.press("k", 1, age: 1000)
        let untouched = try study.next()
        #expect(untouched?["payload"]?["clientDisplayName"] == "kitchen")
        // The first connection hangs, and the same press looks older over the second one.
        let second = try origin.connect(network, agent: "kitchen/1")
        #expect(second.waitForOpen())
        second.press("k", 2, age: 5000)
        #expect(try study.name() == "kitchen")
        study.press("s", 1, age: 0)
        let told = try second.next()
        #expect(told?["payload"]?["clientDisplayName"] == "study" && told?["payload"]?["press"] == 2)
        #expect(told?["payload"]?["age"]?.integer ?? -1 >= 0)
        second.press("k", 3, age: 60_000)
        let refused = try second.next()
        #expect(refused?["payload"]?["clientDisplayName"] == "study" && refused?["payload"]?["press"] == 3)
    }

    // MARK: The player's client

    @Test("one player streams at a time: the last press wins, also after a partition")
    func one() throws {
        let (network, origin) = (try network(), try Origin { $0.sessions = 1 })
        let kitchen = try origin.connect(network, agent: "kitchen/1")
        let study = try origin.connect(network, agent: "study/1")
        #expect(kitchen.waitForOpen() && study.waitForOpen())
        origin.waitForSockets(2)
        kitchen.press(1_700_000_000_100)
        #expect(try study.name() == "kitchen")
        study.press(1_700_000_000_200)
        #expect(try kitchen.name() == "study")
        // An older press that arrives late.
        kitchen.press(1_700_000_000_150)
        #expect(try kitchen.name() == "study")
        // The study is away, presses again, and comes back after the kitchen has pressed.
        study.close()
        #expect(study.waitForEnd() == .cancelled)
        kitchen.press(1_700_000_000_300)
        let back = try origin.connect(network, agent: "study/1")
        #expect(back.waitForOpen())
        back.press(1_700_000_000_250)
        #expect(try back.name() == "kitchen")
        back.press(1_700_000_000_400)
        #expect(try kitchen.name() == "study")
        #expect(kitchen.count == 0 && back.count == 0 && study.count == 0)
    }

    @Test("without --sessions all play, and no player is notified")
    func unlimited() throws {
        let (network, origin) = (try network(), try Origin())
        let players = try (0..<3).map { try origin.connect(network, agent: "player\($0)") }
        for player in players { #expect(player.waitForOpen()) }
        for player in players { player.press(1_700_000_000_000) }
        // The answer to the close frame comes after all that was sent before.
        for player in players {
            player.close()
            #expect(player.waitForEnd() == .cancelled)
            #expect(player.count == 0)
        }
    }

    @Test("a token or a login is needed for the address, and an address opens one connection")
    func authorisation() throws {
        let (network, origin) = (try network(), try Origin { $0.token = "secret" })
        #expect(try origin.discover(network).head.status == 401)
        #expect(try origin.discover(network, token: "other").head.status == 401)
        let url = try origin.url(network, token: "secret")
        #expect(Listener(network, url).waitForOpen())
        #expect(Listener(network, url).waitForEnd() == .refused(status: 403, retryAfter: nil))
    }

    @Test("when the origin ends, players are asked to connect again")
    func end() throws {
        let (network, origin) = (try network(), try Origin())
        let player = try origin.connect(network, agent: "player")
        #expect(player.waitForOpen())
        origin.waitForSockets(1)
        origin.server.closeSockets()
        #expect(try player.next()?["type"]?.string == "RECONNECT")
        #expect(player.waitForEnd() == .closed(code: 1001))
        #expect(Listener(network, try origin.url(network)).waitForEnd() == .refused(status: 503, retryAfter: 60))
    }

    @Test("faults: a refused address and upgrade, RECONNECT, garbage, a lost connection")
    func faults() throws {
        let plan = """
            [fault discovery]
            path = /v1/rt/connect
            count = 1
            status = 429
            retry-after = 3
            [fault upgrade]
            path = /v1/rt/socket
            count = 1
            status = 503
            retry-after = 4
            [fault reconnect]
            path = /v1/rt/socket
            skip = 1
            count = 1
            web-socket = reconnect
            [fault garbage]
            path = /v1/rt/socket
            skip = 2
            count = 1
            web-socket = garbage
            [fault drop]
            path = /v1/rt/socket
            skip = 3
            count = 1
            web-socket = drop
            """
        let (network, origin) = (try network(), try Origin(plan))
        let refused = try origin.discover(network).head
        #expect(refused.status == 429 && refused.retryAfter == 3)
        func listener() throws -> Listener { try origin.connect(network, agent: "player") }
        #expect(try listener().waitForEnd() == .refused(status: 503, retryAfter: 4))
        #expect(try listener().next()?["type"]?.string == "RECONNECT")
        let garbage = try listener()
        #expect(garbage.waitForEnd() == .failed(.webSocket(.protocolError)))
        #expect(throws: JSONError.self) { try garbage.next() }
        let dropped = try listener()
        #expect(dropped.waitForEnd() == .failed(.connection(.lost)))
        #expect(try listener().waitForOpen())
        #expect(throws: FaultPlan.Mistakes.self) {
            try FaultPlan(parsing: Array("[fault a]\npath = *\nweb-socket = maybe".utf8))
        }
    }

    // MARK: A foreign client

    private static let hasPython =
        (try? TestProcess.run("/usr/bin/python3", ["-c", "import websockets"]).code) == 0

    /// Prints one line a check, which begins with its name.
    private static let script = """
        import asyncio, json, ssl, sys, urllib.request, websockets
        base, authority = sys.argv[1], sys.argv[2]
        context = ssl.create_default_context(cafile=authority) if authority else None
        def url():
            request = urllib.request.Request(base + "/v1/rt/connect", method="POST", headers={"User-Agent": "Python/3"})
            return json.load(urllib.request.urlopen(request, context=context))["url"]
        def connect():
            return websockets.connect(url(), ssl=context, ping_interval=None)
        async def main():
            async with connect() as one, connect() as two:
                print("extensions", one.extensions, one.subprotocol)
                await (await one.ping(b"x" * 125))
                print("pong")
                action = '{"type":"USER_ACTION","payload":{"startedAt":"2023-11-14T22:13:20.5Z"}}'
                await one.send([c for c in action])
                payload = json.loads(await two.recv())["payload"]
                near = abs(payload["updatedAt"]["clientTime"] - 1700000000500) < 5000
                print("notified", payload["clientDisplayName"], near)
                await one.send("x" * 65536)
                await one.send("{}")
                await one.close(1000)
                print("closed", one.close_code)
                await two.send(b"bytes")
                await two.wait_closed()
                print("binary", two.close_code)
            async with connect() as large:
                await large.send("x" * 65537)
                await large.wait_closed()
                print("large", large.close_code)
            sockets = [await connect() for _ in range(100)]
            try:
                await connect()
            except websockets.InvalidStatusCode as error:
                print("full", error.status_code, error.headers["Retry-After"])
            await asyncio.gather(*[s.close() for s in sockets])
            async with connect() as last:
                print("waiting", flush=True)
                print("last", await last.recv())
                await last.wait_closed()
                print("end", last.close_code)
        asyncio.run(main())
        """

    @Test(
        "a foreign client talks to it, with and without TLS, until the program ends",
        .enabled(if: hasPython, "python3-websockets is missing: run tools/setup"), arguments: [false, true])
    func foreign(isSecure: Bool) throws {
        let folder = try ScratchFolder()
        try FileManager.default.createDirectory(atPath: folder["music"], withIntermediateDirectories: true)
        var options = ["--sessions", "1"]
        if isSecure {
            try run(
                "/usr/bin/openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=nas", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder["key"], "-out",
                    folder["certificate"],
                ])
            options += ["--tls-certificate", folder["certificate"], "--tls-key", folder["key"]]
        }
        let origin = try RunningOrigin(folder["music"], state: folder["state"], options: options)
        let client = try TestProcess(
            "/usr/bin/python3", ["-c", Self.script, origin.address, isSecure ? folder["certificate"] : ""])
        let expected = [
            "extensions [] None", "pong", "notified Python True", "closed 1000", "binary 1003", "large 1009",
            "full 503 60", "waiting",
        ]
        for line in expected { #expect(try client.nextLine() == line) }
        try origin.end()
        #expect(try client.nextLine() == #"last {"type":"RECONNECT"}"#)
        #expect(try client.nextLine() == "end 1001")
        #expect(try client.finish().code == 0)
    }

    @Test("a client whose connection is answered while the service ends is asked to connect again, too")
    func answeredAtTheEnd() throws {
        let sockets = try PrivilegeSockets(sessions: 1) { 1_800_000_000_000 }
        let tickets = SocketTickets()
        let routes = PrivilegeRoutes(sockets, tickets: tickets) { 0 }
        let socket = try ListeningSocket(address: "127.0.0.1", port: 0)
        let service = HTTPService { request in
            defer { sockets.stop() }
            return routes.socket(request)
        }
        let server = try HTTPServer(on: socket, identity: nil, service)
        let ticket = try #require(tickets.make(for: "kitchen", at: 0))
        let result = try TestProcess.run("/usr/bin/python3", ["-c", Self.bareClient(socket.port), ticket])
        let text = Array("{\"type\":\"RECONNECT\"}".utf8)
        let frames = [0x81, UInt8(text.count)] + text + [0x88, 2, 0x03, 0xE9]
        #expect(result.text == "True \(hexadecimal(frames))\n", "\(result.errors)")
        withExtendedLifetime(server) {}
    }

    /// A client that sends a ping with its request, and prints whether it was accepted, and the frames until the end.
    private static func bareClient(_ port: Int) -> String {
        """
        import socket, sys
        s = socket.create_connection(("127.0.0.1", \(port)))
        s.sendall(b"GET /v1/rt/socket?ticket=" + sys.argv[1].encode() + b" HTTP/1.1\\r\\nHost: a\\r\\n"
            b"Upgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Version: 13\\r\\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n\\x89\\x81\\0\\0\\0\\0!")
        answer = b""
        while part := s.recv(4096):
            answer += part
        head, frames = answer.split(b"\\r\\n\\r\\n")
        print(b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in head, frames.hex())
        """
    }

    @Test(
        "a client that does not answer pings is dropped, and one that sends its first frame with its request is heard")
    func silence() throws {
        var limits = WebSocketMachine.Limits()
        (limits.pingInterval, limits.patience) = (20_000_000, 20_000_000)
        let sockets = try PrivilegeSockets(sessions: 1, limits: limits) { 1_800_000_000_000 }
        let tickets = SocketTickets()
        let routes = PrivilegeRoutes(sockets, tickets: tickets) { 0 }
        let socket = try ListeningSocket(address: "127.0.0.1", port: 0)
        let server = try HTTPServer(on: socket, identity: nil, HTTPService { routes.socket($0) })
        let ticket = try #require(tickets.make(for: "kitchen", at: 0))
        let result = try TestProcess.run("/usr/bin/python3", ["-c", Self.bareClient(socket.port), ticket])
        // The pong, and one ping.
        #expect(result.text == "True 8a01218900\n", "\(result.errors)")
        sockets.stop()
        withExtendedLifetime(server) {}
    }
}
