import Database
import Platform

/// The tables of the outbox: sessions that have not ended with their facts, events that wait, and counts.
///
/// Thread: that of the database. The methods that change rows belong into a transaction of the caller.
package struct OutboxRows {
    /// `event_count` has what would otherwise be counted at each start: the waiting events and their bytes are the sums
    /// of a row for each state and category.
    package static let schema = SchemaModule(
        "events",
        [
            Migration(
                1,
                """
                CREATE TABLE event_session (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, start TEXT NOT NULL);
                CREATE TABLE event_fact (session INTEGER NOT NULL, sequence INTEGER NOT NULL, fact TEXT NOT NULL,
                    PRIMARY KEY (session, sequence)) WITHOUT ROWID;
                CREATE TABLE event_outbox (number INTEGER PRIMARY KEY AUTOINCREMENT, state INTEGER NOT NULL,
                    category INTEGER NOT NULL, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, body TEXT NOT NULL);
                CREATE INDEX event_outbox_order ON event_outbox (state, category, number);
                CREATE TABLE event_count (name INTEGER PRIMARY KEY, value INTEGER NOT NULL);
                """)
        ])

    /// A state of an event in the outbox.
    private enum State: Int64 {
        case waiting = 0
        /// The service refused it for good.
        case refused = 1
    }

    private enum Count: Int64 {
        case waiting = 0
        case bytes = 1
        case sent = 2
        case refused = 3
        case dropped = 4
        case oversized = 5
    }

    /// An event that waits.
    package struct Waiting: Equatable, Sendable {
        package var number: Int64
        package var id: String
        package var name: String
        package var category: EventCategory
        package var body: String

        package init(number: Int64, id: String, name: String, category: EventCategory, body: String) {
            self.number = number
            self.id = id
            self.name = name
            self.category = category
            self.body = body
        }
    }

    /// The reserved position of the fact `.reached` in a session, which is replaced and not appended.
    private static let reachedSequence: Int64 = -1

    /// The index finds the oldest events of each category.
    private static let oldestQuery = """
        SELECT number, id, name, category, body FROM (
            SELECT * FROM (SELECT * FROM event_outbox WHERE state = 0 AND category = 0 ORDER BY number LIMIT ?)
            UNION ALL
            SELECT * FROM (SELECT * FROM event_outbox WHERE state = 0 AND category = 1 ORDER BY number LIMIT ?)
        ) ORDER BY number LIMIT ?
        """
    private static let droppedQuery = """
        SELECT number, length(CAST(body AS BLOB)) FROM event_outbox WHERE state = ? AND category = ?
        ORDER BY number LIMIT 1
        """
    /// The queries that must not read all events; for the test of their plans.
    static let lookups = [oldestQuery, droppedQuery]

    private let database: Database

    package init(_ database: Database) { self.database = database }

    // MARK: Sessions

    /// Adds a session.
    package func begin(_ start: SessionStart) throws(DatabaseError) {
        try database.execute(
            "INSERT OR IGNORE INTO event_session (id, start) VALUES (?, ?)", .text(start.id),
            .text(FactCoding.text(of: start)))
    }

    /// Appends a fact to a session that has not ended. A fact of an unknown session is ignored.
    package func append(_ fact: SessionFact, to session: String) throws(DatabaseError) {
        if case .ended = fact.kind { return try remove(session) }
        let text = FactCoding.text(of: fact)
        if case .reached = fact.kind {
            return try database.execute(
                "INSERT OR REPLACE INTO event_fact SELECT number, ?, ? FROM event_session WHERE id = ?",
                .integer(Self.reachedSequence), .text(text), .text(session))
        }
        try database.execute(
            "INSERT INTO event_fact SELECT number, (SELECT coalesce(max(sequence), 0) + 1 FROM event_fact "
                + "WHERE session = event_session.number), ? FROM event_session WHERE id = ?",
            .text(text), .text(session))
    }

    private func remove(_ session: String) throws(DatabaseError) {
        try database.execute(
            "DELETE FROM event_fact WHERE session = (SELECT number FROM event_session WHERE id = ?)", .text(session))
        try database.execute("DELETE FROM event_session WHERE id = ?", .text(session))
    }

    /// Returns the sessions that have not ended, in their order, each with its facts. A session that this version does
    /// not understand is left out.
    package func openSessions() throws(DatabaseError) -> [(start: SessionStart, facts: [SessionFact])] {
        var sessions: [(start: SessionStart, facts: [SessionFact])] = []
        var statement = try database.prepare("SELECT number, start FROM event_session ORDER BY number")
        while try statement.step() {
            guard let number = statement.integer(0), let start = statement.text(1).flatMap({ FactCoding.start($0) })
            else { continue }
            sessions.append((start, try facts(of: number)))
        }
        return sessions
    }

    /// The position that was reached last comes at the end.
    private func facts(of session: Int64) throws(DatabaseError) -> [SessionFact] {
        var facts: [SessionFact] = []
        var statement = try database.prepare(
            "SELECT fact FROM event_fact WHERE session = ? ORDER BY sequence < 0, sequence")
        try statement.bind([.integer(session)])
        while try statement.step() {
            if let fact = statement.text(0).flatMap({ FactCoding.fact($0) }) { facts.append(fact) }
        }
        return facts
    }

    // MARK: Waiting events

    /// Adds an event at the end. If the outbox becomes larger than `limit`, the oldest statistics are dropped, and last
    /// the oldest entries of the play log.
    /// - Parameters:
    ///   - body: the event as it is sent.
    ///   - limit: the largest sum of the bodies, in bytes.
    package func add(_ event: PlayerEvent, _ body: String, limit: Int64) throws(DatabaseError) {
        guard body.utf8.count <= OutboxLimits.event else { return try count(.oversized, 1) }
        try database.execute(
            "INSERT OR IGNORE INTO event_outbox (state, category, id, name, body) VALUES (0, ?, ?, ?, ?)",
            .integer(Int64(event.category.rawValue)), .text(event.id), .text(event.name), .text(body))
        guard database.changedRowCount > 0 else { return }
        try count(.waiting, 1)
        try count(.bytes, Int64(body.utf8.count))
        while try value(.bytes) > limit { guard try dropOldest() else { return } }
    }

    private func dropOldest() throws(DatabaseError) -> Bool {
        let order: [(State, EventCategory)] = [
            (.refused, .statistics), (.refused, .playLog), (.waiting, .statistics), (.waiting, .playLog),
        ]
        for (state, category) in order {
            var statement = try database.prepare(Self.droppedQuery)
            try statement.bind([.integer(state.rawValue), .integer(Int64(category.rawValue))])
            guard try statement.step(), let number = statement.integer(0), let length = statement.integer(1) else {
                continue
            }
            try database.execute("DELETE FROM event_outbox WHERE number = ?", .integer(number))
            try count(.bytes, -length)
            if state == .waiting {
                try count(.waiting, -1)
                try count(.dropped, 1)
            }
            return true
        }
        return false
    }

    /// Returns the oldest waiting events, at most `limit`.
    package func oldest(_ limit: Int) throws(DatabaseError) -> [Waiting] {
        var events: [Waiting] = []
        var statement = try database.prepare(Self.oldestQuery)
        try statement.bind([.integer(Int64(limit)), .integer(Int64(limit)), .integer(Int64(limit))])
        while try statement.step() {
            guard let number = statement.integer(0), let id = statement.text(1), let name = statement.text(2),
                let category = statement.integer(3).flatMap({ EventCategory(rawValue: Int(clamping: $0)) }),
                let body = statement.text(4)
            else { continue }
            events.append(Waiting(number: number, id: id, name: name, category: category, body: body))
        }
        return events
    }

    /// Removes events that the service has confirmed.
    package func confirm(_ numbers: [Int64]) throws(DatabaseError) {
        for number in numbers {
            let length = try self.length(of: number)
            try database.execute("DELETE FROM event_outbox WHERE number = ? AND state = 0", .integer(number))
            guard database.changedRowCount > 0 else { continue }
            try count(.waiting, -1)
            try count(.bytes, -length)
            try count(.sent, 1)
        }
    }

    /// Puts events aside that the service refuses for good. They stay in the outbox as long as there is room.
    package func putAside(_ numbers: [Int64]) throws(DatabaseError) {
        for number in numbers {
            try database.execute("UPDATE event_outbox SET state = 1 WHERE number = ? AND state = 0", .integer(number))
            guard database.changedRowCount > 0 else { continue }
            try count(.waiting, -1)
            try count(.refused, 1)
        }
    }

    /// Removes all events of a category, because the user refuses them now.
    package func forget(_ category: EventCategory) throws(DatabaseError) {
        let value = DatabaseValue.integer(Int64(category.rawValue))
        for state in [State.waiting, .refused] {
            var statement = try database.prepare(
                "SELECT count(*), coalesce(sum(length(CAST(body AS BLOB))), 0) FROM event_outbox "
                    + "WHERE state = ? AND category = ?")
            try statement.bind([.integer(state.rawValue), value])
            guard try statement.step(), let number = statement.integer(0), let bytes = statement.integer(1), number > 0
            else { continue }
            try count(.bytes, -bytes)
            if state == .waiting { try count(.waiting, -number) }
        }
        try database.execute("DELETE FROM event_outbox WHERE category = ?", value)
    }

    private func length(of number: Int64) throws(DatabaseError) -> Int64 {
        var statement = try database.prepare("SELECT length(CAST(body AS BLOB)) FROM event_outbox WHERE number = ?")
        try statement.bind([.integer(number)])
        return try statement.step() ? statement.integer(0) ?? 0 : 0
    }

    // MARK: Counts

    /// Returns the numbers for users.
    package func counts() throws(DatabaseError) -> OutboxCounts {
        OutboxCounts(
            waiting: try value(.waiting), bytes: try value(.bytes), sent: try value(.sent),
            refused: try value(.refused), dropped: try value(.dropped), oversized: try value(.oversized))
    }

    private func value(_ count: Count) throws(DatabaseError) -> Int64 {
        var statement = try database.prepare("SELECT value FROM event_count WHERE name = ?")
        try statement.bind([.integer(count.rawValue)])
        return try statement.step() ? statement.integer(0) ?? 0 : 0
    }

    private func count(_ count: Count, _ change: Int64) throws(DatabaseError) {
        try database.execute(
            "INSERT INTO event_count VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
            .integer(count.rawValue), .integer(change))
    }
}

/// The limits of the outbox.
package enum OutboxLimits {
    /// The longest event, in bytes of its body.
    package static let event = 20_480
    /// The default of the sum of all bodies, in bytes.
    package static let outbox: Int64 = 20_000_000
}

/// The numbers of the outbox for users.
package struct OutboxCounts: Equatable, Sendable {
    package var waiting: Int64 = 0
    /// The bytes of the waiting events, and of those that were put aside.
    package var bytes: Int64 = 0
    /// Confirmed by the service.
    package var sent: Int64 = 0
    /// Refused by the service for good.
    package var refused: Int64 = 0
    /// Dropped because the outbox was full.
    package var dropped: Int64 = 0
    /// Dropped because they were too long.
    package var oversized: Int64 = 0

    package init(
        waiting: Int64 = 0, bytes: Int64 = 0, sent: Int64 = 0, refused: Int64 = 0, dropped: Int64 = 0,
        oversized: Int64 = 0
    ) {
        self.waiting = waiting
        self.bytes = bytes
        self.sent = sent
        self.refused = refused
        self.dropped = dropped
        self.oversized = oversized
    }
}
