/// Computes the numbers of the modules' schemas from the tables of a file. A recorded number that differs is damaged,
/// or a newer version of the program has changed the tables.
///
/// Thread: the thread of the database.
struct ShownSchema {
    /// A table with its columns, or an index.
    private struct Object: Equatable {
        var name: String
        var columns: [Database.Column]

        /// Compares names by bytes: comparing strings needs Unicode's tables.
        static func == (one: Object, other: Object) -> Bool {
            one.name.utf8.elementsEqual(other.name.utf8) && one.columns == other.columns
        }
    }

    private let objects: [Object]

    init(_ database: Database) throws(DatabaseError) { objects = try Self.objects(of: database) }

    /// Returns the number at which the module's tables and indexes are exactly those of the file; nil when there is
    /// none, as after damage. Several numbers may have the same tables: it is then `recorded`, or else the highest.
    func number(of module: SchemaModule, recorded: Int?) throws(DatabaseError) -> Int? {
        var references: [[Object]] = []
        for number in 0...module.migrations.count { references.append(try Self.objects(of: module, upTo: number)) }
        let ownObjects = objects.filter { object in
            references.contains { $0.contains { $0.name.utf8.elementsEqual(object.name.utf8) } }
        }
        if let recorded, references.indices.contains(recorded), references[recorded] == ownObjects { return recorded }
        return references.lastIndex(of: ownObjects)
    }

    /// Whether the modules' last numbers have all tables, columns and indexes of the file. A newer version has changed
    /// some of them.
    func isKnown(_ modules: [SchemaModule]) throws(DatabaseError) -> Bool {
        var known: [Object] = []
        for module in modules { known += try Self.objects(of: module, upTo: module.migrations.count) }
        return objects.allSatisfy { known.contains($0) }
    }

    private static func objects(of module: SchemaModule, upTo number: Int) throws(DatabaseError) -> [Object] {
        let reference = try Database.inMemory()
        try reference.transaction { () throws(DatabaseError) in
            try reference.adoptLayout()
            try reference.migrate(module, upTo: number)
        }
        return try objects(of: reference)
    }

    /// Returns all objects of a file, except those of SQLite and the table that all modules share.
    private static func objects(of database: Database) throws(DatabaseError) -> [Object] {
        var names: [String] = []
        var statement = try database.prepare(
            "SELECT name FROM sqlite_schema WHERE substr(name, 1, 7) <> 'sqlite_' AND name <> 'schema_module' "
                + "ORDER BY name")
        while try statement.step() {
            if let name = statement.text(0) { names.append(name) }
        }
        var objects: [Object] = []
        for name in names { objects.append(Object(name: name, columns: try database.columns(of: name))) }
        return objects
    }
}
