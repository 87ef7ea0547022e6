import ApplianceTestSupport
import CLinux
import Platform
import TestSupport
import Testing

@testable import Appliance
@testable import Control

@Suite("The control socket")
struct JSONSocketTests {
    private let fixture: RemoteFixture

    init() throws { fixture = try RemoteFixture(clientLimit: 3) }

    @Test("A reply has the id of its request")
    func identity() throws {
        defer { fixture.shutDown() }
        let client = try fixture.connect()
        try client.send(
            "{\"id\":\"é\",\"request\":\"version\"}\n{\"id\":-1.5,\"request\":\"version\"}\n{\"request\":\"version\"}\n"
        )
        #expect(try client.line() == #"{"id":"é","ok":true,"version":"1.2.3","protocol":1}"#)
        #expect(try client.message()["id"] == .real(-1.5))
        #expect(try client.message()["id"] == .null)
    }

    @Test("A client that waits for an answer about offline copies when the daemon ends is told so")
    func ends() throws {
        let kept = try OfflineCopies(in: fixture.folder)
        defer { withExtendedLifetime(kept) {} }
        // Its thread never runs: the answer does not come by itself.
        let (engine, loop) = (kept.engine, fixture.loop)
        fixture.withServer { $0.clients.requests.later.downloads = DownloadExecution(engine: engine, loop: loop) }
        let client = try fixture.connect()
        try client.ask("version")
        try client.send(#"{"id":"v","request":"offline-verify","product":"tonearm:track/7"}"# + "\n")
        // The loop has read the request when the second one returns.
        fixture.perform {}
        fixture.perform {}
        fixture.shutDown()
        let reply = try client.message()
        #expect(reply["id"] == "v" && reply.errorCode == "system")
        #expect(reply.errorMessage?.contains("the daemon ends") == true)
        #expect(try client.line() == nil)
    }

    @Test("A mistake gets an error, and the connection stays open")
    func mistakes() throws {
        defer { fixture.shutDown() }
        let client = try fixture.connect()
        try client.send("nonsense\n")
        let reply = try client.message()
        #expect(reply["id"] == .null && reply["ok"] == false && reply.errorCode == "bad-json")
        try client.send(Array(repeating: UInt8(ascii: "x"), count: 1_000_000) + Array("\n".utf8))
        #expect(try client.message().errorCode == "too-long")
        #expect(try client.ask("version")["ok"] == true)
    }

    @Test("Many requests of one client do not delay the other clients")
    func turns() throws {
        defer { fixture.shutDown() }
        let busy = try fixture.connect()
        let other = try fixture.connect()
        try busy.ask("volume", "\"percent\":0")
        try other.ask("version")
        // The loop has handled all events of both clients when this returns.
        fixture.perform {}
        // On the loop's thread, so that it finds the requests of both at its next turn.
        let sent = fixture.perform {
            let many = (1...100).map { "{\"request\":\"volume\",\"percent\":\($0)}\n" }.joined()
            return busy.offer(Array(many.utf8)) == many.utf8.count
                && other.offer(Array("{\"request\":\"status\"}\n".utf8)) > 0
        }
        #expect(sent)
        let volume = try #require(try other.message()["volume"]?.integer)
        #expect((1..<50).contains(volume))
        for percent in 1...100 { #expect(try busy.message()["volume"] == .integer(Int64(percent))) }
    }

    @Test("A request may be as long as 64 KiB")
    func longestLine() throws {
        defer { fixture.shutDown() }
        let client = try fixture.connect()
        let request = #"{"request":"version"}"#
        for (blanks, code) in [(65_536 - request.utf8.count, nil), (65_537 - request.utf8.count, "too-long")] {
            try client.send(request + String(repeating: " ", count: blanks) + "\n")
            #expect(try client.message().errorCode == code)
        }
    }

    @Test("A client that ends its sending side gets all replies, also to a last line without a line end")
    func halfClosed() throws {
        defer { fixture.shutDown() }
        let client = try fixture.connect()
        try client.send(String(repeating: "{\"request\":\"status\"}\n", count: 2000) + #"{"id":1,"request":"version"}"#)
        client.finishSending()
        for _ in 0..<2000 { #expect(try client.message()["ok"] == true) }
        #expect(try client.message()["id"] == 1)
        #expect(try client.line() == nil)
        #expect(fixture.withServer { $0.clientCount } == 0)
    }

    @Test("The request of a client that does not wait for the reply is carried out")
    func fireAndForget() throws {
        defer { fixture.shutDown() }
        for percent in [10, 20] {
            let client = try fixture.connect()
            try client.send("{\"request\":\"volume\",\"percent\":\(percent)}\n")
        }
        // The next client is served when those before it are gone.
        _ = try fixture.connect().ask("version")
        #expect(fixture.player.playbackEngineConfig.volume.percent == 20)
    }

    @Test("A client above the limit gets an error; the limit can be changed")
    func limit() throws {
        defer { fixture.shutDown() }
        let clients = try (0..<3).map { _ in try fixture.connect() }
        for client in clients { try client.ask("version") }
        let refused = try fixture.connect()
        #expect(try refused.message().errorCode == "too-many-clients")
        #expect(try refused.line() == nil)
        fixture.withServer { $0.clientLimit = 4 }
        #expect(try fixture.connect().ask("version")["ok"] == true)
        for client in clients { #expect(try client.ask("version")["ok"] == true) }
    }

    @Test("No user keeps others out: the one with the most clients gives way, down to a fair share")
    func fairShares() throws {
        defer { fixture.shutDown() }
        func connect(as user: UInt32) throws -> JSONClient {
            fixture.perform { [fixture] in fixture.user = user }
            let client = try fixture.connect()
            fixture.perform {}
            return client
        }
        let crowd = try (0..<3).map { _ in try connect(as: 1000) }
        for client in crowd.reversed() {
            fixture.pass(seconds: 0.1)
            try client.ask("subscribe", "\"events\":[\"volume\"]")
        }
        let other = try connect(as: 1001)
        #expect(try other.ask("subscribe", "\"events\":[\"volume\"]")["ok"] == true)
        #expect(try crowd[2].message().errorCode == "too-many-clients", "the one with the oldest request")
        #expect(try crowd[2].line() == nil)
        // The users have 2 clients and 1. A second client of the other user would only reverse this.
        #expect(try connect(as: 1001).message().errorCode == "too-many-clients")
        #expect(try connect(as: 1000).message().errorCode == "too-many-clients")
        let third = try connect(as: 1002)
        #expect(try third.ask("version")["ok"] == true)
        #expect(try crowd[1].message().errorCode == "too-many-clients")
        // One each: no user has too many.
        #expect(try connect(as: 1003).message().errorCode == "too-many-clients")
        // Root's connection does not depend on it, and no other user can end root's clients.
        let root = try connect(as: 0)
        #expect(try root.ask("subscribe", "\"events\":[\"volume\"]")["ok"] == true)
        #expect(try connect(as: 1003).message().errorCode == "too-many-clients")
        for client in [crowd[0], other, third, root] { #expect(try client.ask("version")["ok"] == true) }
    }

    @Test("Root has a place that nobody else gets, and 32 subscribers do not keep it out")
    func rootSlot() throws {
        defer { fixture.shutDown() }
        let clients = try (0..<3).map { _ in try fixture.connect() }
        for client in clients { try client.ask("subscribe", "\"events\":[\"volume\"]") }
        #expect(try fixture.connect().message().errorCode == "too-many-clients")
        let root = try fixture.connectAsRoot()
        #expect(try root.ask("version")["ok"] == true)
        #expect(try fixture.connect().message().errorCode == "too-many-clients", "root's place is no place for others")
        // Root's reserved connection is taken as well, by a subscriber.
        try root.ask("subscribe", "\"events\":[\"volume\"]")
        #expect(try fixture.connectAsRoot().message().errorCode == "too-many-clients")
        fixture.pass(seconds: 10)
        #expect(try fixture.connect().message().errorCode == "too-many-clients")
        #expect(try fixture.connectAsRoot().ask("version")["ok"] == true)
        #expect(try clients[0].message().errorCode == "idle", "the longest silent one makes room for root")
    }

    @Test("Root has its place also when all clients are root's, and all are in use")
    func rootAmongRoot() throws {
        defer { fixture.shutDown() }
        var clients: [JSONClient] = []
        for _ in 0..<4 {
            clients.append(try fixture.connectAsRoot())
            try clients.last?.ask("subscribe", "\"events\":[\"volume\"]")
            fixture.pass(seconds: 0.1)
        }
        let next = try fixture.connectAsRoot()
        #expect(try next.ask("version")["ok"] == true)
        #expect(try clients[0].message().errorCode == "too-many-clients", "the one with the oldest request")
        for client in clients.dropFirst() { #expect(try client.ask("version")["ok"] == true) }
        #expect(fixture.withServer { $0.clientCount } == 4)
    }

    @Test("The system reports the user of a connection")
    func peerUser() throws {
        defer { fixture.shutDown() }
        let path = fixture.folder["other"]
        let listener = try StreamSocket(listeningAt: path, mode: 0o600)
        let client = try StreamSocket(connectingTo: path)
        #expect(try listener.accept()?.peerUser == getuid())
        _ = client
    }

    @Test("Connecting to a daemon that accepts no connections has a time limit")
    func connectingTakesTooLong() throws {
        defer { fixture.shutDown() }
        let path = fixture.folder["deaf"]
        let listener = try StreamSocket(listeningAt: path, mode: 0o600)
        var waiting: [StreamSocket] = []
        let error = #expect(throws: SystemError.self) {
            while waiting.count < 5000 { waiting.append(try StreamSocket(connectingTo: path, seconds: 1)) }
        }
        #expect(error?.code == EAGAIN)
        let file = SocketFile(path: path, mode: 0o600, group: nil)
        #expect(throws: SocketFileError.inUse(path: path)) { _ = try file.open() }
        _ = listener
    }

    @Test("Long lines and replies have shorter turns: others wait for one of them at most")
    func shortTurns() throws {
        defer { fixture.shutDown() }
        let (busy, other) = (try fixture.connect(), try fixture.connect())
        try busy.ask("volume", "\"percent\":0")
        try other.ask("version")
        fixture.perform {}
        let filler = String(repeating: " ", count: 10_000)
        let sent = fixture.perform {
            let many = (1...6).map { "{\"request\":\"volume\",\"percent\":\($0)}\(filler)\n" }.joined()
            return busy.offer(Array(many.utf8)) == many.utf8.count
                && other.offer(Array("{\"request\":\"status\"}\n".utf8)) > 0
        }
        #expect(sent)
        #expect(try other.message()["volume"] == 1)
        for percent in 1...6 { #expect(try busy.message()["volume"] == .integer(Int64(percent))) }
    }

    @Test("A search ends when its client goes, and nothing is added; two run at once, the others wait")
    func searches() throws {
        defer { fixture.shutDown() }
        fixture.withServer { $0.clientLimit = 8 }
        let started = Recorder<String>()
        let searches = fixture.withServer { [loop = fixture.loop] server in
            server.clients.searches = MusicSearches(loop: loop) { search in
                started.record("begun")
                _ = search.cancellation.wait(milliseconds: -1)
                return .success(FoundMusic(files: ["/never"]))
            }
            return server.clients.searches
        }
        var clients: [JSONClient] = []
        for count in 1...5 {
            clients.append(try fixture.connect())
            try clients[count - 1].send("{\"request\":\"queue-add\",\"products\":[{\"path\":\"/\"}]}\n")
            try waitUntil("search \(count)") {
                fixture.perform { searches.runningCount + searches.waitingCount } >= count
            }
        }
        #expect(fixture.perform { searches.runningCount } == 2 && fixture.perform { searches.waitingCount } == 3)
        clients.removeAll()
        try waitUntil("the end of the clients") { fixture.withServer { $0.clientCount } == 0 }
        #expect(fixture.perform { searches.runningCount + searches.waitingCount } == 0)
        #expect(try fixture.connect().ask("status")["count"] == 0)
    }

    @Test("A search waits while the system has no thread left")
    func searchWithoutThread() throws {
        defer { fixture.shutDown() }
        let attempts = Locked(0)
        fixture.withServer { server in
            let start = server.clients.searches.startThread
            server.clients.searches.startThread = { (body) throws(SystemError) in
                let attempt = attempts.withLock { count in
                    count += 1
                    return count
                }
                if attempt <= 2 { throw SystemError(code: EAGAIN, operation: "pthread_create") }
                try start(body)
            }
        }
        let client = try fixture.connect()
        try client.send(#"{"id":1,"request":"queue-add","products":[{"path":"tonearm:track/1"}]}"# + "\n")
        for attempt in 1...2 {
            try waitUntil("attempt \(attempt)") { attempts.value == attempt }
            fixture.pass(seconds: 0.9)
            #expect(attempts.value == attempt, "it is not tried again at once")
            fixture.pass(seconds: 0.1)
        }
        #expect(try client.message()["added"] == 1)
    }

    @Test("The client that has been silent for longest makes room, unless it waits for something")
    func roomForOthers() throws {
        defer { fixture.shutDown() }
        let (subscriber, doorbell, silent) = (try fixture.connect(), try fixture.connect(), try fixture.connect())
        try subscriber.ask("subscribe", "\"events\":[\"volume\"]")
        try doorbell.ask("focus", "\"level\":\"limited\",\"hold\":true")
        try silent.ask("version")
        fixture.pass(seconds: 9.9)
        #expect(try fixture.connect().message().errorCode == "too-many-clients")
        fixture.pass(seconds: 0.1)
        let another = try fixture.connect()
        #expect(try another.ask("version")["ok"] == true)
        #expect(try silent.message().errorCode == "idle")
        #expect(try silent.line() == nil)
        // The remaining clients wait for events, or have just sent a request.
        fixture.pass(seconds: 9.9)
        try another.ask("version")
        fixture.pass(seconds: 9.9)
        #expect(try fixture.connect().message().errorCode == "too-many-clients")
        #expect(fixture.withDaemon { $0.status.focus } == .limited)
        for client in [subscriber, doorbell, another] { #expect(try client.ask("version")["ok"] == true) }
    }

    @Test("Of several silent clients the one that spoke first goes first")
    func orderOfSilence() throws {
        defer { fixture.shutDown() }
        let clients = try (0..<3).map { _ in try fixture.connect() }
        for index in [1, 0, 2] {
            fixture.pass(seconds: 1)
            try clients[index].ask("version")
        }
        fixture.pass(seconds: 20)
        var others: [JSONClient] = []
        for index in [1, 0, 2] {
            others.append(try fixture.connect())
            #expect(try others.last?.ask("version")["ok"] == true)
            #expect(try clients[index].message().errorCode == "idle")
        }
    }

    @Test("A client that does not read is not read from, does not disturb others, and gets all replies")
    func backPressure() throws {
        defer { fixture.shutDown() }
        let (greedy, other) = (try fixture.connect(), try fixture.connect())
        let id = String(repeating: "x", count: 1000)
        let request = Array("{\"id\":\"\(id)\",\"request\":\"version\"}\n".utf8)
        let block = Array(repeatElement(request, count: 10).joined())
        var (sent, before) = (0, -1)
        while sent != before {
            before = sent
            while case let count = greedy.offer(Array(block[(sent % request.count)...])), count > 0 { sent += count }
            // The server's loop has run once more.
            try other.ask("version")
            try #require(sent < 16 << 20, "the server reads on and on")
        }
        let rest = (request.count - sent % request.count) % request.count
        let sender = try NamedThread.start(name: "rest") {
            try? greedy.send(Array(request.suffix(rest)))
            greedy.finishSending()
        }
        var replies = 0
        while let line = try greedy.line() {
            #expect(line.hasPrefix(#"{"id":"\#(id)","ok":true"#))
            replies += 1
        }
        sender.joinOrEndRun()
        #expect(replies == (sent + rest) / request.count)
    }

    @Test("Clients that go at any moment leave nothing behind")
    func vanishing() throws {
        defer { fixture.shutDown() }
        // As many clients as the limit: none is refused.
        fixture.withServer { $0.clientLimit = 50 }
        for round in 0..<50 {
            let client = try fixture.connect()
            switch round % 4 {
            case 0: break
            case 1: try client.send("{\"id\":1,\"req")
            case 2: try client.send(String(repeating: "{\"request\":\"config-get\"}\n", count: 50))
            default:
                try client.send(
                    "{\"request\":\"queue-add\",\"products\":[{\"path\":\"/nowhere\"}]}\n{\"request\":\"status\"}\n")
            }
        }
        // Searches for music may still be under way; each ends with its client gone.
        try waitUntil("the end of the clients") { fixture.withServer { $0.clientCount } == 0 }
        #expect(try fixture.connect().ask("version")["ok"] == true)
    }

    @Test("The end: the socket goes, and clients are parted from")
    func stop() throws {
        let client = try fixture.connect()
        try client.ask("version")
        fixture.withServer { $0.stop() }
        #expect(try client.line() == nil)
        #expect(FileKind(at: fixture.path) == nil)
        fixture.shutDown()
    }
}
