/// One step of a module's schema, from number - 1 to number. It changes a table or an index, so that a file shows which
/// steps it has had: a damaged number is found by that (`ShownSchema`).
public struct Migration: Sendable {
    /// The number, from 1. After a release a migration and its number never change.
    public let number: Int
    let script: String

    public init(_ number: Int, _ script: String) {
        self.number = number
        self.script = script
    }

    fileprivate func run(in database: Database) throws(DatabaseError) { try database.execute(script: script) }
}

/// The tables of one module of the program, with its own numbering: modules share only the file.
public struct SchemaModule: Sendable {
    /// The name in the file. It never changes after a release.
    public let name: String
    /// All migrations, numbered 1, 2, 3…
    public let migrations: [Migration]

    public init(_ name: String, _ migrations: [Migration]) {
        for (index, migration) in migrations.enumerated() {
            precondition(migration.number == index + 1, "SchemaModule: numbers must be 1, 2, 3…")
        }
        self.name = name
        self.migrations = migrations
    }
}

extension Database {
    /// The `user_version` of a file with the table `schema_module`. Files of version 0.1 do not have the table. Their
    /// `user_version` is the number of their only module.
    static let layout = 2
    /// The module of the files `tonearm.db` of version 0.1.
    private static let singleModule = "player"

    /// Returns the `user_version` of the file; 0 for an empty one.
    func layoutNumber() throws(DatabaseError) -> Int {
        var statement = try prepare("PRAGMA user_version")
        return try statement.step() ? Int(clamping: statement.integer(0) ?? 0) : 0
    }

    /// Returns the number of the module's last migration; 0 when the module is not in the file.
    public func schemaNumber(of module: String) throws(DatabaseError) -> Int {
        let layout = try layoutNumber()
        guard layout >= Self.layout else {
            return module.utf8.elementsEqual(Self.singleModule.utf8) ? max(layout, 0) : 0
        }
        var statement = try prepare("SELECT number FROM schema_module WHERE module = ?")
        try statement.bind([.text(module)])
        guard try statement.step() else { return 0 }
        guard let number = statement.integer(0), number >= 0 else {
            throw DatabaseError(
                kind: .corrupt, message: "the schema of \(module) has a number that cannot be", path: path)
        }
        return Int(clamping: number)
    }

    /// Checks that this version of the program supports the file. Changes nothing.
    /// - Throws: `.newerSchema`, also for a damaged number; `.corrupt` for numbers that this program does not write.
    func checkSchema(_ modules: [SchemaModule]) throws(DatabaseError) {
        let found = try layoutNumber()
        guard found <= Self.layout else { throw newerSchema(found, Self.layout) }
        let hasModules = try tables().contains { $0.utf8.elementsEqual("schema_module".utf8) }
        guard found >= 0, found == Self.layout || !hasModules else {
            throw DatabaseError(kind: .corrupt, message: "user_version is \(found)", path: path)
        }
        for module in modules {
            let found = try schemaNumber(of: module.name)
            guard found <= module.migrations.count else { throw newerSchema(found, module.migrations.count) }
        }
    }

    private func newerSchema(_ found: Int, _ known: Int) -> DatabaseError {
        DatabaseError(kind: .newerSchema(found: found, known: known), message: "newer schema", path: path)
    }

    /// Runs the missing migrations of each module. Each step is a transaction. A step that fails is rolled back;
    /// earlier steps stay. Modules that are not in the list do not change.
    /// - Throws: `.newerSchema` when the file is newer than the list. Nothing has changed then.
    public func migrate(_ modules: [SchemaModule]) throws(DatabaseError) {
        try checkSchema(modules)
        try transaction { () throws(DatabaseError) in try adoptLayout() }
        for module in modules {
            for migration in module.migrations.dropFirst(try schemaNumber(of: module.name)) {
                // The number is part of the transaction. A power cut leaves the step with its number, or neither.
                try transaction { () throws(DatabaseError) in try run(migration, of: module) }
            }
        }
    }

    /// Runs the module's migrations up to `number`, inside a transaction of the caller.
    func migrate(_ module: SchemaModule, upTo number: Int) throws(DatabaseError) {
        let done = try schemaNumber(of: module.name)
        for migration in module.migrations.prefix(number).dropFirst(done) { try run(migration, of: module) }
    }

    /// Creates the table of modules, inside a transaction of the caller.
    func adoptLayout() throws(DatabaseError) {
        let number = try layoutNumber()
        guard number < Self.layout else { return }
        try execute(
            "CREATE TABLE schema_module (module TEXT PRIMARY KEY NOT NULL, number INTEGER NOT NULL) "
                + "WITHOUT ROWID")
        if number > 0 {
            try execute(
                "INSERT INTO schema_module VALUES (?, ?)", .text(Self.singleModule), .integer(Int64(number)))
        }
        try execute("PRAGMA user_version=\(Self.layout)")
    }

    private func run(_ migration: Migration, of module: SchemaModule) throws(DatabaseError) {
        try migration.run(in: self)
        try set(migration.number, of: module)
    }

    /// Records the number of a module's last migration, inside a transaction of the caller; 0 for none.
    func set(_ number: Int, of module: SchemaModule) throws(DatabaseError) {
        try execute("DELETE FROM schema_module WHERE module = ?", .text(module.name))
        guard number > 0 else { return }
        try execute("INSERT INTO schema_module VALUES (?, ?)", .text(module.name), .integer(Int64(number)))
    }
}
