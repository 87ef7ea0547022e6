import Database
import Events
import Foundation
import Network
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Account
@testable import Fetching
@testable import Offline
@testable import Player

/// The clocks of a board that started 5 s ago without knowing the time.
private final class BoardClock: SystemTimeSource {
    let time = Locked(SystemTime(sinceBoot: 5_000_000_000, boot: "b"))

    func read() -> SystemTime { time.value }
}

/// docs/playback.md, 19.9 to 19.12 and 19.16.
@Suite("Delivery of events to the service")
struct EventDeliveryTests {
    private let folder: ScratchFolder
    private let storage: StorageThread
    private let loop: EventLoop
    private let thread: NamedThread
    private let counts = Locked(OutboxCounts())
    private let permission = MeteredPermission()

    init() throws {
        folder = try ScratchFolder()
        storage = try StorageThread(folder["state.db"], modules: [OutboxRows.schema])
        storage.join()
        let loop = try EventLoop()
        self.loop = loop
        thread = try NamedThread.start(name: "control") { loop.run() }
    }

    private static let device = EventDevice(
        hardwarePlatform: "x", operatingSystem: "Linux", operatingSystemVersion: "6", client: "speaker", version: "1")

    private func service(
        _ receiver: ScriptedReceiver, _ credentials: any CredentialsProvider = TwoTokens(), at url: String = "https://s"
    ) -> EventService {
        EventService(
            network: receiver, settings: ServiceSettings(baseURL: url), credentials: credentials,
            permission: permission)
    }

    private func delivery(
        _ receiver: ScriptedReceiver, _ credentials: any CredentialsProvider = TwoTokens(),
        time: @escaping @Sendable () -> EventTime = { EventTime(milliseconds: 5) },
        loggedIn: @escaping @Sendable (AccountMark) -> Void = { _ in }
    ) -> EventDelivery {
        EventDelivery(
            loop: loop, storage, service(receiver, credentials), Self.device, time: time
        ) { [counts] report in
            switch report {
            case .counts(let new): counts.set(new)
            case .account(let account): loggedIn(account)
            }
        }
    }

    /// Puts this many events into the outbox: `n1`, `n2`…
    private func store(_ count: Int, from first: Int = 1, of account: AccountMark = .none) throws {
        try store(
            (first..<(first + count)).map { number in
                PlayerEvent(
                    id: "id-\(number)", name: "n\(number)", category: .playLog, group: "g", version: 1, time: 0,
                    isTimeEstimated: false, payload: [:], extras: [:])
            }, of: account)
    }

    private func store(_ events: [PlayerEvent], of account: AccountMark = .none) throws {
        let done = Locked(false)
        storage.write(answerOn: nil) { (database) throws(DatabaseError) in
            for event in events {
                try OutboxRows(database).add(event, Self.device.envelope(of: event), of: account, limit: 1_000_000)
            }
        } answer: { _ in
            done.set(true)
        }
        try waitUntil("the events are stored") { done.withLock { $0 } }
    }

    private func names(_ numbers: ClosedRange<Int>) -> [String] { numbers.map { "n\($0)" } }

    private func end(_ delivery: EventDelivery) {
        loop.post { delivery.shutDown() }
        loop.stop()
        thread.joinOrEndRun()
        storage.leave()
    }

    /// Begins with a link, as after a start.
    private func start(_ delivery: EventDelivery) {
        loop.post { delivery.linkChanged(to: .ethernet) }
        delivery.eventsStored()
    }

    /// Loses the link and gets it back: a rest ends.
    private func replug(_ delivery: EventDelivery) {
        loop.post {
            delivery.linkChanged(to: .offline)
            delivery.linkChanged(to: .ethernet)
        }
    }

    private func waitForSent(_ count: Int64) throws {
        try waitUntil("\(count) events are confirmed") { counts.withLock { $0.sent } == count }
    }

    @Test("waiting events of the last start are sent at once, in batches of ten and in their order")
    func batches() throws {
        let receiver = ScriptedReceiver()
        let delivery = delivery(receiver)
        try store(23)
        start(delivery)
        try waitForSent(23)
        #expect(receiver.names == names(1...23))
        #expect(receiver.requests.map { $0.count } == [10, 10, 3])
        #expect(receiver.requests.allSatisfy { $0.token == "Bearer old" })
        end(delivery)
    }

    @Test("a metered link is used only with the permission of downloads")
    func metered() throws {
        let receiver = ScriptedReceiver()
        receiver.isMetered = true
        let delivery = delivery(receiver)
        try store(2)
        start(delivery)
        try waitUntil("the batch is refused") { receiver.requests.count == 1 }
        #expect(receiver.names.isEmpty)
        permission.isGiven = true
        replug(delivery)
        try waitForSent(2)
        #expect(receiver.names == names(1...2))
        end(delivery)
    }

    @Test("after a 401 the batch is sent once more with another token")
    func refresh() throws {
        let receiver = ScriptedReceiver([.status(401)])
        let delivery = delivery(receiver)
        try store(2)
        start(delivery)
        try waitForSent(2)
        #expect(receiver.requests.map { $0.token } == ["Bearer old", "Bearer new"])
        end(delivery)
    }

    @Test("a new login sends at once what the service has refused without it")
    func login() throws {
        let receiver = ScriptedReceiver([.status(401), .status(401)])
        let delivery = delivery(receiver)
        try store(2)
        start(delivery)
        try waitUntil("both tokens are refused") { receiver.requests.count == 2 }
        loop.post { delivery.loginChanged() }
        try waitForSent(2)
        #expect(receiver.names == names(1...2))
        #expect(receiver.requests.count == 3)
        end(delivery)
    }

    @Test("events go only with a login of their account, those of others wait, and nothing waits for them")
    func accounts() throws {
        let (receiver, login) = (ScriptedReceiver(), Login())
        let accounts = Recorder<AccountMark>()
        let delivery = delivery(receiver, login, loggedIn: { accounts.record($0) })
        let service = service(receiver, login)
        try store(12, of: service.account(of: "a"))
        try store(1, from: 13)
        try store(2, from: 14, of: service.account(of: "b"))
        start(delivery)
        // Without a login: only what has no account.
        try waitForSent(1)
        login.current.set("b")
        loop.post { delivery.loginChanged() }
        try waitForSent(3)
        #expect(receiver.names == ["n13", "n14", "n15"])
        login.current.set("a")
        loop.post { delivery.loginChanged() }
        try waitForSent(15)
        #expect(receiver.names == ["n13", "n14", "n15"] + names(1...12))
        #expect(receiver.requests.map { $0.token } == [nil, "Bearer b", "Bearer a", "Bearer a"])
        #expect(accounts.elements.last == service.account(of: "a"))
        end(delivery)
    }

    @Test("a login that changes between the batch and its token sends nothing of the former account")
    func changedLogin() throws {
        let (receiver, login) = (ScriptedReceiver([.status(401)]), Login())
        let service = service(receiver, login)
        let batch = EventBatch(
            events: [.init(number: 1, id: "i", name: "n", category: .playLog, body: "{}")],
            account: service.account(of: "a"), sentAt: 0)
        // The token of the first attempt is refused, and the next one belongs to another user.
        login.current.set("a")
        login.given.set { login.current.set("b") }
        let cancellation = try Cancellation()
        #expect(service.send(batch, Self.device, cancellation) == .failed(retryAfter: nil))
        #expect(receiver.requests.map { $0.token } == ["Bearer a"])
        #expect(service.send(batch, Self.device, cancellation) == .failed(retryAfter: nil))
        login.given.set {}
        login.current.set(nil)
        #expect(service.send(batch, Self.device, cancellation) == .failed(retryAfter: nil))
        #expect(receiver.requests.count == 1)
    }

    @Test("events of this start of the system are sent with their real times once the clock is proved")
    func times() throws {
        let source = BoardClock()
        let clock = TrustedClock(store: nil, source: source)
        let before = EventTime(now: clock)
        #expect(!before.isProved)
        var event = PlayerEvent(
            id: "a", name: "n", category: .playLog, group: "g", version: 1, time: before.milliseconds,
            isTimeEstimated: true, payload: ["timestamp": .integer(before.milliseconds - 50)], extras: [:])
        event.systemStart = before.systemStart
        source.time.set(SystemTime(sinceBoot: 65_000_000_000, boot: "b", synchronised: 1_000_060_000))
        let bodies = Recorder<String>()
        let receiver = ScriptedReceiver()
        receiver.received = { bodies.record($0) }
        let delivery = delivery(receiver, time: { EventTime(now: clock) })
        try store([event])
        start(delivery)
        try waitForSent(1)
        let body = try JSONValue.parse(try #require(bodies.elements.first))
        #expect(body["ts"] == 1_000_000_000)
        #expect(body["payload"] == ["timestamp": 999_999_950])
        #expect(body["tsIsEstimated"] == nil)
        end(delivery)
    }

    @Test("an account differs by user and service, and is none without a user")
    func marks() {
        let receiver = ScriptedReceiver()
        let (here, there) = (service(receiver, Login()), service(receiver, Login(), at: "https://other"))
        #expect(here.account(of: "a") == here.account(of: "a"))
        let marks = [here.account(of: "a"), here.account(of: "b"), there.account(of: "a"), .none]
        #expect(Set(marks.map { $0.rawValue }).count == 4)
        #expect(here.account(of: nil) == .none)
        #expect(service(receiver).account(of: "old") == .none)
    }

    @Test(
        "lost replies, outages and garbage lose nothing and store nothing twice",
        arguments: [
            [.takenAndLost], [.lost, .lost], [.status(500), .status(503), .status(429)], [.text("<html>")], [.text("")],
            [.text("<SendMessageBatchResponse/>")], [.status(404)], [.status(302)], [.status(400), .status(451)],
        ] as [[ScriptedReceiver.Answer]])
    private func faults(_ script: [ScriptedReceiver.Answer]) throws {
        let receiver = ScriptedReceiver(script)
        let delivery = delivery(receiver)
        try store(3)
        start(delivery)
        for count in 1...script.count {
            try waitUntil("attempt \(count)") { receiver.requests.count == count }
            replug(delivery)
        }
        try waitForSent(3)
        #expect(receiver.names == names(1...3))
        #expect(counts.withLock { $0.waiting } == 0)
        end(delivery)
    }

    @Test("an event that is refused for good is put aside, alone or in a refused batch, and the others arrive")
    func refused() throws {
        let receiver = ScriptedReceiver([.refusesFirst, .refusal(400), .taken, .refusal(413)])
        let delivery = delivery(receiver)
        try store(12)
        start(delivery)
        // The first ten: one refused. The last two: refused together, then one by one.
        try waitUntil("the last event is settled") { counts.withLock { $0.refused == 2 && $0.waiting == 0 } }
        #expect(receiver.names == names(2...11))
        #expect(receiver.requests.map { $0.count } == [10, 2, 1, 1])
        end(delivery)
    }

    @Test("only the service takes events, or refuses them for good", arguments: 100...599)
    func foreign(_ status: Int) {
        let event = OutboxRows.Waiting(number: 1, id: "a", name: "n", category: .playLog, body: "{}")
        let head = ResponseHead(status: status, effectiveURL: "https://service")
        let batch = EventBatch(events: [event], sentAt: 0)
        #expect(batch.answer(Response(head: head, body: Array("<html>".utf8))) == .failed(retryAfter: nil))
        let answer = batch.answer(Response(head: head, body: Array("{\"status\":\(status)}".utf8)))
        #expect(answer == ([400, 413, 415, 422].contains(status) ? .refusedBatch([1]) : .failed(retryAfter: nil)))
    }

    @Test("in offline mode and without a link nothing is sent; the end of both sends at once")
    func offline() throws {
        let receiver = ScriptedReceiver()
        let delivery = delivery(receiver)
        try store(60)
        loop.post { delivery.offlineModeChanged(to: true) }
        start(delivery)
        try waitUntil("the events are counted") { counts.withLock { $0.waiting } == 60 }
        #expect(receiver.requests.isEmpty)
        loop.post { delivery.offlineModeChanged(to: false) }
        try waitForSent(60)
        loop.post { delivery.linkChanged(to: .offline) }
        try store(60, from: 61)
        delivery.eventsStored()
        try waitUntil("the new events are counted") { counts.withLock { $0.waiting } == 60 }
        let sent = receiver.requests.count
        loop.post { delivery.linkChanged(to: .wifi) }
        try waitForSent(120)
        #expect(receiver.requests.count == sent + 6)
        #expect(receiver.names == names(1...120))
        end(delivery)
    }

    @Test("the request names the event, its category and the client, and has the token in its header alone")
    func form() throws {
        let event = OutboxRows.Waiting(
            number: 1, id: "a-b", name: "playback_session", category: .playLog, body: "{\"x\":\"ü&=\"}")
        let batch = EventBatch(events: [event], sentAt: 77)
        let request = batch.request(
            ServiceSettings(baseURL: "https://s/", clientName: "c"), Self.device, token: "secret")
        #expect(request.url == "https://s/v1/event-batch")
        #expect(!request.isRedirectAllowed)
        guard case .post(let body, let type) = request.method else { throw Unexpected("no POST") }
        #expect(type == "application/x-www-form-urlencoded")
        let fields = try #require(FormText.fields(of: body))
        #expect(fields.contains { $0.name == "SendMessageBatchRequestEntry.1.MessageBody" && $0.value == event.body })
        let headers = try #require(fields.first { $0.name.hasSuffix(".2.Value.StringValue") }?.value)
        let json = try JSONValue.parse(headers)
        #expect(json["consent-category"] == "NECESSARY")
        #expect(json["requested-sent-timestamp"] == 77)
        #expect(!String(decoding: body, as: UTF8.self).contains("secret"))
        let anonymous = batch.request(ServiceSettings(baseURL: "https://s", clientName: "c"), Self.device, token: nil)
        #expect(anonymous.headers == [HeaderField("x-tidal-token", "c")])
    }
}
