import Database
import Platform
import Testing
import TestSupport
@testable import Events

@Suite("Outbox")
struct OutboxTests {
    let database: Database
    let rows: OutboxRows

    init() throws {
        database = try Database.inMemory()
        try database.migrate([OutboxRows.schema])
        rows = OutboxRows(database)
    }

    private func event(_ id: Int, _ category: EventCategory = .statistics) -> PlayerEvent {
        PlayerEvent(
            id: "id-\(id)", name: "n\(id)", category: category, group: "g", version: 1, time: 0,
            isTimeEstimated: false, payload: [:], extras: [:])
    }

    private func add(_ ids: ClosedRange<Int>, _ category: EventCategory = .statistics, limit: Int64 = 1_000_000) throws
    {
        for id in ids { try rows.add(event(id, category), String(repeating: "x", count: 100), limit: limit) }
    }

    private func waiting(_ limit: Int = 100) throws -> [String] { try rows.oldest(limit).map(\.id) }

    @Test("events wait in their order, whatever their category")
    func order() throws {
        try add(1...2)
        try add(3...3, .playLog)
        try add(4...4)
        #expect(try waiting() == ["id-1", "id-2", "id-3", "id-4"])
        #expect(try waiting(3) == ["id-1", "id-2", "id-3"])
        #expect(try rows.counts() == OutboxCounts(waiting: 4, bytes: 400))
    }

    @Test("confirmed events are removed once, refused ones are put aside, and both are counted")
    func settle() throws {
        try add(1...4)
        let numbers = try rows.oldest(4).map(\.number)
        try rows.confirm([numbers[0], numbers[1], numbers[0]])
        try rows.putAside([numbers[2], numbers[2]])
        try rows.confirm([numbers[2]])
        #expect(try waiting() == ["id-4"])
        #expect(try rows.counts() == OutboxCounts(waiting: 1, bytes: 200, sent: 2, refused: 1))
    }

    @Test("an event with an id that waits already is not added again")
    func twice() throws {
        try add(1...1)
        try add(1...1)
        #expect(try rows.counts() == OutboxCounts(waiting: 1, bytes: 100))
    }

    @Test("a full outbox drops what was refused, then the oldest statistics, and the play log last")
    func full() throws {
        try add(1...2, .playLog)
        try add(3...6)
        try rows.putAside([try #require(try rows.oldest(6).last).number])
        try add(7...7, limit: 600)
        #expect(try waiting() == ["id-1", "id-2", "id-3", "id-4", "id-5", "id-7"])
        #expect(try rows.counts() == OutboxCounts(waiting: 6, bytes: 600, refused: 1))
        try add(8...8, .playLog, limit: 400)
        #expect(try waiting() == ["id-1", "id-2", "id-7", "id-8"])
        try add(9...9, .playLog, limit: 300)
        #expect(try waiting() == ["id-2", "id-8", "id-9"])
        #expect(try rows.counts() == OutboxCounts(waiting: 3, bytes: 300, refused: 1, dropped: 5))
    }

    @Test("an event of more than 20 KiB is dropped and counted")
    func oversized() throws {
        try rows.add(event(1), String(repeating: "x", count: 20_480), limit: 1_000_000)
        try rows.add(event(2), String(repeating: "x", count: 20_481), limit: 1_000_000)
        #expect(try rows.counts() == OutboxCounts(waiting: 1, bytes: 20_480, oversized: 1))
    }

    @Test("the oldest events of 100,000 are found without reading the others")
    func many() throws {
        try database.transaction { () throws(DatabaseError) in
            for id in 1...2_000 { try rows.add(event(id, id % 2 == 0 ? .playLog : .statistics), "x", limit: 1_000_000) }
        }
        // The number of rows decides the plan: every lookup must name the index and nothing may be sorted but the
        // batch.
        for query in OutboxRows.lookups {
            var statement = try database.prepare("EXPLAIN QUERY PLAN " + query)
            var plan: [String] = []
            while try statement.step() { plan.append(statement.text(3) ?? "") }
            #expect(!plan.contains { $0.hasPrefix("SCAN event_outbox") }, "\(plan)")
        }
    }

    @Test("sessions keep their facts in order, and the position that was reached once")
    func facts() throws {
        let session = ToldSession().playing()
        try rows.begin(session.start)
        try rows.begin(session.start)
        for fact in session.facts { try rows.append(fact, to: "session") }
        for position in [5.0, 9.0] {
            try rows.append(SessionFact(.at(position), .reached(position: position)), to: "session")
        }
        try rows.append(SessionFact(.at(20), .stopped(position: 17, .pause)), to: "session")
        try rows.append(SessionFact(.at(20), .requested), to: "another")
        let open = try rows.openSessions()
        #expect(open.map(\.start) == [session.start])
        #expect(
            open.first?.facts == session.facts + [
                SessionFact(.at(20), .stopped(position: 17, .pause)), SessionFact(.at(9), .reached(position: 9)),
            ])
        try rows.append(SessionFact(.at(30), .ended(position: 17, .other)), to: "session")
        #expect(try rows.openSessions().isEmpty)
    }
}
