import Database
import Foundation
import Platform
import Testing
import TestSupport
@testable import Events

@Suite("Recorder of sessions")
struct SessionRecorderTests {
    private static let all = Set(EventCategory.allCases)

    private func open(_ path: String) throws -> StorageThread { try StorageThread(path, modules: [OutboxRows.schema]) }

    private func recorder(_ storage: StorageThread, consent: Set<EventCategory> = all) -> SessionRecorder {
        SessionRecorder(.outbox(storage), EventForm(.board, consent: consent))
    }

    private func play(_ session: ToldSession, on recorder: SessionRecorder, facts: Int? = nil) {
        recorder.begin(session.start)
        for fact in session.facts.prefix(facts ?? session.facts.count) { recorder.add(fact, to: session.start.id) }
    }

    private func waiting(_ path: String) throws -> [OutboxRows.Waiting] {
        let database = try Database(path: path)
        return try OutboxRows(database).oldest(1_000)
    }

    private static let played = ToldSession().playing().adding(63, .ended(position: 60, .complete))

    @Test("the events of a session wait in their order, with the bodies that are sent")
    func order() throws {
        let folder = try ScratchFolder()
        let recorder = recorder(try open(folder["db"]))
        play(Self.played, on: recorder)
        recorder.close()
        let events = try waiting(folder["db"])
        #expect(events.map(\.name) == Self.played.events().map(\.name))
        for event in events { #expect(try JSONValue.parse(event.body)["uuid"]?.string == event.id) }
        #expect(Set(events.map(\.id)).count == events.count)
    }

    @Test("all events of a session have the account of its beginning, also after a power cut", arguments: [nil, 3])
    func account(_ cut: Int?) throws {
        let folder = try ScratchFolder()
        let account = AccountMark(rawValue: 77)
        var session = Self.played
        session.start.account = account
        let first = recorder(try open(folder["db"]))
        play(session, on: first, facts: cut)
        first.close()
        let second = recorder(try open(folder["db"]))
        second.endLeftSessions()
        second.close()
        let rows = OutboxRows(try Database(path: folder["db"]))
        #expect(try rows.oldest(100).isEmpty)
        #expect(try rows.oldest(100, of: account).last?.name == "streaming_session_end")
    }

    @Test("a category that the user refuses is not stored", arguments: EventCategory.allCases)
    func consent(_ refused: EventCategory) throws {
        let folder = try ScratchFolder()
        let recorder = recorder(try open(folder["db"]), consent: Self.all.subtracting([refused]))
        play(Self.played, on: recorder)
        recorder.close()
        let events = try waiting(folder["db"])
        #expect(!events.isEmpty)
        #expect(!events.contains { $0.category == refused })
    }

    @Test("what the user refuses later is removed at the next start, and the rest stays")
    func withdrawn() throws {
        let folder = try ScratchFolder()
        let first = recorder(try open(folder["db"]))
        play(Self.played, on: first)
        first.close()
        let second = recorder(try open(folder["db"]), consent: [.playLog])
        second.endLeftSessions()
        second.close()
        #expect(try waiting(folder["db"]).map { $0.name } == ["playback_session", "progress"])
        let counts = try OutboxRows(Database(path: folder["db"])).counts()
        #expect(counts.waiting == 2 && counts.dropped == 0)
    }

    @Test("without consent nothing is stored, not even the facts")
    func refused() throws {
        let folder = try ScratchFolder()
        let recorder = recorder(try open(folder["db"]), consent: [])
        play(Self.played, on: recorder, facts: 4)
        recorder.close()
        #expect(try OutboxRows(Database(path: folder["db"])).openSessions().isEmpty)
        #expect(try waiting(folder["db"]).isEmpty)
    }

    @Test("a sender of the integrator gets the same events")
    func sender() {
        final class Sender: EventSender {
            let events = Locked<[PlayerEvent]>([])
            func send(_ event: PlayerEvent) { events.withLock { $0.append(event) } }
        }
        let sender = Sender()
        let recorder = SessionRecorder(.sender(sender), EventForm(.board, consent: [.playLog]))
        play(Self.played, on: recorder)
        #expect(sender.events.withLock { $0.map(\.name) } == ["playback_session", "progress"])
    }

    /// The file of the state is copied between two steps: that is all that a power cut leaves.
    @Test("a power cut after any fact loses no event of a stored fact, and the next start ends the session")
    func powerCuts() throws {
        let session = Self.played
        for count in 0..<session.facts.count {
            let folder = try ScratchFolder()
            let storage = try open(folder["db"])
            let recorder = recorder(storage)
            play(session, on: recorder, facts: count)
            storage.hurry()
            let done = Locked(false)
            storage.perform { done.withLock { $0 = true } }
            try waitUntil("the facts are stored") { done.withLock { $0 } }
            let copy = try ScratchFolder()
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.hasPrefix("db") {
                try FileManager.default.copyItem(atPath: folder[name], toPath: copy[name])
            }
            recorder.close()
            let restarted = try open(copy["db"])
            let second = self.recorder(restarted)
            second.endLeftSessions()
            second.close()
            let events = try waiting(copy["db"])
            let told = session.events(count)
            #expect(Array(events.map(\.name).prefix(told.count)) == told.map(\.name), "after \(count) facts")
            #expect(events.last?.name == "streaming_session_end", "after \(count) facts")
            #expect(events.filter { $0.name == "playback_session" }.count == (count > 3 ? 1 : 0))
            #expect(try OutboxRows(Database(path: copy["db"])).openSessions().isEmpty)
        }
    }

    @Test("the end of a session that was cut off is the last position and time that were stored")
    func cutOff() throws {
        let folder = try ScratchFolder()
        let first = recorder(try open(folder["db"]))
        play(ToldSession().playing().adding(33, .reached(position: 30)), on: first)
        first.close()
        let second = recorder(try open(folder["db"]))
        second.endLeftSessions()
        second.close()
        let log = try #require(try waiting(folder["db"]).first { $0.name == "playback_session" })
        let payload = try JSONValue.parse(log.body)["payload"]
        #expect(payload?["endAssetPosition"]?.number == 30)
        #expect(payload?["endTimestamp"]?.integer == EventTime.at(33).milliseconds)
    }
}
