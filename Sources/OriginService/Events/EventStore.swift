import Database
import Platform

/// The events of players, in SQLite beside the index. An event is stored once, even if it is sent again.
///
/// Thread: any, and any process: `tonearm-origin events` reads the same file.
/// `@unchecked Sendable` is safe because `lock` guards the connection.
final class EventStore: @unchecked Sendable {
    private let lock = Lock()
    private let database: Database

    init(in folder: String) throws(DatabaseError) {
        database = try Database(path: "\(folder)/events.db")
        try database.migrate([Self.schema])
    }

    private static let schema = SchemaModule(
        "origin-events",
        [
            Migration(
                1,
                """
                CREATE TABLE event (
                    number INTEGER PRIMARY KEY AUTOINCREMENT,
                    id TEXT NOT NULL UNIQUE,
                    name TEXT NOT NULL,
                    -- The time of the event by the player's clock, in milliseconds since 1970.
                    time INTEGER NOT NULL,
                    -- The time at which it arrived, in seconds since 1970.
                    received INTEGER NOT NULL,
                    body TEXT NOT NULL
                );
                CREATE INDEX event_name ON event (name, number);
                """)
        ])

    /// An event as it has arrived.
    struct Event: Equatable {
        var id: String
        var name: String
        /// Milliseconds since 1970.
        var time: Int64
        var body: String
    }

    /// Stores the events of one batch in their order. Events that were stored before are unchanged.
    /// - Parameter now: seconds since 1970.
    func add(_ events: [Event], at now: Int64) throws(DatabaseError) {
        try lock.withLock { () throws(DatabaseError) in
            try database.transaction { () throws(DatabaseError) in
                for event in events {
                    try database.execute(
                        "INSERT OR IGNORE INTO event (id, name, time, received, body) VALUES (?, ?, ?, ?, ?)",
                        .text(event.id), .text(event.name), .integer(event.time), .integer(now), .text(event.body))
                }
            }
        }
    }

    /// Returns the bodies of all events with this name in the order of their arrival; nil for all events.
    func bodies(of name: String?) throws(DatabaseError) -> [String] {
        try lock.withLock { () throws(DatabaseError) in
            var statement = try database.prepare(
                "SELECT body FROM event WHERE name = ? OR ? IS NULL ORDER BY number")
            let value: DatabaseValue = name.map { .text($0) } ?? .null
            try statement.bind([value, value])
            var bodies: [String] = []
            while try statement.step() { bodies.append(statement.text(0) ?? "") }
            return bodies
        }
    }
}
