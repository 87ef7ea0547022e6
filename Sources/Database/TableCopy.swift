/// Copies the rows of a table from one database to another, even from a damaged one: from the first row up to the
/// damage, and from the last row back to it.
///
/// Thread: the thread of the databases. Inside a transaction of the target.
struct TableCopy {
    /// A limit that this program does not reach: a damaged tree may repeat itself.
    private static let rowLimit = 1_000_000

    let source: Database
    let target: Database

    struct Outcome: Equatable {
        var rows = 0
        /// False when the source could not be read to its end.
        var isWhole = true
    }

    /// - Parameters:
    ///   - name: the table in the source.
    ///   - newName: the table in the target. It exists, has a primary key, and defines the columns.
    /// - Throws: errors of the target. Damage of the source is not thrown, but is a part of the result.
    func copy(_ name: String, to newName: String) throws(DatabaseError) -> Outcome {
        let columns = try target.columns(of: newName)
        var outcome = Outcome()
        outcome.isWhole = try copy(name, columns, to: newName, &outcome.rows, backwards: false)
        if !outcome.isWhole { _ = try copy(name, columns, to: newName, &outcome.rows, backwards: true) }
        return outcome
    }

    /// - Returns: whether the source was read to its end.
    private func copy(
        _ name: String, _ columns: [Database.Column], to newName: String, _ rows: inout Int, backwards: Bool
    ) throws(DatabaseError) -> Bool {
        let names = columns.map { $0.name }.joined(separator: ", ")
        let keys = columns.filter { $0.isKey }.map { "\($0.name) DESC" }.joined(separator: ", ")
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        // OR IGNORE: for a row that was copied before, or that violates a rule of the table.
        var insert = try target.prepare("INSERT OR IGNORE INTO \(newName) (\(names)) VALUES (\(places))")
        let order = backwards ? " ORDER BY \(keys)" : ""
        // An error of the target must not look like damage of the source.
        var refusal: DatabaseError?
        do throws(DatabaseError) {
            var select = try source.prepare("SELECT \(names) FROM \(name)\(order)")
            var count = 0
            while refusal == nil, try select.step() {
                count += 1
                guard count <= Self.rowLimit else { return false }
                refusal = Self.insert(columns.indices.map { select.value($0) }, &insert)
                rows += target.changedRowCount
            }
        } catch {
            return false
        }
        if let refusal { throw refusal }
        return true
    }

    private static func insert(_ values: [DatabaseValue], _ statement: inout Statement) -> DatabaseError? {
        do throws(DatabaseError) {
            try statement.bind(values)
            _ = try statement.step()
            return nil
        } catch {
            return error
        }
    }
}

extension Database {
    struct Column: Equatable {
        var name: String
        var isKey: Bool

        /// Compares names by bytes: comparing strings needs Unicode's tables.
        static func == (one: Column, other: Column) -> Bool {
            one.isKey == other.isKey && one.name.utf8.elementsEqual(other.name.utf8)
        }
    }

    /// Returns the columns of a table; empty when there is no such table.
    func columns(of table: String) throws(DatabaseError) -> [Column] {
        var columns: [Column] = []
        var statement = try prepare("PRAGMA table_info(\(table))")
        while try statement.step() {
            columns.append(Column(name: statement.text(1) ?? "", isKey: statement.integer(5) ?? 0 > 0))
        }
        return columns
    }

    /// Returns the names of all tables.
    func tables() throws(DatabaseError) -> [String] {
        var names: [String] = []
        var statement = try prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_' ORDER BY name")
        while try statement.step() {
            if let name = statement.text(0) { names.append(name) }
        }
        return names
    }
}
