/// Values by name, in the table `configuration`: what the player's owner has set. Each `set` is durable when it
/// returns.
///
/// Thread: control.
public final class KeyValueStore {
    /// The table, for the list of migrations.
    public static let schema = """
        CREATE TABLE configuration (key TEXT PRIMARY KEY NOT NULL, value NOT NULL) WITHOUT ROWID
        """

    /// For transactions over several values.
    public let database: Database

    /// - Parameter database: one whose migrations include `schema`.
    public init(_ database: Database) {
        self.database = database
    }

    /// What was set; nil when nothing was.
    public func value(_ key: String) throws(DatabaseError) -> DatabaseValue? {
        var statement = try database.prepare("SELECT value FROM configuration WHERE key = ?")
        try statement.bind([.text(key)])
        return try statement.step() ? statement.value(0) : nil
    }

    /// Sets the value durably; nil and `.null` remove it. Inside a transaction it is durable with that.
    public func set(_ value: DatabaseValue?, for key: String) throws(DatabaseError) {
        switch value {
        case nil, .null?:
            try database.execute("DELETE FROM configuration WHERE key = ?", .text(key))
        case let value?:
            try database.execute(
                "INSERT INTO configuration VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                .text(key), value)
        }
    }

    // MARK: Typed

    /// nil when nothing, or nothing of this type, was set.
    public func integer(_ key: String) throws(DatabaseError) -> Int64? {
        if case .integer(let value) = try value(key) { value } else { nil }
    }

    /// nil when no number was set.
    public func real(_ key: String) throws(DatabaseError) -> Double? {
        switch try value(key) {
        case .real(let value): value
        case .integer(let value): Double(value)
        default: nil
        }
    }

    /// Stored as 0 or 1; nil when neither was set.
    public func boolean(_ key: String) throws(DatabaseError) -> Bool? {
        switch try value(key) {
        case .integer(0): false
        case .integer(1): true
        default: nil
        }
    }

    /// nil when nothing, or nothing of this type, was set.
    public func text(_ key: String) throws(DatabaseError) -> String? {
        if case .text(let value) = try value(key) { value } else { nil }
    }

    public func set(_ value: Bool, for key: String) throws(DatabaseError) {
        try set(.integer(value ? 1 : 0), for: key)
    }
}
