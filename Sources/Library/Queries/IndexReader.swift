import Database

/// Reads one state of the index, by queries that are values. SQL about its tables stays in this module, so that
/// renaming a column breaks no other module.
///
///     try index.read { (reader) throws(DatabaseError) in
///         var tracks = try reader.cursor(TrackQuery(.every))
///         while try tracks.next() { … }
///     }
///
/// Thread: within one `read` of the index.
package struct IndexReader {
    let database: Database

    init(_ database: Database) { self.database = database }

    // MARK: Rows

    /// Returns the rows of a query.
    func rows<Row>(
        _ sql: String, _ values: [DatabaseValue], _ row: (borrowing Statement) -> Row?
    ) throws(DatabaseError) -> [Row] {
        var statement = try database.prepare(sql)
        try statement.bind(values)
        var rows: [Row] = []
        while try statement.step() { if let row = row(statement) { rows.append(row) } }
        return rows
    }

    /// Returns the number of a query with one row; 0 without a row.
    func number(_ sql: String, _ values: [DatabaseValue] = []) throws(DatabaseError) -> Int64 {
        var statement = try database.prepare(sql)
        try statement.bind(values)
        return try statement.step() ? statement.integer(0) ?? 0 : 0
    }

    // MARK: Tracks

    /// Returns the tracks of a query, one at a time.
    package func cursor(_ query: TrackQuery) throws(DatabaseError) -> TrackCursor {
        let clauses = query.clauses
        var statement = try database.prepare("SELECT \(TrackCursor.columns) FROM track \(clauses.text)")
        try statement.bind(clauses.values)
        return TrackCursor(statement)
    }

    private static let byID = StatementText("SELECT \(TrackCursor.columns) FROM track WHERE id = ? AND is_present = 1")

    /// Returns the listed track with a number.
    package func cursor(_ id: Int64) throws(DatabaseError) -> TrackCursor {
        var statement = try database.reusable(Self.byID)
        try statement.bind([.integer(id)])
        return TrackCursor(statement)
    }

    private static let byFile = StatementText(
        """
        SELECT \(TrackCursor.columns) FROM track WHERE folder = ? AND file = ? AND part = ? AND is_present = 1
        """)

    /// Returns the listed track of a file.
    /// - Parameters:
    ///   - folder: the number of the folder.
    ///   - part: the number in a cue sheet; 0 for a whole file.
    package func cursor(
        inFolder folder: Int64, file: String, part: Int64
    ) throws(DatabaseError) -> TrackCursor {
        var statement = try database.reusable(Self.byFile)
        try statement.bind([.integer(folder), .text(file), .integer(part)])
        return TrackCursor(statement)
    }

    /// Returns a cursor for `TrackCursor.begin(inFolder:after:)`.
    package func folderCursor() throws(DatabaseError) -> TrackCursor {
        TrackCursor(try database.reusable(TrackCursor.inFolder))
    }

    /// Returns the number of a listed track.
    /// - Parameter part: the number in a cue sheet; 0 for a whole file.
    package func track(at place: FilePlace, part: Int64) throws(DatabaseError) -> Int64? {
        let clauses = TrackQuery(.file(place, part: part)).clauses
        return try rows("SELECT id FROM track \(clauses.text)", clauses.values) { $0.integer(0) }.first
    }

    /// Returns the listed tracks of a cue sheet, in their order.
    /// - Parameter folder: the number of the folder.
    package func tracks(ofSheet file: String, inFolder folder: Int64) throws(DatabaseError) -> [Int64] {
        try rows(
            "SELECT id FROM track WHERE folder = ? AND file = ? AND part > 0 AND +is_present = 1 ORDER BY part",
            [.integer(folder), .text(file)]
        ) { $0.number(0) }
    }
}

extension MusicIndex {
    /// Returns the rows of a query.
    func rows<Row>(
        _ sql: String, _ values: [DatabaseValue], _ row: (borrowing Statement) -> Row?
    ) throws(DatabaseError) -> [Row] {
        try read { (reader) throws(DatabaseError) in try reader.rows(sql, values, row) }
    }

    /// Returns the number of a query with one row; 0 without a row.
    func number(_ sql: String, _ values: [DatabaseValue] = []) throws(DatabaseError) -> Int64 {
        try read { (reader) throws(DatabaseError) in try reader.number(sql, values) }
    }
}
