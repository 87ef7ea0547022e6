import Platform

/// Opens the one database of the state: checks it, recovers a damaged one, migrates files of earlier versions, and
/// updates the schema. Needs the folder's lock.
///
/// Thread: any that may block on the medium.
struct StateDatabase {
    /// The modules with tables in the file.
    let modules: [SchemaModule]
    let predecessor: Predecessor?

    struct Opened {
        let database: Database
        var findings: [StateFinding]
    }

    /// - Parameter knownDamage: damage that no check at the opening finds; the file is recovered.
    /// - Throws: `.newerSchema`; `.full`, `.notAccessible`, `.inputOutput`, `.busy` when the file cannot be used now.
    ///   Damage is not thrown: it is a finding.
    func open(_ path: String, knownDamage: String? = nil) throws(DatabaseError) -> Opened {
        let files = DatabaseFiles(path)
        var findings: [StateFinding] = []
        try system(path) { () throws(SystemError) in
            try Folder.create(Folder.containing(path), mode: 0o700)
            // After a power cut between the two renames of `swap`.
            if FileKind(at: files.recovered) != nil { _ = try files.swap() }
            try files.removeLeftovers()
            // A log without its database is useless, and SQLite would use it as the log of a new one.
            if FileKind(at: path) == nil { for name in ["-wal", "-shm"] { try Folder.removeFile(path + name) } }
        }
        let database: Database
        if let damage = try damageOfLog(files) ?? knownDamage {
            findings.append(try recover(files, damage))
            database = try checked(path)
        } else {
            do throws(DatabaseError) {
                database = try checked(path)
            } catch {
                guard error.isDamage else { throw error }
                findings.append(try recover(files, error.message))
                database = try checked(path)
            }
        }
        if let predecessor {
            if let finding = try database.takeOver(predecessor, in: Folder.containing(path)) {
                findings.append(finding)
            }
        }
        try database.migrate(modules)
        return Opened(database: database, findings: findings)
    }

    private func damageOfLog(_ files: DatabaseFiles) throws(DatabaseError) -> String? {
        try system(files.path) { () throws(SystemError) in
            try WriteAheadLog(files.path + "-wal").damage.map { DamagedDatabase.text(of: $0) }
        }
    }

    /// Opens the file and checks it for damage.
    /// - Throws: `.corrupt` and `.misuse` for damage.
    private func checked(_ path: String) throws(DatabaseError) -> Database {
        let database = try Database(path: path)
        do throws(DatabaseError) { try database.checkSchema(modules) } catch {
            if case .newerSchema = error.kind, try hasKnownTables(database) {
                throw DatabaseError(
                    kind: .corrupt, message: "a number of its schema is higher than its tables show", path: path)
            }
            throw error
        }
        try database.check()
        for module in modules {
            let recorded = try database.schemaNumber(of: module.name)
            guard recorded != module.migrations.count else { continue }
            let number = try number(of: module, in: database)
            guard number == recorded else {
                throw DatabaseError(
                    kind: .corrupt,
                    message:
                        "the schema of \(module.name) has number \(recorded), and its tables are those of \(number)",
                    path: path)
            }
        }
        let missing = try missingTables(database)
        guard missing.isEmpty else {
            throw DatabaseError(
                kind: .corrupt, message: "table \(missing.joined(separator: ", ")) is missing or has other columns",
                path: path)
        }
        return database
    }

    /// Returns the tables that the file should have by the numbers of its modules, but does not have.
    private func missingTables(_ database: Database) throws(DatabaseError) -> [String] {
        let reference = try Database.inMemory()
        var numbers: [Int] = []
        for module in modules { numbers.append(try database.schemaNumber(of: module.name)) }
        try fill(reference, upTo: numbers)
        // An empty file, or one of version 0.1, has no table of modules yet.
        let hasModules = try database.layoutNumber() >= Database.layout
        var missing: [String] = []
        for table in try reference.tables() {
            if !hasModules, table.utf8.elementsEqual("schema_module".utf8) { continue }
            if try database.columns(of: table) != reference.columns(of: table) { missing.append(table) }
        }
        return missing
    }

    /// Whether the file has the tables of this version, and no others: then no newer version wrote it.
    private func hasKnownTables(_ database: Database) throws(DatabaseError) -> Bool {
        let reference = try Database.inMemory()
        try reference.transaction { () throws(DatabaseError) in try reference.adoptLayout() }
        let table = "schema_module"
        guard try database.columns(of: table) == reference.columns(of: table) else { return false }
        return try ShownSchema(database).isKnown(modules)
    }

    /// Returns the number of a module's schema: the one that its tables show. If they show none, returns the recorded
    /// number, or the last number if the recorded one is impossible.
    private func number(of module: SchemaModule, in source: Database) throws(DatabaseError) -> Int {
        var recorded: Int?
        do throws(DatabaseError) {
            recorded = try source.schemaNumber(of: module.name)
            let shown = try ShownSchema(source).number(of: module, recorded: recorded)
            if let shown { return shown }
        } catch {
            guard error.isDamage else { throw error }
        }
        return min(recorded ?? .max, module.migrations.count)
    }

    /// Creates the tables of all modules in `database`, up to a number for each.
    private func fill(_ database: Database, upTo numbers: [Int]) throws(DatabaseError) {
        try database.transaction { () throws(DatabaseError) in
            try database.adoptLayout()
            for (module, number) in zip(modules, numbers) { try database.migrate(module, upTo: number) }
        }
    }

    // MARK: Recovering

    /// Copies the readable rows into a new file, which replaces the damaged one. A power cut at any point leaves the
    /// damaged file, the complete new one, or both under their names. The next start continues from there.
    private func recover(_ files: DatabaseFiles, _ damage: String) throws(DatabaseError) -> StateFinding {
        Log.error("\(files.path) is damaged (\(damage)). What can be read is carried over into a new file")
        let source = try DamagedDatabase(files)
        try system(files.path) { () throws(SystemError) in try files.remove(files.unfinished) }
        let rows = try carryOver(source, to: files.unfinished)
        return try system(files.path) { () throws(SystemError) in
            // A crash before this rename: `unfinished` is ignored, and the damaged file is unchanged.
            try Folder.renameFile(files.unfinished, to: files.recovered)
            let aside = try files.swap()
            try files.removeLeftovers()
            return StateFinding(kind: .damaged(damage, rows: rows), path: files.path, aside: aside)
        }
    }

    /// - Returns: the number of rows. The new database is then on the medium, in one file.
    private func carryOver(_ source: DamagedDatabase, to path: String) throws(DatabaseError) -> Int {
        let target = try Database(path: path)
        var rows = 0
        var numbers: [Int] = []
        for module in modules { numbers.append(try number(of: module, in: source.database)) }
        try fill(target, upTo: numbers)
        try target.transaction { () throws(DatabaseError) in
            let copy = TableCopy(source: source.database, target: target)
            // Tables of unknown modules are copied unchanged.
            try source.createTables(in: target)
            for table in try target.tables() where source.has(table) {
                let outcome = try copy.copy(table, to: table)
                if !table.utf8.elementsEqual("schema_module".utf8) { rows += outcome.rows }
            }
            for (module, number) in zip(modules, numbers) { try target.set(number, of: module) }
        }
        try target.checkpoint()
        return rows
    }

    private func system<Result>(
        _ path: String, _ body: () throws(SystemError) -> Result
    ) throws(DatabaseError) -> Result {
        do throws(SystemError) { return try body() } catch { throw DatabaseError(error, path: path) }
    }
}
