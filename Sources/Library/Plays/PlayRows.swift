import Database

/// How often and when a track was heard.
package struct PlayCount: Equatable, Sendable {
    package var content: Int64
    package var count: Int64
    /// Seconds since 1970.
    package var last: Int64
    package var isFavourite: Bool

    package init(content: Int64, count: Int64, last: Int64, isFavourite: Bool = false) {
        self.content = content
        self.count = count
        self.last = last
        self.isFavourite = isFavourite
    }
}

/// Play counts, favourites (`FavouriteRows`) and the history (`HistoryRows`), as rows of the state's database: they are
/// not a cache, and outlive the index. A row belongs to a content, whatever its path.
///
/// Thread: the database's.
package struct PlayRows {
    package static let schema = SchemaModule(
        "plays",
        [
            Migration(
                1,
                """
                CREATE TABLE play (
                    content INTEGER PRIMARY KEY,
                    count INTEGER NOT NULL DEFAULT 0,
                    last INTEGER NOT NULL DEFAULT 0,
                    is_favourite INTEGER NOT NULL DEFAULT 0,
                    -- The path or address under which it became a favourite.
                    address TEXT,
                    -- Seconds since 1970; 0 for no favourite.
                    favourite_since INTEGER NOT NULL DEFAULT 0
                );
                CREATE INDEX play_last ON play (last) WHERE last > 0;
                CREATE INDEX play_favourite ON play (favourite_since, content) WHERE is_favourite = 1;
                -- Grows at its end, and is cut at its beginning.
                CREATE TABLE heard (
                    id INTEGER PRIMARY KEY,
                    -- NULL for music that is not in the library: products of a service, web files, other files.
                    content INTEGER,
                    -- The path at that time, or the address.
                    address TEXT NOT NULL,
                    -- Seconds since 1970.
                    time INTEGER NOT NULL
                );
                CREATE INDEX heard_content ON heard (content) WHERE content IS NOT NULL;
                """)
        ])

    private let database: Database

    /// - Parameter database: its migrations include `schema`.
    package init(_ database: Database) { self.database = database }

    /// Counts a play. Part of the caller's transaction.
    /// - Parameter now: seconds since 1970.
    package func add(_ content: Int64, at now: Int64) throws(DatabaseError) {
        try database.execute(
            """
            INSERT INTO play (content, count, last) VALUES (?1, 1, ?2)
            ON CONFLICT (content) DO UPDATE SET count = count + 1, last = max(last, ?2)
            """, .integer(content), .integer(now))
    }

    /// Counts a play, and adds it to the history. Part of the caller's transaction.
    /// - Parameters:
    ///   - content: the content; nil for music that is not in the library, which is not counted.
    ///   - address: the path, or the address of a product.
    ///   - now: seconds since 1970.
    package func record(_ content: Int64?, _ address: String, at now: Int64) throws(DatabaseError) {
        if let content { try add(content, at: now) }
        try HistoryRows(database).add(HeardMusic(content: content, address: address, time: now))
    }

    /// Moves the rows of files to their new contents, so that a track keeps its count when its tags are written.
    package func move(_ changes: [ContentChange]) throws(DatabaseError) {
        for change in changes {
            try database.execute(
                """
                INSERT INTO play (content, count, last, is_favourite, address, favourite_since)
                SELECT ?1, count, last, is_favourite, address, favourite_since FROM play WHERE content = ?2
                ON CONFLICT (content) DO UPDATE SET count = play.count + excluded.count,
                    last = max(play.last, excluded.last), is_favourite = max(play.is_favourite, excluded.is_favourite),
                    address = coalesce(play.address, excluded.address),
                    favourite_since = max(play.favourite_since, excluded.favourite_since)
                """, .integer(change.present), .integer(change.former))
            try database.execute("DELETE FROM play WHERE content = ?", .integer(change.former))
            try database.execute(
                "UPDATE heard SET content = ?1 WHERE content = ?2", .integer(change.present), .integer(change.former))
        }
    }

    /// Returns the count of a content; nil when it was never heard and is no favourite.
    package func count(of content: Int64) throws(DatabaseError) -> PlayCount? {
        try rows("WHERE content = ?", [.integer(content)]).first
    }

    /// Returns the contents that were heard last, the latest first.
    package func last(limit: Int64) throws(DatabaseError) -> [PlayCount] {
        try rows("WHERE last > 0 ORDER BY last DESC LIMIT ?", [.integer(limit)])
    }

    private func rows(_ clauses: String, _ values: [DatabaseValue]) throws(DatabaseError) -> [PlayCount] {
        var statement = try database.prepare("SELECT content, count, last, is_favourite FROM play \(clauses)")
        try statement.bind(values)
        var rows: [PlayCount] = []
        while try statement.step() {
            rows.append(
                PlayCount(
                    content: statement.integer(0) ?? 0, count: statement.integer(1) ?? 0,
                    last: statement.integer(2) ?? 0, isFavourite: statement.integer(3) == 1))
        }
        return rows
    }
}
