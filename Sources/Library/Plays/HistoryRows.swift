import Database

/// Music that was heard, at a time.
package struct HeardMusic: Equatable, Sendable {
    /// The content; nil for music that was not in the library.
    package var content: Int64?
    /// The path at that time, or the address of a product of a service or of a web file.
    package var address: String
    /// Seconds since 1970.
    package var time: Int64

    package init(content: Int64?, address: String, time: Int64) {
        self.content = content
        self.address = address
        self.time = time
    }
}

/// The history: the newest plays, as rows of `PlayRows.schema`.
///
/// Thread: the database's.
package struct HistoryRows {
    package static let most: Int64 = 1000

    private let database: Database

    package init(_ database: Database) { self.database = database }

    /// Adds a play, in the caller's transaction. Plays are in the order of the calls, because a clock may be set back.
    func add(_ heard: HeardMusic) throws(DatabaseError) {
        try database.execute(
            "INSERT INTO heard (content, address, time) VALUES (?, ?, ?)", DatabaseValue(heard.content),
            .text(heard.address), .integer(heard.time))
        try database.execute(
            "DELETE FROM heard WHERE id <= (SELECT max(id) FROM heard) - ?", .integer(Self.most))
    }

    /// Returns a part of the history, the latest first.
    package func page(_ page: ListPage) throws(DatabaseError) -> ListPart<HeardMusic> {
        var count = try database.prepare("SELECT count(*) FROM heard")
        let total = try count.step() ? count.integer(0) ?? 0 : 0
        var statement = try database.prepare(
            "SELECT content, address, time FROM heard ORDER BY id DESC LIMIT ? OFFSET ?")
        try statement.bind([.integer(page.limit), .integer(page.offset)])
        var entries: [HeardMusic] = []
        while try statement.step() {
            entries.append(
                HeardMusic(
                    content: statement.integer(0), address: statement.text(1) ?? "", time: statement.integer(2) ?? 0))
        }
        return ListPart(total: total, entries: entries)
    }
}
