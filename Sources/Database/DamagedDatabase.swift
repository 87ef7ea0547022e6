import Platform

/// A readable copy of a database that may be damaged. The original files do not change.
///
/// Thread: one at a time.
final class DamagedDatabase {
    /// The copy; an empty database when no part can be read.
    let database: Database
    private let tables: [String]
    /// The damage; nil while none was found.
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

    /// Creates its tables that the other database does not have. Tables without a key are left out: two copies of a row
    /// could not be recognised.
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

    /// - Parameter text: the damage; the first one counts.
    func note(_ text: String) { damage = damage ?? text }
}

extension DatabaseError {
    /// Whether the contents of the file cause the error. SQL that SQLite does not accept is damage too: a table is
    /// missing, or is not the one that this program made.
    var isDamage: Bool { kind == .corrupt || kind == .misuse }
}
