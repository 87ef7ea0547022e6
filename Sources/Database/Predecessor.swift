import Platform

/// A database file of an earlier version, whose tables are now part of this database.
public struct Predecessor: Sendable {
    /// A table, and its new name.
    public struct Table: Sendable {
        let old: String
        let new: String

        public init(_ old: String, as new: String? = nil) {
            self.old = old
            self.new = new ?? old
        }
    }

    /// The name of the file, in the same folder.
    let name: String
    /// The module of the tables. When the database has the module, the file was migrated already.
    let module: SchemaModule
    /// The module's number at which its tables are like those in the file.
    let number: Int
    let tables: [Table]

    public init(_ name: String, module: SchemaModule, number: Int, tables: [Table]) {
        self.name = name
        self.module = module
        self.number = number
        self.tables = tables
    }
}

extension Database {
    /// Copies the rows of an earlier version's file in one transaction, and then removes the file.
    /// - Returns: the data that was lost; nil when there was none.
    func takeOver(_ predecessor: Predecessor, in folder: String) throws(DatabaseError) -> StateFinding? {
        let files = DatabaseFiles("\(folder)/\(predecessor.name)")
        guard files.hasAny else { return nil }
        var finding: StateFinding?
        if files.exist, try schemaNumber(of: predecessor.module.name) == 0 {
            let source = try DamagedDatabase(files)
            var rows = 0
            try transaction { () throws(DatabaseError) in
                try adoptLayout()
                try migrate(predecessor.module, upTo: predecessor.number)
                let copy = TableCopy(source: source.database, target: self)
                for table in predecessor.tables where source.has(table.old) {
                    let outcome = try copy.copy(table.old, to: table.new)
                    rows += outcome.rows
                    if !outcome.isWhole { source.note("table \(table.old) could not be read to its end") }
                }
            }
            // A crash before the commit: both files are unchanged. A crash here: all rows are in this file; the next
            // start removes the other one without reading it.
            finding = source.damage.map { StateFinding(kind: .damaged($0, rows: rows), path: files.path) }
        }
        do throws(SystemError) {
            if finding != nil { finding?.aside = try files.putAside("damaged") } else { try files.remove(files.path) }
            try files.removeLeftovers()
        } catch {
            // The next start retries.
            Log.warning("\(files.path) is no longer needed and cannot be removed: \(error)")
        }
        return finding
    }
}
