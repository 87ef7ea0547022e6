import Database

/// A favourite, by its key: the content of music in the library, else `FavouriteRows.key(of:)`.
package struct Favourite: Equatable, Sendable {
    package var key: Int64
    /// The path under which it became a favourite, or the address of a product of a service or of a web file.
    package var address: String

    package init(key: Int64, address: String) {
        self.key = key
        self.address = address
    }
}

/// Favourites, as rows of `PlayRows.schema`. A product without a content has a hash of its address as its key.
///
/// Thread: the database's.
package struct FavouriteRows {
    /// The limit of the table, because clients may add any address.
    package static let most: Int64 = 20_000

    private let database: Database

    package init(_ database: Database) { self.database = database }

    /// Returns the key of a product by its address.
    package static func key(of address: String) -> Int64 { ShortHash.of(Array(address.utf8)) }

    /// - Parameter now: seconds since 1970.
    package func set(_ isFavourite: Bool, _ favourite: Favourite, at now: Int64) throws(DatabaseError) {
        if isFavourite {
            try database.execute(
                """
                INSERT INTO play (content, is_favourite, address, favourite_since) VALUES (?1, 1, ?2, ?3)
                ON CONFLICT (content) DO UPDATE SET is_favourite = 1, address = ?2,
                    favourite_since = CASE is_favourite WHEN 1 THEN favourite_since ELSE ?3 END
                """, .integer(favourite.key), .text(favourite.address), .integer(now))
        } else {
            try database.execute(
                "UPDATE play SET is_favourite = 0, address = NULL, favourite_since = 0 WHERE content = ?",
                .integer(favourite.key))
            try database.execute(
                "DELETE FROM play WHERE content = ? AND count = 0 AND is_favourite = 0", .integer(favourite.key))
        }
    }

    package func contains(_ key: Int64) throws(DatabaseError) -> Bool {
        var statement = try database.prepare("SELECT 1 FROM play WHERE content = ? AND is_favourite = 1")
        try statement.bind([.integer(key)])
        return try statement.step()
    }

    package var count: Int64 {
        get throws(DatabaseError) {
            var statement = try database.prepare("SELECT count(*) FROM play WHERE is_favourite = 1")
            return try statement.step() ? statement.integer(0) ?? 0 : 0
        }
    }

    /// Returns all keys, in no order.
    package func keys() throws(DatabaseError) -> [Int64] {
        var statement = try database.prepare("SELECT content FROM play WHERE is_favourite = 1")
        var keys: [Int64] = []
        while try statement.step() { if let key = statement.integer(0) { keys.append(key) } }
        return keys
    }

    /// Returns a part of the favourites, the latest first.
    package func page(_ page: ListPage) throws(DatabaseError) -> ListPart<Favourite> {
        var statement = try database.prepare(
            """
            SELECT content, address FROM play WHERE is_favourite = 1
            ORDER BY favourite_since DESC, content DESC LIMIT ? OFFSET ?
            """)
        try statement.bind([.integer(page.limit), .integer(page.offset)])
        var entries: [Favourite] = []
        while try statement.step() {
            entries.append(Favourite(key: statement.integer(0) ?? 0, address: statement.text(1) ?? ""))
        }
        return ListPart(total: try count, entries: entries)
    }
}
