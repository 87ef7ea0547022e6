import Database
import Platform

/// The search in the texts of tracks, as rows of the index: a `SearchBlock` each (docs/decisions/music-search.md).
///
/// Thread: the thread of its database.
struct SearchRows {
    let database: Database

    init(_ database: Database) { self.database = database }

    // MARK: Writing

    /// Records that the text of a track is outdated.
    func note(_ track: Int64) throws(DatabaseError) {
        try database.execute(
            """
            INSERT INTO search_block (number) VALUES (?)
            ON CONFLICT (number) DO UPDATE SET bytes = NULL WHERE bytes IS NOT NULL
            """, .integer(SearchBlock.number(of: track)))
    }

    /// Writes the outdated blocks. Call it at the end of each transaction that changes tracks.
    func refresh() throws(DatabaseError) {
        var numbers: [Int64] = []
        var statement = try database.prepare("SELECT number FROM search_block WHERE bytes IS NULL")
        while try statement.step() { if let number = statement.integer(0) { numbers.append(number) } }
        for number in numbers {
            try database.execute(
                "UPDATE search_block SET bytes = ? WHERE number = ?", .bytes(try block(number).bytes),
                .integer(number))
        }
    }

    private func block(_ number: Int64) throws(DatabaseError) -> SearchBlock {
        let first = number * SearchBlock.trackCount
        let range: [DatabaseValue] = [.integer(first), .integer(first + SearchBlock.trackCount)]
        // The composers of each track, and its artists that are missing in the text of all artists.
        var names: [Int64: [[UInt8]]] = [:]
        var rows = try database.prepare(
            """
            SELECT track, folded FROM track_name CROSS JOIN name ON name.id = track_name.name
            WHERE track >= ? AND track < ? AND kind IN (\(NameKind.artist.rawValue), \(NameKind.composer.rawValue))
            ORDER BY track, kind DESC, name.id
            """)
        try rows.bind(range)
        while try rows.step() {
            if let track = rows.integer(0), let folded = rows.text(1) {
                names[track, default: []].append(Array(folded.utf8))
            }
        }
        var block = SearchBlock()
        var statement = try database.prepare(
            """
            SELECT id, name, artist, nullif(album_artist, artist), album, date FROM track
            WHERE id >= ? AND id < ? AND is_present = 1 ORDER BY id
            """)
        try statement.bind(range)
        while try statement.step() {
            guard let id = statement.integer(0) else { continue }
            var rest: [UInt8] = []
            func add(_ words: [UInt8]) {
                if !rest.isEmpty { rest.append(UInt8(ascii: " ")) }
                rest += words
            }
            for column in 2...4 { if let text = statement.text(column) { add(FoldedText.searched(text)) } }
            for name in names[id] ?? [] where !ByteSearch.contains(name, in: rest[...]) { add(name) }
            if let date = statement.text(5) { add(Array(date.utf8.prefix(4))) }
            block.append(Int(id - first), title: FoldedText.searched(statement.text(1) ?? ""), rest: rest)
        }
        return block
    }

    // MARK: Reading

    /// Returns the numbers of the tracks that have all words, the best ones first.
    func tracks(matching words: SearchWords, _ page: ListPage) throws(DatabaseError) -> ListPart<Int64> {
        // Only this many of the best tracks can be in the page.
        let most = Int(clamping: page.offset + page.limit)
        var found: [[Int64]] = [[], [], []]
        var total: Int64 = 0
        var statement = try database.prepare(
            "SELECT number, bytes FROM search_block WHERE bytes IS NOT NULL ORDER BY number")
        while try statement.step() {
            guard let number = statement.integer(0), let bytes = statement.bytes(1) else { continue }
            SearchBlock(bytes).search(words.words) { place, match in
                total += 1
                if found[match.rawValue].count < most {
                    found[match.rawValue].append(number * SearchBlock.trackCount + Int64(place))
                }
            }
        }
        let all = found[0] + found[1] + found[2]
        return ListPart(
            total: total, entries: Array(all.dropFirst(Int(clamping: page.offset)).prefix(Int(clamping: page.limit))))
    }
}
