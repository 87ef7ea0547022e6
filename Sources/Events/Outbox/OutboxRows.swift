import Database
import Platform

/// The tables of the outbox: sessions that have not ended with their facts, events that wait, and counts.
///
/// Thread: that of the database. The methods that change rows belong into a transaction of the caller.
package struct OutboxRows {
    /// `event_count` and `event_account` have what would otherwise be counted at each start: the bytes of the outbox
    /// and the waiting events of each account.
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
                """),
            // The events that wait have no mark.
            Migration(
                2,
                """
                CREATE TABLE event_former AS SELECT * FROM event_outbox;
                DROP TABLE event_outbox;
                CREATE TABLE event_outbox (number INTEGER PRIMARY KEY AUTOINCREMENT, state INTEGER NOT NULL,
                    account INTEGER NOT NULL, category INTEGER NOT NULL, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
                    body TEXT NOT NULL, boot TEXT, started INTEGER);
                CREATE INDEX event_outbox_order ON event_outbox (state, account, category, number);
                INSERT INTO event_outbox SELECT number, state, 0, category, id, name, body, NULL, NULL
                    FROM event_former;
                DROP TABLE event_former;
                CREATE TABLE event_account (mark INTEGER PRIMARY KEY, waiting INTEGER NOT NULL);
                INSERT INTO event_account SELECT 0, coalesce(max(value), 0) FROM event_count WHERE name = 0;
                DELETE FROM event_count WHERE name = 0;
                """),
        ])

    /// A state of an event in the outbox.
    private enum State: Int64 {
        case waiting = 0
        /// The service refused it for good.
        case refused = 1
    }

    /// 0 was the number of waiting events.
    private enum Count: Int64 {
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
        /// The start of the system to which all its times refer; nil when they are not corrected.
        package var systemStart: SystemStart?

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

    /// The index finds the oldest events of an account and a category.
    private static let oldestQuery = """
        SELECT number, id, name, category, body, boot, started FROM event_outbox
        WHERE state = 0 AND account = ? AND category = ? ORDER BY number LIMIT ?
        """
    private static let droppedQuery = """
        SELECT number, length(CAST(body AS BLOB)) FROM event_outbox WHERE state = ? AND account = ? AND category = ?
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

    /// Adds an event at the end. If the outbox becomes larger than `limit`, the events of other accounts are dropped
    /// first. Then come the oldest statistics, and last the oldest entries of the play log.
    /// - Parameters:
    ///   - body: the event as it is sent.
    ///   - account: the account under which it happened.
    ///   - limit: the largest sum of the bodies, in bytes.
    package func add(
        _ event: PlayerEvent, _ body: String, of account: AccountMark = .none, limit: Int64
    ) throws(DatabaseError) {
        guard body.utf8.count <= OutboxLimits.event else { return try count(.oversized, 1) }
        try database.execute(
            "INSERT OR IGNORE INTO event_outbox (state, account, category, id, name, body, boot, started) "
                + "VALUES (0, ?, ?, ?, ?, ?, ?, ?)",
            .integer(account.rawValue), .integer(Int64(event.category.rawValue)), .text(event.id), .text(event.name),
            .text(body), event.systemStart.map { .text($0.boot) } ?? .null,
            event.systemStart.map { .integer($0.milliseconds) } ?? .null)
        guard database.changedRowCount > 0 else { return }
        try countWaiting(of: account, 1)
        try count(.bytes, Int64(body.utf8.count))
        while try value(.bytes) > limit { guard try dropOldest(for: account) else { return } }
    }

    /// - Parameter own: the account of the new event.
    private func dropOldest(for own: AccountMark) throws(DatabaseError) -> Bool {
        let all = try accounts()
        let others = all.filter { $0 != own && $0 != .none }
        for category in [EventCategory.statistics, .playLog] {
            if try dropOldest(.refused, category, of: all) { return true }
        }
        for category in [EventCategory.statistics, .playLog] {
            if try dropOldest(.waiting, category, of: others) { return true }
            if try dropOldest(.waiting, category, of: all) { return true }
        }
        return false
    }

    private func dropOldest(
        _ state: State, _ category: EventCategory, of accounts: [AccountMark]
    ) throws(DatabaseError) -> Bool {
        var oldest: (number: Int64, length: Int64, account: AccountMark)?
        for account in accounts {
            var statement = try database.prepare(Self.droppedQuery)
            try statement.bind([
                .integer(state.rawValue), .integer(account.rawValue), .integer(Int64(category.rawValue)),
            ])
            guard try statement.step(), let number = statement.integer(0), let length = statement.integer(1),
                number < oldest?.number ?? .max
            else { continue }
            oldest = (number, length, account)
        }
        guard let oldest else { return false }
        try database.execute("DELETE FROM event_outbox WHERE number = ?", .integer(oldest.number))
        try count(.bytes, -oldest.length)
        if state == .waiting {
            try countWaiting(of: oldest.account, -1)
            try count(.dropped, 1)
        }
        return true
    }

    /// Returns the oldest waiting events that go with a login of `account`, at most `limit`: its own, and those without
    /// a mark.
    package func oldest(_ limit: Int, of account: AccountMark = .none) throws(DatabaseError) -> [Waiting] {
        var events: [Waiting] = []
        for account in account == .none ? [account] : [.none, account] {
            for category in EventCategory.allCases { try addOldest(limit, account, category, to: &events) }
        }
        events.sort { $0.number < $1.number }
        return Array(events.prefix(limit))
    }

    private func addOldest(
        _ limit: Int, _ account: AccountMark, _ category: EventCategory, to events: inout [Waiting]
    ) throws(DatabaseError) {
        var statement = try database.prepare(Self.oldestQuery)
        try statement.bind([
            .integer(account.rawValue), .integer(Int64(category.rawValue)), .integer(Int64(limit)),
        ])
        while try statement.step() {
            guard let number = statement.integer(0), let id = statement.text(1), let name = statement.text(2),
                let category = statement.integer(3).flatMap({ EventCategory(rawValue: Int(clamping: $0)) }),
                let body = statement.text(4)
            else { continue }
            var event = Waiting(number: number, id: id, name: name, category: category, body: body)
            if let boot = statement.text(5), let started = statement.integer(6) {
                event.systemStart = SystemStart(boot: boot, milliseconds: started)
            }
            events.append(event)
        }
    }

    /// Removes events that the service has confirmed.
    package func confirm(_ numbers: [Int64]) throws(DatabaseError) {
        for number in numbers {
            guard let event = try waiting(number) else { continue }
            try database.execute("DELETE FROM event_outbox WHERE number = ?", .integer(number))
            try countWaiting(of: event.account, -1)
            try count(.bytes, -event.length)
            try count(.sent, 1)
        }
    }

    /// Puts events aside that the service refuses for good. They stay in the outbox as long as there is room.
    package func putAside(_ numbers: [Int64]) throws(DatabaseError) {
        for number in numbers {
            guard let event = try waiting(number) else { continue }
            try database.execute("UPDATE event_outbox SET state = 1 WHERE number = ?", .integer(number))
            try countWaiting(of: event.account, -1)
            try count(.refused, 1)
        }
    }

    /// Removes all events of a category, because the user refuses them now.
    package func forget(_ category: EventCategory) throws(DatabaseError) {
        let value = DatabaseValue.integer(Int64(category.rawValue))
        var found: [(state: Int64, account: AccountMark, number: Int64, bytes: Int64)] = []
        var statement = try database.prepare(
            "SELECT state, account, count(*), sum(length(CAST(body AS BLOB))) FROM event_outbox WHERE category = ? "
                + "GROUP BY state, account")
        try statement.bind([value])
        while try statement.step() {
            guard let state = statement.integer(0), let account = statement.integer(1),
                let number = statement.integer(2), let bytes = statement.integer(3)
            else { continue }
            found.append((state, AccountMark(rawValue: account), number, bytes))
        }
        for (state, account, number, bytes) in found {
            try count(.bytes, -bytes)
            if state == State.waiting.rawValue { try countWaiting(of: account, -number) }
        }
        try database.execute("DELETE FROM event_outbox WHERE category = ?", value)
    }

    /// Returns the account and the length of an event that waits.
    private func waiting(_ number: Int64) throws(DatabaseError) -> (account: AccountMark, length: Int64)? {
        var statement = try database.prepare(
            "SELECT account, length(CAST(body AS BLOB)) FROM event_outbox WHERE number = ? AND state = 0")
        try statement.bind([.integer(number)])
        guard try statement.step(), let account = statement.integer(0), let length = statement.integer(1) else {
            return nil
        }
        return (AccountMark(rawValue: account), length)
    }

    // MARK: Counts

    /// Returns the numbers for users.
    package func counts() throws(DatabaseError) -> OutboxCounts {
        OutboxCounts(
            waiting: try sum("SELECT sum(waiting) FROM event_account"), bytes: try value(.bytes),
            sent: try value(.sent), refused: try value(.refused), dropped: try value(.dropped),
            oversized: try value(.oversized))
    }

    /// Counts events that were dropped before they could be stored.
    func countDropped(_ number: Int64) throws(DatabaseError) { try count(.dropped, number) }

    /// Returns the number of waiting events that go with a login of `account`.
    package func deliverable(for account: AccountMark) throws(DatabaseError) -> Int64 {
        try sum("SELECT sum(waiting) FROM event_account WHERE mark IN (0, ?)", .integer(account.rawValue))
    }

    private func value(_ count: Count) throws(DatabaseError) -> Int64 {
        try sum("SELECT value FROM event_count WHERE name = ?", .integer(count.rawValue))
    }

    private func sum(_ query: String, _ values: DatabaseValue...) throws(DatabaseError) -> Int64 {
        var statement = try database.prepare(query)
        try statement.bind(values)
        return try statement.step() ? statement.integer(0) ?? 0 : 0
    }

    private func accounts() throws(DatabaseError) -> [AccountMark] {
        var accounts: [AccountMark] = []
        var statement = try database.prepare("SELECT mark FROM event_account")
        while try statement.step() { accounts.append(AccountMark(rawValue: statement.integer(0) ?? 0)) }
        return accounts
    }

    private func countWaiting(of account: AccountMark, _ change: Int64) throws(DatabaseError) {
        try database.execute(
            "INSERT INTO event_account VALUES (?, ?) ON CONFLICT (mark) DO UPDATE SET waiting = waiting + "
                + "excluded.waiting", .integer(account.rawValue), .integer(change))
    }

    private func count(_ count: Count, _ change: Int64) throws(DatabaseError) {
        try database.execute(
            "INSERT INTO event_count VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
            .integer(count.rawValue), .integer(change))
    }
}
