import Platform

/// A database that may be damaged, to read from: a copy of its files, so that the originals stay as they were found.
///
/// Thread: one at a time.
final class DamagedDatabase {
    /// The copy; an empty database where nothing can be read.
    let database: Database
    private let tables: [String]
    /// What is damaged; nil as long as nothing was found.
    private(set) var damage: String?

    /// - Throws: when the copy cannot be written: `.full`, `.notAccessible`.
    init(_ files: DatabaseFiles) throws(DatabaseError) {
        do throws(SystemError) {
            try files.removeLeftovers()
            try files.copy(to: files.copy)
            let log = try WriteAheadLog(files.path + "-wal")
            if let found = log.damage {
                damage = Self.text(of: found)
                try log.repair(copy: files.copy + "-wal")
            }
        } catch {
            throw DatabaseError(error, path: files.path)
        }
        do throws(DatabaseError) {
            let opened = try Database(path: files.copy)
            do throws(DatabaseError) { try opened.check() } catch {
                guard error.isDamage else { throw error }
                damage = damage ?? error.message
            }
            tables = try opened.tables()
            database = opened
        } catch {
            guard error.isDamage else { throw error }
            damage = damage ?? error.message
            database = try Database.inMemory()
            tables = []
        }
    }

    static func text(of damage: WriteAheadLog.Damage) -> String {
        let place = damage.frame < 0 ? "the header of the log" : "frame \(damage.frame) of the log"
        return damage.isRepairable ? "a wrong bit in \(place), repaired" : "wrong bytes in \(place)"
    }

    /// Creates those of its tables that the other database does not have. Tables without a key are left out: a row that
    /// is read twice could not be told from two.
    func createTables(in target: Database) throws(DatabaseError) {
        let known = try target.tables()
        for table in tables where !known.contains(where: { $0.utf8.elementsEqual(table.utf8) }) {
            do throws(DatabaseError) {
                guard try database.columns(of: table).contains(where: { $0.isKey }) else { continue }
                var statement = try database.prepare("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?")
                try statement.bind([.text(table)])
                if try statement.step(), let sql = statement.text(0) { try target.execute(script: sql) }
            } catch {
                Log.warning("table \(table) cannot be carried over: \(error)")
            }
        }
    }

    func has(_ table: String) -> Bool { tables.contains { $0.utf8.elementsEqual(table.utf8) } }

    /// - Parameter text: more that is damaged.
    func note(_ text: String) { damage = damage ?? text }
}

extension DatabaseError {
    /// Whether the contents of the file are to blame. SQL that SQLite does not understand is damage as well where a
    /// table is missing or another one than this program made.
    var isDamage: Bool { kind == .corrupt || kind == .misuse }
}
