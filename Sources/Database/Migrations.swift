/// One step of the schema, from number - 1 to number.
public struct Migration: Sendable {
    /// From 1. Once released, a migration and its number never change.
    public let number: Int
    private let script: String

    public init(_ number: Int, _ script: String) {
        self.number = number
        self.script = script
    }

    func run(in database: Database) throws(DatabaseError) {
        try database.transaction { () throws(DatabaseError) in
            try database.execute(script: script)
            // The number is part of the transaction: a step is there with its number, or not at all.
            try database.execute("PRAGMA user_version=\(number)")
        }
    }
}

extension Database {
    /// The number of the last migration that was run; 0 for an empty database.
    public func schemaVersion() throws(DatabaseError) -> Int {
        var statement = try prepare("PRAGMA user_version")
        return try statement.step() ? Int(statement.integer(0) ?? 0) : 0
    }

    /// Brings the schema up to the last of `migrations`, each step a transaction of its own. A step that fails is
    /// undone, those before it stay.
    /// - Parameter migrations: all there are, numbered 1, 2, 3…
    /// - Throws: `.newerSchema` when the database is beyond them; nothing was changed then.
    public func migrate(_ migrations: [Migration]) throws(DatabaseError) {
        for (index, migration) in migrations.enumerated() {
            precondition(migration.number == index + 1, "Database.migrate: numbers must be 1, 2, 3…")
        }
        let version = try schemaVersion()
        guard version <= migrations.count else {
            throw DatabaseError(
                kind: .newerSchema(found: version, known: migrations.count), message: "newer schema", path: path)
        }
        for migration in migrations.dropFirst(version) { try migration.run(in: self) }
    }
}
