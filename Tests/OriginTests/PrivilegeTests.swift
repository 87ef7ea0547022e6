import Foundation
import HTTPServer
import Platform
import TestSupport
import Testing

@testable import OriginService

@Suite("Streaming privileges: the rules of the origin (docs/service.md)")
struct PrivilegeTests {
    private typealias Decision = PrivilegedSessions.Decision

    @Test("the latest presses win, in whatever order they arrive")
    func presses() {
        var one = PrivilegedSessions(limit: 1)
        #expect(one.press(1, startedAt: 100) == .privileged)
        #expect(one.press(2, startedAt: 99) == .refused(holder: 1))
        #expect(one.press(2, startedAt: 100) == .privileged)
        #expect(!one.isPrivileged(1) && one.isPrivileged(2))
        #expect(one.press(1, startedAt: 200) == .privileged)
        // A repeated, older time of the holder changes nothing.
        #expect(one.press(1, startedAt: 150) == .privileged)
        #expect(one.press(2, startedAt: 199) == .refused(holder: 1))
        // The session of a player that is gone does not count.
        one.end(1)
        #expect(one.press(2, startedAt: 5) == .privileged)
    }

    @Test("two may play: a third takes the place of the one that was started first")
    func two() {
        var two = PrivilegedSessions(limit: 2)
        for (session, time, decision) in [
            (1, 10, .privileged), (2, 20, .privileged), (3, 15, .privileged), (1, 12, .refused(holder: 2)),
            (2, 30, .privileged), (4, 14, .refused(holder: 2)), (4, 40, .privileged),
        ] as [(UInt64, Int64, Decision)] {
            #expect(two.press(session, startedAt: time) == decision, "\(session) at \(time)")
        }
        #expect(two.holders == [.init(session: 2, startedAt: 30), .init(session: 4, startedAt: 40)])
    }

    @Test("without a limit no press concerns others")
    func unlimited() {
        var all = PrivilegedSessions(limit: nil)
        for session in 1...10 as ClosedRange<UInt64> { #expect(all.press(session, startedAt: 0) == .unlimited) }
        #expect(all.holders.isEmpty)
    }

    @Test("any order of the presses of many players ends with the latest ones, as often as they are repeated")
    func orders() {
        var generator = SystemRandomNumberGenerator()
        for limit in 1...3 {
            for _ in 0..<200 {
                let presses = (0..<6).map { (UInt64($0), Int64($0 * 10)) }
                var sessions = PrivilegedSessions(limit: limit)
                for _ in 0..<2 {
                    for (session, time) in presses.shuffled(using: &generator) {
                        _ = sessions.press(session, startedAt: time)
                    }
                }
                #expect(sessions.holders.map(\.session) == presses.suffix(limit).map(\.0))
            }
        }
    }

    @Test(
        "reads the time of an action in both forms, and never one of the future",
        arguments: [
            (#"{"type":"USER_ACTION","payload":{"startedAt":1700000000123}}"#, 1_700_000_000_123),
            (#"{"type":"USER_ACTION","payload":{"startedAt":1700000000123.75}}"#, 1_700_000_000_123),
            (#"{"type":"USER_ACTION","payload":{"startedAt":"2023-11-14T22:13:20Z"}}"#, 1_700_000_000_000),
            (#"{"type":"USER_ACTION","payload":{"startedAt":"2023-11-14T23:13:20.123+01:00"}}"#, 1_700_000_000_123),
            (#"{"type":"USER_ACTION","payload":{"startedAt":"2023-11-14T20:43:20.1-01:30"}}"#, 1_700_000_000_100),
            (#"{"type":"USER_ACTION","payload":{"startedAt":"2023-11-14T22:13:-0.123Z"}}"#, 1_800_000_000_000),
            (#"{"type":"USER_ACTION","payload":{"startedAt":"2023-02-30T22:13:20Z"}}"#, 1_800_000_000_000),
            (#"{"type":"USER_ACTION","payload":{"startedAt":1e300}}"#, 1_800_000_000_000),
            (#"{"type":"USER_ACTION","payload":{"startedAt":1900000000000}}"#, 1_800_000_000_000),
            (#"{"type":"USER_ACTION","payload":{"startedAt":"now"}}"#, 1_800_000_000_000),
            (#"{"type":"USER_ACTION","payload":{"startedAt":5,"age":250}}"#, 1_799_999_999_750),
            (#"{"type":"USER_ACTION","payload":{"startedAt":5,"age":-1}}"#, 1_800_000_000_000),
            (#"{"type":"USER_ACTION","payload":{"startedAt":5,"age":1e300}}"#, 1_480_000_000_000),
            (#"{"type":"USER_ACTION","payload":{"startedAt":-9223372036854775808}}"#, 1_480_000_000_000),
            (#"{"type":"USER_ACTION"}"#, 1_800_000_000_000),
            (#"{"type":"OTHER","payload":{"startedAt":1}}"#, nil), ("[]", nil), ("", nil), ("USER_ACTION", nil),
        ] as [(String, Int64?)])
    func actions(text: String, time: Int64?) {
        let now: Int64 = 1_800_000_000_000
        #expect(PrivilegeMessage.action(text, now: now).map { now - $0.age } == time)
    }

    @Test("a ticket opens one connection within a minute")
    func tickets() throws {
        let tickets = SocketTickets()
        let ticket = try #require(tickets.make(for: "kitchen", at: 100))
        #expect(tickets.use("", at: 100) == nil && tickets.use(ticket + "0", at: 100) == nil)
        #expect(tickets.use(ticket, at: 160) == "kitchen")
        #expect(tickets.use(ticket, at: 160) == nil)
        let late = try #require(tickets.make(for: "kitchen", at: 100))
        #expect(tickets.use(late, at: 161) == nil)
        for _ in 0..<1000 { _ = tickets.make(for: "kitchen", at: 200) }
        #expect(tickets.make(for: "kitchen", at: 260) == nil)
        #expect(tickets.make(for: "kitchen", at: 261) != nil)
    }

    @Test("the address has host and scheme of the request, and the name is that of the login or of the program")
    func addresses() throws {
        let sockets = try PrivilegeSockets(sessions: nil) { 0 }
        defer { sockets.stop() }
        let tickets = SocketTickets()
        func name(
            _ agent: String?, login: String? = nil, isSecure: Bool = false, publicAddress: String? = nil,
            prefix: String
        ) throws -> String? {
            let routes = PrivilegeRoutes(sockets, tickets: tickets, publicAddress: publicAddress) { 0 }
            var request = HTTPRequest(method: "POST", path: PrivilegeRoutes.connectPath)
            request.headers = ["host": "nas:7470"]
            request.headers["user-agent"] = agent
            request.isSecure = isSecure
            let answer = routes.connect(request, login: login)
            let url = try #require(JSONValue.parse(try answer.body.bytes())["url"]?.string)
            let parts = url.components(separatedBy: "?ticket=")
            #expect(parts[0] == prefix + "/v1/rt/socket")
            return tickets.use(parts[1], at: 0)
        }
        #expect(try name("Tonearm/0.3 (Linux)", prefix: "ws://nas:7470") == "Tonearm")
        #expect(try name("Tonearm", login: "kitchen", isSecure: true, prefix: "wss://nas:7470") == "kitchen")
        #expect(
            try name(nil, publicAddress: "https://nas.example/music", prefix: "wss://nas.example/music")
                == "another player")
        let routes = PrivilegeRoutes(sockets) { 0 }
        #expect(routes.connect(HTTPRequest(path: PrivilegeRoutes.connectPath), login: nil).status == 405)
        #expect(
            routes.connect(HTTPRequest(method: "POST", path: PrivilegeRoutes.connectPath), login: nil).status == 400)
    }

    @Test("an upgrade needs all of its fields, and a ticket")
    func upgrades() throws {
        let sockets = try PrivilegeSockets(sessions: nil) { 0 }
        let tickets = SocketTickets()
        let routes = PrivilegeRoutes(sockets, tickets: tickets) { 0 }
        let ticket = try #require(tickets.make(for: "kitchen", at: 0))
        func status(_ change: (inout HTTPRequest) -> Void) -> Int {
            var request = HTTPRequest(path: PrivilegeRoutes.socketPath)
            request.query = ["ticket": ticket]
            request.headers = [
                "upgrade": "WebSocket", "connection": "keep-alive, Upgrade", "sec-websocket-version": "13",
                "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
            ]
            change(&request)
            return routes.socket(request).status
        }
        #expect(status { $0.method = "POST" } == 405)
        #expect(status { $0.headers["upgrade"] = "h2c" } == 426)
        #expect(status { $0.headers["connection"] = nil } == 426)
        #expect(status { $0.headers["sec-websocket-version"] = "8" } == 426)
        #expect(status { $0.headers["sec-websocket-key"] = "c2hvcnQ=" } == 400)
        #expect(status { $0.query = [:] } == 403)
        #expect(status { _ in } == 101)
        #expect(status { _ in } == 403)
        sockets.stop()
        #expect(status { _ in } == 503)
    }
}
