/// Values by name in a table. Each module has its own table. A `set` is durable when it returns.
///
/// Thread: the thread of its database.
public final class KeyValueStore {
    /// The table of the player.
    public static let playerTable = "configuration"

    /// Returns the SQL that creates the table, for the list of migrations.
    public static func schema(_ table: String = playerTable) -> String {
        "CREATE TABLE \(table) (key TEXT PRIMARY KEY NOT NULL, value NOT NULL) WITHOUT ROWID"
    }

    /// The database, for transactions over several values.
    public let database: Database
    private let table: String

    /// - Parameter database: its migrations include `schema` of the same table.
    public init(_ database: Database, table: String = playerTable) {
        self.database = database
        self.table = table
    }

    /// Returns the stored value; nil when there is none.
    public func value(_ key: String) throws(DatabaseError) -> DatabaseValue? {
        var statement = try database.prepare("SELECT value FROM \(table) WHERE key = ?")
        try statement.bind([.text(key)])
        return try statement.step() ? statement.value(0) : nil
    }

    /// Sets the value durably; nil and `.null` remove it. Inside a transaction, the commit makes it durable.
    public func set(_ value: DatabaseValue?, for key: String) throws(DatabaseError) {
        switch value {
        case nil, .null?:
            try database.execute("DELETE FROM \(table) WHERE key = ?", .text(key))
        case let value?:
            try database.execute(
                "INSERT INTO \(table) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                .text(key), value)
        }
    }

    // MARK: Typed

    /// Returns nil when the value is missing or has another type.
    public func integer(_ key: String) throws(DatabaseError) -> Int64? {
        if case .integer(let value) = try value(key) { value } else { nil }
    }

    /// Returns nil when the value is missing or not a number.
    public func real(_ key: String) throws(DatabaseError) -> Double? {
        switch try value(key) {
        case .real(let value): value
        case .integer(let value): Double(value)
        default: nil
        }
    }

    /// Reads 0 or 1; nil for other values.
    public func boolean(_ key: String) throws(DatabaseError) -> Bool? {
        switch try value(key) {
        case .integer(0): false
        case .integer(1): true
        default: nil
        }
    }

    /// Returns nil when the value is missing or has another type.
    public func text(_ key: String) throws(DatabaseError) -> String? {
        if case .text(let value) = try value(key) { value } else { nil }
    }

    public func set(_ value: Bool, for key: String) throws(DatabaseError) {
        try set(.integer(value ? 1 : 0), for: key)
    }
}
