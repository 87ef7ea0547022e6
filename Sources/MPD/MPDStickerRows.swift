import Appliance
import Database
import Library

/// Values that clients store with songs: ratings, for example. They are rows of the state, because they cannot be
/// restored like a cache.
///
/// Thread: that of the database.
struct MPDStickerRows {
    struct Sticker: Equatable, Sendable {
        var uri: String
        var name: String
        var value: String
    }

    static let schema = SchemaModule(
        "sticker",
        [
            Migration(
                1,
                """
                CREATE TABLE sticker (
                    uri TEXT NOT NULL,
                    name TEXT NOT NULL,
                    value TEXT NOT NULL,
                    PRIMARY KEY (uri, name)
                ) WITHOUT ROWID;
                """)
        ])

    /// The most stickers of a song, and the most bytes of a name and a value.
    static let limits = (count: Int64(64), name: 100, value: 2000)
    /// The most stickers of all songs.
    static let mostStickers: Int64 = 100_000

    private let database: Database

    init(_ database: Database) { self.database = database }

    /// - Returns: false when the song has too many stickers, or all songs together have.
    func set(_ sticker: Sticker) throws(DatabaseError) -> Bool {
        var all = try database.prepare("SELECT count(*) FROM sticker")
        if try all.step(), all.integer(0) ?? 0 >= Self.mostStickers { return false }
        var count = try database.prepare("SELECT count(*) FROM sticker WHERE uri = ? AND name <> ?")
        try count.bind([.text(sticker.uri), .text(sticker.name)])
        if try count.step(), count.integer(0) ?? 0 >= Self.limits.count { return false }
        try database.execute(
            """
            INSERT INTO sticker (uri, name, value) VALUES (?1, ?2, ?3)
            ON CONFLICT (uri, name) DO UPDATE SET value = ?3
            """, .text(sticker.uri), .text(sticker.name), .text(sticker.value))
        return true
    }

    /// - Parameter name: the name of the sticker; nil for all stickers of the song.
    func remove(_ uri: String, _ name: String?) throws(DatabaseError) {
        try database.execute(
            "DELETE FROM sticker WHERE uri = ?1 AND (?2 IS NULL OR name = ?2)", .text(uri), DatabaseValue(name))
    }

    /// Returns the next URIs with stickers after `last`, in order.
    func uris(after last: String, limit: Int) throws(DatabaseError) -> [String] {
        var statement = try database.prepare("SELECT DISTINCT uri FROM sticker WHERE uri > ? ORDER BY uri LIMIT ?")
        try statement.bind([.text(last), .integer(Int64(limit))])
        var uris: [String] = []
        while try statement.step() { if let uri = statement.text(0) { uris.append(uri) } }
        return uris
    }

    /// Moves stickers to other URIs. A sticker whose name already exists at the other URI is not moved.
    func move(_ moves: [(former: String, present: String)]) throws(DatabaseError) {
        for (former, present) in moves {
            try database.execute("UPDATE OR IGNORE sticker SET uri = ? WHERE uri = ?", .text(present), .text(former))
        }
    }

    func all(of uri: String) throws(DatabaseError) -> [Sticker] {
        try rows("WHERE uri = ? ORDER BY name", [.text(uri)])
    }

    /// Returns the stickers with this name whose songs are in a folder.
    /// - Parameter comparison: =, < or > and a value; nil for all values.
    func find(
        _ name: String, in folder: String, _ comparison: (isWanted: MPDStickerComparison, value: String)?
    ) throws(DatabaseError) -> [Sticker] {
        let inside = folder.utf8.isEmpty ? "" : "\(folder)/"
        var found = try rows(
            "WHERE name = ?1 AND (?2 = '' OR substr(uri, 1, length(?2)) = ?2) ORDER BY uri",
            [.text(name), .text(inside)])
        if let comparison {
            found.removeAll { !comparison.isWanted.holds($0.value, comparison.value) }
        }
        return found
    }

    private func rows(_ clauses: String, _ values: [DatabaseValue]) throws(DatabaseError) -> [Sticker] {
        var statement = try database.prepare("SELECT uri, name, value FROM sticker \(clauses)")
        try statement.bind(values)
        var rows: [Sticker] = []
        while try statement.step() {
            rows.append(
                Sticker(uri: statement.text(0) ?? "", name: statement.text(1) ?? "", value: statement.text(2) ?? ""))
        }
        return rows
    }
}

/// An operator of `sticker find`. It compares texts by bytes, as MPD does.
enum MPDStickerComparison: Sendable {
    case equal, less, greater

    init?(_ text: String) {
        switch text.utf8.count == 1 ? text.utf8.first : nil {
        case UInt8(ascii: "="): self = .equal
        case UInt8(ascii: "<"): self = .less
        case UInt8(ascii: ">"): self = .greater
        default: return nil
        }
    }

    func holds(_ one: String, _ other: String) -> Bool {
        switch self {
        case .equal: one.utf8.elementsEqual(other.utf8)
        case .less: one.utf8.lexicographicallyPrecedes(other.utf8)
        case .greater: other.utf8.lexicographicallyPrecedes(one.utf8)
        }
    }
}
