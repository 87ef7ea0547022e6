import Database
import Foundation
import Platform
import Testing
import TestSupport
@testable import Events

@Suite("Writer of the outbox")
struct OutboxWriterTests {
    private let folder: ScratchFolder
    private let storage: StorageThread

    init() throws {
        folder = try ScratchFolder()
        storage = try StorageThread(folder["db"], modules: [OutboxRows.schema])
    }

    /// Writes at once, and waits until the attempt has succeeded or failed.
    private func attempt(_ write: () -> Void) throws {
        write()
        storage.hurry()
        let end = DispatchSemaphore(value: 0)
        storage.query { _ in end.signal() }
        try end.wait(for: "the end of a write")
    }

    private func execute(_ statement: String) throws {
        try attempt {
            storage.write(answerOn: nil) { (database) throws(DatabaseError) in
                try database.execute(statement)
            } answer: { error in
                #expect(error == nil)
            }
        }
    }

    private func event(_ id: String) -> PlayerEvent {
        PlayerEvent(
            id: id, name: "progress", category: .playLog, group: "playback", version: 1, time: 0,
            isTimeEstimated: false, payload: .object([]), extras: [:])
    }

    @Test("a medium that is full for long: the newest events are stored later, and the others are counted as dropped")
    func full() throws {
        let writer = OutboxWriter(storage, stored: {})
        let form = EventForm(.board, consent: Set(EventCategory.allCases))
        func changes(_ number: Int) -> OutboxChanges {
            form.changes(nil, ["first", "second"].map { event("\($0)-\(number)") })
        }
        try execute("CREATE TRIGGER full BEFORE INSERT ON event_outbox BEGIN SELECT RAISE(ABORT, 'full'); END")
        let lost = 3
        for number in 0..<(OutboxWriter.pendingLimit + lost) { try attempt { writer.write(changes(number)) } }
        try execute("DROP TRIGGER full")
        try attempt { writer.write(changes(-1)) }
        writer.close()

        let rows = OutboxRows(try Database(path: folder["db"]))
        let stored = try rows.oldest(2_000).map(\.id)
        // The change that was written last has taken the place of one more.
        #expect(try rows.counts().dropped == Int64(2 * (lost + 1)))
        #expect(stored.count == 2 * OutboxWriter.pendingLimit)
        #expect(stored.first == "first-\(lost + 1)" && stored.last == "second--1")
    }

    @Test("a position waits for another write of the state, or for the next position")
    func position() throws {
        let writer = OutboxWriter(storage, stored: {})
        let form = EventForm(.board, consent: Set(EventCategory.allCases))
        func write(_ step: OutboxChanges.Step) throws {
            writer.write(form.changes(step, []))
            let end = DispatchSemaphore(value: 0)
            storage.query { _ in end.signal() }
            try end.wait(for: "the storage thread")
        }
        func reached(_ position: Double) -> OutboxChanges.Step {
            .fact(SessionFact(.at(position), .reached(position: position)), session: "session")
        }
        func stored() throws -> Double? {
            var position: Double?
            for (_, facts) in try OutboxRows(Database(path: folder["db"])).openSessions() {
                for case .reached(let reached) in facts.map(\.kind) { position = reached }
            }
            return position
        }
        try write(.begin(ToldSession().start))
        try write(reached(15))
        #expect(try stored() == nil)
        try execute("CREATE TABLE other (a)")
        #expect(try stored() == 15)
        try write(reached(30))
        #expect(try stored() == 15)
        try write(reached(45))
        #expect(try stored() == 45)
        try write(reached(60))
        writer.close()
        #expect(try stored() == 60)
    }
}
