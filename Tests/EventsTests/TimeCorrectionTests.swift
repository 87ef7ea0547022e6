import Platform
import Testing
@testable import Events

/// docs/playback.md, 19.12.
@Suite("Times before the clock was proved")
struct TimeCorrectionTests {
    private static let boot = SystemStart(boot: "b", milliseconds: 1_000_000)
    private static let later: Int64 = 5_000_000

    /// A time that many seconds after the start of the system, by a clock that is wrong until it is proved.
    private static func time(_ seconds: Double, isProved: Bool, boot: String = "b") -> EventTime {
        let start: Int64 = 1_000_000 + (isProved ? later : 0)
        return EventTime(
            milliseconds: start + Int64(seconds * 1000), isProved: isProved,
            systemStart: SystemStart(boot: boot, milliseconds: start))
    }

    /// A session with all kinds of times. The clock is proved from the fact with the number `proof` on.
    private static func events(proof: Int, boot: String = "b") -> [PlayerEvent] {
        let kinds: [SessionFact.Kind] = [
            .fetched(SessionFetch(.playbackInfo, milliseconds: 10, .complete)),
            .opened(SessionContent(productId: "8", quality: "LOW", duration: 60)), .requested, .started(position: 0),
            .changed(position: 2, SessionRepresentation(codec: "flac")), .stopped(position: 3, .stall),
            .started(position: 3), .stopped(position: 4, .pause), .started(position: 4), .stopped(position: 5, .stall),
            .ended(position: 5, .complete),
        ]
        let ids = CountedIDs()
        var session = SessionEvents(
            SessionStart(
                id: "s", time: time(0, isProved: proof <= 0), kind: .playback, productId: "7",
                extras: ["timestamp": "5"]), .board, newID: { ids.next() })
        var events = session.begin()
        for (index, kind) in kinds.enumerated() {
            let isProved = index + 1 >= proof
            let time = time(Double(index + 1), isProved: isProved, boot: isProved ? boot : "b")
            events += session.add(SessionFact(time, kind))
        }
        return events
    }

    private static func sent(_ events: [PlayerEvent], _ proof: SystemStart?) -> [String] {
        events.enumerated().map { index, event in
            var waiting = OutboxRows.Waiting(
                number: Int64(index), id: event.id, name: event.name, category: event.category,
                body: EventDevice.board.envelope(of: event))
            waiting.systemStart = event.systemStart
            return waiting.corrected(by: proof).body
        }
    }

    @Test("a corrected time is proved, and is not corrected again")
    func corrected() {
        var time = Self.time(3, isProved: false)
        time.correct(Self.later)
        #expect(time == EventTime(milliseconds: 1_000_000 + Self.later + 3000, isProved: true, systemStart: nil))
    }

    @Test("whenever the clock is proved, the events that are sent later have the real times", arguments: 0...12)
    func corrected(proof: Int) {
        let proved = SystemStart(boot: "b", milliseconds: 1_000_000 + Self.later)
        #expect(Self.sent(Self.events(proof: proof), proved) == Self.sent(Self.events(proof: 0), nil))
    }

    @Test("without a proof, and with one of another start of the system, the times stay and are marked")
    func marked() {
        let events = Self.events(proof: 12)
        #expect(events.allSatisfy { $0.isTimeEstimated && $0.systemStart == Self.boot })
        let plain = events.map { EventDevice.board.envelope(of: $0) }
        #expect(Self.sent(events, nil) == plain)
        #expect(Self.sent(events, SystemStart(boot: "c", milliseconds: 9_000_000)) == plain)
        #expect(plain.allSatisfy { $0.contains(#""tsIsEstimated":true"#) })
    }

    @Test("a session whose times do not refer to one start is marked and never corrected")
    func mixed() {
        let events = Self.events(proof: 5, boot: "c")
        #expect(events.last?.isTimeEstimated == true && events.last?.systemStart == nil)
        // The clock was set by hand and not proved.
        let ids = CountedIDs()
        var session = SessionEvents(
            SessionStart(id: "s", time: Self.time(0, isProved: false), kind: .playback, productId: "7"), .board,
            newID: { ids.next() })
        var time = Self.time(1, isProved: false)
        time.systemStart?.milliseconds += 60_000
        let end = session.add(SessionFact(time, .ended(position: nil, .other)))
        #expect(end.last?.isTimeEstimated == true && end.last?.systemStart == nil)
    }

    @Test(
        "only the times of an event move",
        arguments: [
            (
                #"{"ts":10,"payload":{"timestamp":7,"x":[{"endTimestamp":8,"y":1.5}],"idealStartTimestamp":null}}"#,
                #"{"ts":15,"payload":{"timestamp":12,"x":[{"endTimestamp":13,"y":1.5}],"idealStartTimestamp":null}}"#
            ),
            (
                #"{"ts":10,"payload":{},"tsIsEstimated":true,"extras":{"timestamp":"7"}}"#,
                #"{"ts":15,"payload":{},"extras":{"timestamp":"7"}}"#
            ),
            ("{", nil), ("[]", nil), (#"{"payload":{}}"#, nil),
        ] as [(String, String?)])
    func texts(_ before: String, _ after: String?) {
        #expect(TimeCorrection.corrected(before, by: 5) == after)
    }
}
