import Events
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

/// The playback engine with an observer, and the events that follow (docs/playback.md, 19).
private final class ObservedEngine {
    private var machine = PlaybackStateMachine()
    private var observer = SessionObserver()
    private var sessions: [ItemID: SessionEvents] = [:]
    private var lastID = 0
    /// In seconds.
    var time = 0.0
    var position: Double?
    /// The stream that is heard, and the position of its first frame.
    private var stream: UInt64 = 0
    private var streamStart: Double?
    private(set) var events: [PlayerEvent] = []

    /// - Parameter end: the position that was heard last, when the position is another one after the event.
    func handle(_ event: PlaybackStateMachine.Event, then end: Double? = nil) {
        let before = moment
        let effects = machine.handle(event)
        for fact in observer.ends(event, effects, before) {
            add(fact)
            if case .ended = fact.kind { sessions[fact.item] = nil }
        }
        for case .open(let id, let product, let isNext) in effects { begin(id, product, isNext: isNext) }
        if let end { position = end }
        for case .begin in effects { beginStream() }
        if case .heard = event { beginStream() }
        for fact in observer.facts(event, effects, before, moment) { add(fact) }
    }

    private var moment: PlaybackMoment {
        PlaybackMoment(
            machine, position: position, stream: stream, streamStart: streamStart, isStreamed: true)
    }

    private func beginStream() {
        stream += 1
        streamStart = position
    }

    private func begin(_ id: ItemID, _ product: MediaProduct, isNext: Bool) {
        lastID += 1
        let start = SessionStart(
            id: "session-\(lastID)", time: now, kind: .playback,
            reason: isNext ? .implicit : .explicit,
            productId: product.productId)
        let device = EventDevice(
            hardwarePlatform: "", operatingSystem: "", operatingSystemVersion: "", client: "", version: "")
        let session = SessionEvents(start, device, newID: { "" })
        sessions[id] = session
        events += session.begin()
    }

    private var now: EventTime { EventTime(milliseconds: Int64(time * 1000)) }

    private func add(_ fact: SessionObserver.Fact) {
        events += sessions[fact.item]?.add(SessionFact(now, fact.kind)) ?? []
    }

    // MARK: Scenes

    /// Loads product a, and plays it from its beginning at 1 s on.
    func playFirst() {
        handle(.load(a, first))
        handle(.fetched(first))
        handle(.opened(first, contextOfA))
        handle(.play)
        time = 1
        position = 0
        handle(.running(generation: 1))
    }

    /// Product b follows and is decoded.
    func addSecond() {
        handle(.setNext(b, second))
        handle(.opened(second, contextOfB))
    }

    // MARK: Results

    var names: [String] { events.map { $0.name } }

    /// The payloads of the events with this name, in their order.
    func payloads(_ name: String) -> [JSONValue] { events.filter { $0.name == name }.map { $0.payload } }

    /// The actions of the n-th play log.
    func actions(_ index: Int = 0) -> [String] {
        let logs = payloads("playback_session")
        guard logs.indices.contains(index) else { return ["no play log"] }
        return logs[index]["actions"]?.elements?.map {
            "\($0["actionType"]?.string == "PLAYBACK_START" ? "START" : "STOP")@\($0["assetPosition"]?.number ?? -1)"
        } ?? []
    }

    func ends() -> [String?] { payloads("playback_statistics").map { $0["endReason"]?.string } }
}

@Suite("Sessions of the playback engine")
struct SessionObserverTests {
    private let engine = ObservedEngine()

    @Test("load and reset: start and end, no statistics and no play log")
    func loadAndReset() {
        engine.handle(.load(a, first))
        engine.handle(.opened(first, contextOfA))
        engine.handle(.reset)
        #expect(engine.names == ["streaming_session_start", "streaming_session_end"])
    }

    @Test("a failed load ends its session with nothing else")
    func failedLoad() {
        engine.handle(.load(a, first))
        engine.handle(.failed(first, errorOfA, hasFrames: false))
        #expect(engine.names == ["streaming_session_start", "streaming_session_end"])
    }

    @Test("playing to the end: one play log, and the statistics are COMPLETE")
    func complete() {
        engine.playFirst()
        engine.position = 10
        engine.handle(.ended(first))
        #expect(
            engine.names == [
                "streaming_session_start", "playback_session", "progress", "playback_statistics",
                "streaming_session_end",
            ])
        #expect(engine.ends() == ["COMPLETE"])
        #expect(engine.payloads("playback_session")[0]["endAssetPosition"]?.number == 10)
        #expect(engine.actions() == [])
    }

    @Test("two products without a gap: the second one starts when it is heard, IMPLICIT")
    func gapless() {
        engine.playFirst()
        engine.addSecond()
        (engine.time, engine.position) = (11, 10)
        engine.handle(.heard(second), then: 0)
        (engine.time, engine.position) = (21, 10)
        engine.handle(.ended(second))
        #expect(engine.ends() == ["COMPLETE", "COMPLETE"])
        let logs = engine.payloads("playback_session")
        #expect(logs.map { $0["startTimestamp"]?.integer } == [1000, 11_000])
        #expect(logs.map { $0["endAssetPosition"]?.number } == [10, 10])
        #expect(engine.payloads("playback_statistics")[1]["idealStartTimestamp"]?.integer == 11_000)
        #expect(
            engine.payloads("streaming_session_start").map { $0["startReason"]?.string } == ["EXPLICIT", "IMPLICIT"])
    }

    @Test("a product that ends before the device is known to run was heard")
    func endsBeforeItRuns() {
        engine.playFirst()
        engine.addSecond()
        engine.position = 10
        engine.handle(.starved(generation: 1))
        engine.time = 11
        engine.handle(.heard(second), then: 0)
        engine.position = 10
        engine.handle(.ended(second))
        #expect(engine.ends() == ["COMPLETE", "COMPLETE"])
        let logs = engine.payloads("playback_session")
        #expect(logs.map { $0["actualProductId"]?.string } == ["1", "2"])
        #expect(logs.map { $0["startAssetPosition"]?.number } == [0, 0])
        #expect(logs.map { $0["endAssetPosition"]?.number } == [10, 10])
    }

    @Test("such a product that began at a position was heard from there, and one without frames was not heard")
    func endsBeforeItRunsAfterASeek() {
        engine.position = 4
        engine.handle(.load(a, first))
        engine.handle(.fetched(first))
        engine.handle(.opened(first, contextOfA))
        engine.handle(.play)
        engine.addSecond()
        engine.position = 10
        engine.handle(.heard(second), then: 10)
        engine.handle(.ended(second))
        let logs = engine.payloads("playback_session")
        #expect(logs.map { $0["actualProductId"]?.string } == ["1"])
        #expect(logs.map { $0["startAssetPosition"]?.number } == [4])
        #expect(engine.ends() == ["COMPLETE", "COMPLETE"])
    }

    @Test("a failure while playing, with frames that are heard first")
    func failure() {
        engine.playFirst()
        engine.handle(.failed(first, errorOfA, hasFrames: true))
        (engine.time, engine.position) = (5, 4)
        engine.handle(.ended(first))
        #expect(engine.ends() == ["ERROR"])
        #expect(engine.payloads("playback_statistics")[0]["errorCode"] == "m3")
        #expect(engine.payloads("playback_session")[0]["endAssetPosition"]?.number == 4)
    }

    @Test("a seek after such a failure makes it undone")
    func undone() {
        engine.playFirst()
        engine.handle(.failed(first, errorOfA, hasFrames: true))
        engine.position = 2
        engine.handle(.seek(seconds: 0), then: 0)
        engine.handle(.repositioned(first))
        engine.handle(.running(generation: 2))
        engine.position = 10
        engine.handle(.ended(first))
        #expect(engine.ends() == ["COMPLETE"])
        #expect(engine.actions() == ["STOP@2.0", "START@0.0"])
    }

    @Test("the next product fails: its session ends at once, and the current one completes")
    func nextFails() {
        engine.playFirst()
        engine.handle(.setNext(b, second))
        engine.handle(.opened(second, contextOfB))
        engine.time = 3
        engine.handle(.failed(second, errorOfB, hasFrames: false))
        (engine.time, engine.position) = (11, 10)
        engine.handle(.ended(first))
        #expect(engine.ends() == ["ERROR", "COMPLETE"])
        #expect(engine.payloads("playback_statistics")[0]["endTimestamp"]?.integer == 3000)
        #expect(engine.payloads("playback_statistics")[0]["startReason"] == "IMPLICIT")
        #expect(engine.payloads("playback_session").count == 1)
        #expect(engine.payloads("streaming_session_end").count == 2)
    }

    @Test("pause, seek and play in any order are actions with the positions that were heard")
    func actions() {
        engine.playFirst()
        engine.position = 2
        engine.handle(.pause)
        engine.handle(.seek(seconds: 5), then: 5)
        engine.handle(.repositioned(first))
        engine.handle(.play)
        // The device has played on before control hears of its start.
        engine.position = 5.5
        engine.handle(.running(generation: 2))
        engine.position = 6
        engine.handle(.pause)
        engine.handle(.play)
        engine.position = 6.5
        engine.handle(.running(generation: 3))
        engine.position = 7
        engine.handle(.reset)
        #expect(engine.actions() == ["STOP@2.0", "START@5.0", "STOP@6.0", "START@6.0"])
        #expect(engine.payloads("playback_session")[0]["endAssetPosition"]?.number == 7)
        #expect(engine.ends() == ["OTHER"])
    }

    @Test("a stall is UNEXPECTED, and SEEK when it follows a seek")
    func stalls() {
        engine.playFirst()
        (engine.time, engine.position) = (4, 3)
        engine.handle(.starved(generation: 1))
        engine.time = 6
        engine.handle(.running(generation: 1))
        (engine.time, engine.position) = (7, 4)
        engine.handle(.seek(seconds: 8), then: 8)
        engine.time = 8
        engine.handle(.startIsLate(generation: 2))
        engine.time = 9
        engine.handle(.repositioned(first))
        engine.handle(.running(generation: 2))
        engine.position = 10
        engine.handle(.ended(first))
        let stalls = engine.payloads("playback_statistics")[0]["stalls"]?.elements
        #expect(stalls?.map { $0["reason"]?.string } == ["UNEXPECTED", "SEEK"])
        #expect(stalls?.map { $0["assetPosition"]?.number } == [3, 4])
        #expect(stalls?.map { $0["endTimestamp"]?.integer } == [6000, 9000])
        #expect(engine.actions() == ["STOP@3.0", "START@3.0", "STOP@4.0", "START@8.0"])
    }

    @Test("skipping ends one product as OTHER and asks for the next at that moment")
    func skip() {
        engine.playFirst()
        engine.addSecond()
        (engine.time, engine.position) = (5, 4)
        engine.handle(.skipToNext, then: 0)
        engine.time = 6
        engine.handle(.running(generation: 2))
        (engine.time, engine.position) = (16, 10)
        engine.handle(.ended(second))
        #expect(engine.ends() == ["OTHER", "COMPLETE"])
        let second = engine.payloads("playback_statistics")[1]
        #expect(second["idealStartTimestamp"]?.integer == 5000)
        #expect(second["actualStartTimestamp"]?.integer == 6000)
    }

    @Test("another load ends the session, and the next one that was never heard has no play log")
    func load() {
        engine.playFirst()
        engine.addSecond()
        engine.position = 3
        engine.handle(.load(c, third))
        engine.handle(.reset)
        #expect(engine.payloads("playback_session").count == 1)
        #expect(engine.payloads("streaming_session_end").count == 3)
    }

    @Test("the loss of privileges ends the session; play begins another one of the same product")
    func revoked() {
        engine.playFirst()
        engine.position = 3
        var error = PlayerError(.notAllowed, .service(status: 401, subStatus: 4006), message: "elsewhere")
        error.mediaProduct = a
        engine.handle(.failed(first, error, hasFrames: true))
        engine.handle(.ended(first))
        engine.handle(.play)
        engine.handle(.reset)
        #expect(engine.payloads("streaming_session_start").count == 2)
        #expect(engine.payloads("streaming_session_end").count == 2)
        #expect(engine.payloads("playback_statistics")[0]["errorCode"] == "a4006")
    }

    @Test(
        "every session that began ends once, and play logs have actions that alternate",
        arguments: 0..<100 as Range<UInt64>)
    func invariants(_ seed: UInt64) {
        var random = SeededRandom(seed)
        let engine = ObservedEngine()
        var last: UInt64 = 0
        engine.position = 0
        for _ in 0..<200 {
            engine.time += 0.5
            let position = Double(random.next() % 100) / 10
            let ids = [last, last > 0 ? last - 1 : 0].map { ItemID(number: $0) }
            let id = ids[Int(random.next() % 2)]
            let event: PlaybackStateMachine.Event
            switch random.next() % 13 {
            case 0:
                last += 1
                event = .load(a, ItemID(number: last))
            case 1, 2:
                last += 1
                event = .setNext(random.next() % 3 == 0 ? nil : random.next() % 2 == 0 ? b : c, ItemID(number: last))
            case 3: event = .play
            case 4: event = .pause
            case 5: event = .seek(seconds: position)
            case 6: event = .skipToNext
            case 7: event = .opened(id, contextOfA)
            case 8: event = .failed(id, errorOfA, hasFrames: random.next() % 2 == 0)
            case 9: event = .repositioned(id)
            case 10: event = .heard(id)
            case 11: event = .ended(id)
            default: event = .running(generation: random.next() % 60)
            }
            engine.handle(event, then: position)
        }
        engine.handle(.reset)
        let starts = engine.payloads("streaming_session_start").map { $0["streamingSessionId"]?.string }
        let ends = engine.payloads("streaming_session_end").map { $0["streamingSessionId"]?.string }
        #expect(Set(starts) == Set(ends) && starts.count == ends.count)
        for index in engine.payloads("playback_session").indices {
            for (number, action) in engine.actions(index).enumerated() {
                #expect(action.hasPrefix("STOP") == number.isMultiple(of: 2))
            }
        }
    }
}
