import Database

/// A file whose content has changed. The counts of the former content now belong to the new one.
package struct ContentChange: Equatable, Sendable {
    package var former: Int64
    package var present: Int64

    package init(former: Int64, present: Int64) {
        self.former = former
        self.present = present
    }
}

/// Changes of contents, as rows of the index. A row stays until data stored elsewhere was changed too, so that a power
/// cut loses none.
///
/// Thread: that of a scan.
extension MusicIndex {
    /// Returns the changes with greater numbers, in order, and the number of the last one.
    package func contentChanges(after number: Int64) throws(DatabaseError) -> (changes: [ContentChange], last: Int64) {
        var last = number
        let changes = try rows(
            "SELECT number, former, present FROM content_change WHERE track = 0 AND number > ? ORDER BY number",
            [.integer(number)]
        ) { row -> ContentChange? in
            last = row.number(0)
            return ContentChange(former: row.number(1), present: row.number(2))
        }
        return (changes, last)
    }

    /// Removes the changes up to a number, because data stored elsewhere was changed too.
    package func forgetContentChanges(upTo number: Int64) throws(DatabaseError) {
        try write { (database) throws(DatabaseError) in
            try database.execute("DELETE FROM content_change WHERE track = 0 AND number <= ?", .integer(number))
        }
    }
}

/// Notes changes of contents.
///
/// Thread: one at a time, inside a transaction of the index.
struct ContentChangeRows {
    let database: Database

    /// Notes that a track has another content.
    /// - Parameter isOfEarlierVersion: whether the former content is a number of an earlier version of this program.
    func note(_ change: ContentChange, of track: Int64, isOfEarlierVersion: Bool) throws(DatabaseError) {
        if change.former == 0 || change.former == change.present { return }
        try database.execute(
            "INSERT INTO content_change (former, present, track) VALUES (?, ?, ?)", .integer(change.former),
            .integer(change.present), .integer(isOfEarlierVersion ? 0 : track))
    }

    /// Confirms the changes of a scan. Exchanging or renaming files is no change, because their contents are then in
    /// other rows. Call it at the end of a scan.
    func confirm() throws(DatabaseError) {
        try database.execute(
            """
            DELETE FROM content_change WHERE track <> 0 AND EXISTS (
                SELECT 1 FROM track AS other WHERE other.id <> content_change.track AND (
                    other.content = content_change.former AND other.is_present > 0
                    OR other.content = content_change.present))
            """)
        // Confirmed changes get growing numbers.
        try database.execute(
            """
            INSERT INTO content_change (former, present, track)
            SELECT former, present, 0 FROM content_change WHERE track <> 0 ORDER BY number
            """)
        try database.execute("DELETE FROM content_change WHERE track <> 0")
    }
}
