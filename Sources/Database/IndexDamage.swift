import CSQLite

/// Finds and repairs indexes that do not match their tables. A query that uses such an index misses rows, or finds
/// deleted ones. `Database.check` does not detect it.
extension Database {
    /// The number of steps of SQLite's machine between two calls of `isWanted`. A step takes less than a microsecond.
    private static let questionInterval: Int32 = 10_000

    /// Compares a table with its indexes. Reads the whole table: about a second for 20 MB on a memory card.
    /// - Parameter isWanted: called often; returns whether other work waits for the database.
    /// - Returns: the first difference, for the user; nil when there is none.
    /// - Throws: `.interrupted` when `isWanted` has returned true; `.corrupt` when the table cannot even be read.
    func indexDamage(of table: String, unless isWanted: @escaping () -> Bool) throws(DatabaseError) -> String? {
        try interrupting(when: isWanted) { () throws(DatabaseError) in
            var statement = try prepare("PRAGMA integrity_check(\(Self.quoted(table)))")
            let answer = try statement.step() ? statement.text(0) ?? "" : ""
            return answer.utf8.elementsEqual("ok".utf8) ? nil : answer
        }
    }

    /// Rebuilds all indexes of a table.
    /// - Throws: `.constraint` when rows have equal keys; `.corrupt` when the table itself is damaged; `.full`.
    func reindex(_ table: String) throws(DatabaseError) {
        try transaction { () throws(DatabaseError) in try execute("REINDEX \(Self.quoted(table))") }
    }

    private func interrupting<Result>(
        when isWanted: @escaping () -> Bool, _ body: () throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        let question = Question(isWanted)
        sqlite3_progress_handler(
            connection, Self.questionInterval,
            { Unmanaged<Question>.fromOpaque($0!).takeUnretainedValue().isWanted() ? 1 : 0 },
            Unmanaged.passUnretained(question).toOpaque())
        defer {
            sqlite3_progress_handler(connection, 0, nil, nil)
            withExtendedLifetime(question) {}
        }
        return try body()
    }

    /// Quotes a name for SQL.
    private static func quoted(_ name: String) -> String {
        var text = "\""
        for scalar in name.unicodeScalars {
            if scalar == "\"" { text += "\"" }
            text.unicodeScalars.append(scalar)
        }
        return text + "\""
    }
}

/// Carries the closure through SQLite, which calls C functions.
private final class Question {
    let isWanted: () -> Bool

    init(_ isWanted: @escaping () -> Bool) { self.isWanted = isWanted }
}
