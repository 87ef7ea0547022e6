import Platform
import TestSupport
import Testing
@testable import Events

/// docs/playback.md, 19.
@Suite("Events of a session")
struct SessionEventsTests {
    private static let start = "streaming_session_start"
    private static let fetch = "playback_info_fetch"
    private static let log = "playback_session"
    private static let statistics = "playback_statistics"
    private static let end = "streaming_session_end"

    private func names(_ session: ToldSession) -> [String] { session.events().map(\.name) }

    @Test("a beginning alone sends the start")
    func beginning() {
        #expect(names(ToldSession()) == [Self.start])
        #expect(ToldSession(.implicit).payload(Self.start)?["startReason"] == "IMPLICIT")
        #expect(ToldSession(kind: .download).payload(Self.start)?["sessionType"] == "DOWNLOAD")
    }

    @Test("a product that was loaded and never asked to play has no statistics and no play log")
    func loadedOnly() {
        let session = ToldSession().fetched().opened().adding(9, .ended(position: nil, .other))
        #expect(names(session) == [Self.start, Self.fetch, Self.end])
    }

    @Test("a playbackinfo that fails is the reason of the fetch's error")
    func failedFetch() {
        let session = ToldSession().fetched(.failed(code: "h404", message: "no such product"))
            .adding(1, .ended(position: nil, .failed(code: "h404", message: "no such product")))
        #expect(names(session) == [Self.start, Self.fetch, Self.end])
        #expect(session.payload(Self.fetch)?["endReason"] == "ERROR")
        #expect(session.payload(Self.fetch)?["errorCode"] == "h404")
        #expect(session.payload(Self.fetch)?["startTimestamp"]?.integer == EventTime.at(0).milliseconds)
        #expect(session.payload(Self.fetch)?["endTimestamp"]?.integer == EventTime.at(1).milliseconds)
        #expect(session.payload(Self.fetch)?["errorMessage"] == "no such product")
    }

    @Test("playing to the end sends the play log, the progress, the statistics and the end")
    func complete() {
        let session = ToldSession().playing().adding(63, .ended(position: 60, .complete))
        #expect(names(session) == [Self.start, Self.fetch, Self.log, "progress", Self.statistics, Self.end])
        #expect(session.actions == [])
        let log = session.payload(Self.log)
        #expect(log?["startTimestamp"]?.integer == EventTime.at(3).milliseconds)
        #expect(log?["endTimestamp"]?.integer == EventTime.at(63).milliseconds)
        #expect(log?["endAssetPosition"]?.number == 60)
        #expect(log?["requestedProductId"] == "7")
        #expect(log?["actualProductId"] == "8")
        #expect(log?["sourceType"] == "ALBUM")
        let statistics = session.payload(Self.statistics)
        #expect(statistics?["endReason"] == "COMPLETE")
        #expect(statistics?["idealStartTimestamp"]?.integer == EventTime.at(2).milliseconds)
        #expect(statistics?["actualStartTimestamp"]?.integer == EventTime.at(3).milliseconds)
        #expect(session.payload("progress")?["playback"]?["playedMS"] == 60_000)
        #expect(session.payload("progress")?["playback"]?["source"]?["id"] == "3")
        #expect(session.payload("progress")?["streamingSessionId"] == nil)
    }

    @Test("a failure while playing is the end of the statistics, and the play log ends where it was heard last")
    func failedLater() {
        let session = ToldSession().playing().adding(13, .ended(position: 10, .failed(code: "n1", message: "gone")))
        #expect(session.payload(Self.statistics)?["endReason"] == "ERROR")
        #expect(session.payload(Self.statistics)?["errorCode"] == "n1")
        #expect(session.payload(Self.log)?["endAssetPosition"]?.number == 10)
    }

    @Test("a product that fails before it plays has statistics without start times and no play log")
    func failedBeforePlay() {
        let session = ToldSession(.implicit).fetched().opened()
            .adding(5, .ended(position: nil, .failed(code: "m3", message: "damaged")))
        #expect(names(session) == [Self.start, Self.fetch, Self.statistics, Self.end])
        let statistics = session.payload(Self.statistics)
        #expect(statistics?["idealStartTimestamp"]?.isNull == true)
        #expect(statistics?["actualStartTimestamp"]?.isNull == true)
        #expect(statistics?["startReason"] == "IMPLICIT")
        #expect(statistics?["endTimestamp"]?.integer == EventTime.at(5).milliseconds)
    }

    @Test("a reset while playing ends as OTHER")
    func reset() {
        let session = ToldSession().playing().adding(4, .ended(position: 1, .other))
        #expect(session.payload(Self.statistics)?["endReason"] == "OTHER")
        #expect(session.payload(Self.log)?["endAssetPosition"]?.number == 1)
    }

    @Test(
        "pauses, seeks and their ends are actions",
        arguments: [
            ("pause and resume", [(5.0, stop(2, .pause)), (8, begin(2))], ["STOP@2.0", "START@2.0"]),
            ("a pause until the end", [(5, stop(2, .pause))], ["STOP@2.0"]),
            ("seek forward", [(5, stop(2, .seek)), (5, begin(3))], ["STOP@2.0", "START@3.0"]),
            ("seek back", [(6, stop(3, .seek)), (6, begin(2))], ["STOP@3.0", "START@2.0"]),
            (
                "pause, seek, play", [(5, stop(2, .pause)), (6, stop(2, .seek)), (7, begin(30))],
                ["STOP@2.0", "START@30.0"]
            ),
            (
                "two pauses", [(5, stop(2, .pause)), (6, begin(2)), (7, stop(3, .pause)), (8, begin(3))],
                ["STOP@2.0", "START@2.0", "STOP@3.0", "START@3.0"]
            ),
            (
                "repeated seeks while data is missing",
                [(5, stop(2, .seek)), (6, stop(2, .stall)), (6, stop(2, .seek)), (7, stop(2, .seek)), (9, begin(20))],
                ["STOP@2.0", "START@20.0"]
            ),
            ("a stall", [(5, stop(2, .stall)), (7, begin(2))], ["STOP@2.0", "START@2.0"]),
            (
                "the same report twice",
                [(4, begin(1)), (5, stop(2, .pause)), (5, stop(2, .pause)), (6, begin(2)), (6, begin(2))],
                ["STOP@2.0", "START@2.0"]
            ),
        ] as [(String, [(Double, SessionFact.Kind)], [String])])
    func actions(_ name: String, _ facts: [(Double, SessionFact.Kind)], _ expected: [String]) {
        var session = ToldSession().playing()
        for (time, kind) in facts { session = session.adding(time, kind) }
        #expect(session.adding(60, .ended(position: 50, .other)).actions == expected, "\(name)")
    }

    private static func stop(_ position: Double, _ reason: StopReason) -> SessionFact.Kind {
        .stopped(position: position, reason)
    }

    private static func begin(_ position: Double) -> SessionFact.Kind { .started(position: position) }

    @Test("a seek beyond the end is a start there")
    func seekToEnd() {
        let session = ToldSession().playing().adding(5, .stopped(position: 2, .seek))
            .adding(5, .ended(position: 60, .complete))
        #expect(session.actions == ["STOP@2.0", "START@60.0"])
        #expect(session.payload(Self.log)?["endAssetPosition"]?.number == 60)
    }

    @Test("a seek before the first sound is the position of the start")
    func seekFirst() {
        let session = ToldSession().playing(at: 30).adding(9, .ended(position: 36, .other))
        #expect(session.actions == [])
        #expect(session.payload(Self.log)?["startAssetPosition"]?.number == 30)
    }

    @Test("stalls have their reason, position and times")
    func stalls() {
        let unexpected = ToldSession().playing().adding(5, .stopped(position: 2, .stall)).adding(
            7, .started(position: 2))
        #expect(unexpected.adding(9, .ended(position: 4, .other)).stalls == ["UNEXPECTED@2.0:5-7"])
        let seek = ToldSession().playing().adding(5, .stopped(position: 2, .seek)).adding(
            6, .stopped(position: 2, .stall)
        )
        .adding(8, .started(position: 40))
        #expect(seek.adding(9, .ended(position: 41, .other)).stalls == ["SEEK@2.0:6-8"])
        let paused = ToldSession().playing().adding(5, .stopped(position: 2, .stall)).adding(
            6, .stopped(position: 2, .pause)
        )
        .adding(9, .started(position: 2))
        #expect(paused.adding(10, .ended(position: 3, .other)).stalls == ["UNEXPECTED@2.0:5-6"])
    }

    @Test("a wait before the first sound is no stall")
    func waitAtStart() {
        let session = ToldSession().fetched().opened().adding(2, .requested).adding(3, .stopped(position: 0, .stall))
            .adding(4, .started(position: 0)).adding(9, .ended(position: 5, .other))
        #expect(session.stalls == [])
        #expect(session.actions == [])
    }

    @Test("an end from outside is a failure while stalled, and 5 s after a request without sound")
    func failures() {
        let stalled = ToldSession().playing().adding(5, .stopped(position: 2, .stall)).adding(
            8, .ended(position: 2, .other))
        #expect(stalled.payload(Self.statistics)?["endReason"] == "ERROR")
        #expect(stalled.payload(Self.statistics)?["errorMessage"] == "Ended while stalled")
        #expect(stalled.payload(Self.statistics)?["errorCode"]?.isNull == true)
        #expect(stalled.stalls == ["UNEXPECTED@2.0:5-8"])
        func silent(until seconds: Double) -> JSONValue? {
            ToldSession().fetched().opened().adding(2, .requested).adding(seconds, .ended(position: nil, .other))
                .payload(Self.statistics)?["endReason"]
        }
        #expect(silent(until: 7) == "OTHER")
        #expect(silent(until: 7.001) == "ERROR")
        #expect(
            ToldSession().playing().adding(5, .stopped(position: 2, .stall)).adding(6, .ended(position: 2, .complete))
                .payload(Self.statistics)?["endReason"] == "COMPLETE")
    }

    @Test("the last representation is the quality of the play log")
    func adaptation() {
        let session = ToldSession().playing()
            .adding(9, .changed(position: 6, SessionRepresentation(quality: "HIGH", codec: "aac", bandwidth: 320_000)))
            .adding(20, .ended(position: 17, .other))
        #expect(session.payload(Self.log)?["actualQuality"] == "HIGH")
        let adaptation = session.payload(Self.statistics)?["adaptations"]?[0]
        #expect(adaptation?["assetPosition"]?.number == 6)
        #expect(adaptation?["bandwidth"] == 320_000)
    }

    @Test("live content, and content of unknown length, has no progress")
    func live() {
        #expect(ToldSession().playing(duration: nil).adding(9, .ended(position: 6, .other)).payload("progress") == nil)
        let content = SessionContent(productId: "8", streamType: "LIVE", duration: 60)
        let session = ToldSession().fetched().adding(1, .opened(content)).adding(2, .requested)
            .adding(3, .started(position: 0)).adding(9, .ended(position: 6, .other))
        #expect(session.payload("progress") == nil)
        #expect(session.payload(Self.log) != nil)
    }

    @Test("a download has its statistics, and no play log")
    func download() {
        let session = ToldSession(kind: .download).fetched().opened().adding(9, .ended(position: nil, .complete))
        #expect(names(session) == [Self.start, Self.fetch, "download_statistics", Self.end])
        let statistics = session.payload("download_statistics")
        #expect(statistics?["startTimestamp"]?.integer == EventTime.at(0).milliseconds)
        #expect(statistics?["endReason"] == "COMPLETE")
    }

    @Test("extras belong to the play log alone, and the session's id to all but the progress")
    func envelope() {
        let session = ToldSession(extras: ["mood": "calm", "a": "b"]).playing().adding(9, .ended(position: 6, .other))
        for event in session.events() {
            #expect(event.extras.isEmpty == (event.category == .statistics))
            let id = event.payload["streamingSessionId"] ?? event.payload["playbackSessionId"]
            #expect(id == (event.name == "progress" ? nil : "session"))
            let text = EventDevice.board.envelope(of: event)
            #expect(!text.contains("ccess"), "an event has no access token")
        }
        let log = session.events().first { $0.name == Self.log }!
        #expect(EventDevice.board.envelope(of: log).hasSuffix(#""extras":{"a":"b","mood":"calm"}}"#))
    }

    @Test("a time that was not proved is marked")
    func estimatedTime() {
        var session = ToldSession()
        session.start.time.isProved = false
        let event = session.events()[0]
        #expect(event.isTimeEstimated)
        #expect(EventDevice.board.envelope(of: event).contains(#""tsIsEstimated":true"#))
        #expect(!EventDevice.board.envelope(of: ToldSession().events()[0]).contains("tsIsEstimated"))
        // The clock was set while it played: the times before that are earlier than the real ones.
        var late = ToldSession().playing().adding(9, .ended(position: 6, .other))
        late.start.time.isProved = false
        #expect(late.events().last?.isTimeEstimated == true)
    }

    @Test("facts append events: what was sent never changes, whatever comes later", arguments: 0..<200 as Range<UInt64>)
    func monotonic(_ seed: UInt64) {
        var random = SeededRandom(seed)
        let session = ToldSession.random(&random)
        let all = session.events()
        for count in session.facts.indices {
            let events = session.events(count)
            #expect(Array(all.prefix(events.count)) == events)
        }
        #expect(all.last?.name == Self.end)
        #expect(all.filter { $0.name == Self.end }.count == 1)
        let actions = session.actions ?? []
        for (index, action) in actions.enumerated() {
            #expect(action.hasPrefix("STOP") == index.isMultiple(of: 2), "actions alternate and begin with a stop")
        }
        #expect((session.payload(Self.log) == nil) == !session.facts.contains { $0.isStart })
        for event in all { #expect(EventDevice.board.envelope(of: event).utf8.count <= OutboxLimits.event) }
    }

    @Test("an event with as much as it can hold fits into its limit")
    func longest() {
        var session = ToldSession().playing()
        for index in 0..<400 {
            let position = 10_000.123 + Double(index)
            session = session.adding(position, .stopped(position: position, .stall))
                .adding(position + 0.5, .started(position: position))
                .adding(
                    position + 0.6,
                    .changed(position: position, SessionRepresentation(codec: "flac", bandwidth: 9_216_000)))
        }
        session = session.adding(90_000, .ended(position: 80_000, .complete))
        #expect(session.actions?.count == HeardStretches.actionLimit)
        #expect(session.stalls?.count == HeardStretches.stallLimit)
        for event in session.events() {
            #expect(EventDevice.board.envelope(of: event).utf8.count <= OutboxLimits.event)
        }
    }
}

extension SessionFact {
    fileprivate var isStart: Bool { if case .started = kind { true } else { false } }
}

extension ToldSession {
    /// A session of up to 60 facts in any order, with one end after the content was opened.
    static func random(_ random: inout SeededRandom) -> ToldSession {
        var session = ToldSession(Bool.random(using: &random) ? .explicit : .implicit).fetched().opened()
        for step in 0..<Int.random(in: 0..<60, using: &random) {
            let position = Double(Int.random(in: 0..<60_000, using: &random)) / 1000
            let kind: SessionFact.Kind =
                switch Int.random(in: 0..<8, using: &random) {
                case 0: .requested
                case 1, 2, 3: .started(position: position)
                case 4: .stopped(position: position, .pause)
                case 5: .stopped(position: position, .seek)
                case 6: .stopped(position: position, .stall)
                default: .reached(position: position)
                }
            session = session.adding(Double(2 + step), kind)
        }
        let end: SessionEnd = [.complete, .other, .failed(code: "n1", message: "gone")].randomElement(using: &random)!
        return session.adding(100, .ended(position: 30, end))
    }
}
