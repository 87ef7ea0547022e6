import Database
import Platform
import Player

/// Writes the play queue and the position to a database. After a power cut a write is there completely, or not at all.
///
/// Thread: the thread of its database. A write waits for the medium.
package final class QueueStore {
    /// The first tables, for the list of migrations.
    package static let schema = """
        CREATE TABLE queue_entry (
            id INTEGER PRIMARY KEY, type INTEGER NOT NULL, product TEXT NOT NULL,
            source_type TEXT, source_id TEXT, extras TEXT
        );
        CREATE TABLE queue_order (key INTEGER PRIMARY KEY, entry INTEGER NOT NULL);
        CREATE TABLE queue_shuffled_order (key INTEGER PRIMARY KEY, entry INTEGER NOT NULL);
        CREATE TABLE queue_state (
            id INTEGER PRIMARY KEY CHECK (id = 1), repeat INTEGER NOT NULL, shuffled INTEGER NOT NULL,
            current INTEGER, history BLOB NOT NULL, next_number INTEGER NOT NULL, playing INTEGER NOT NULL
        );
        CREATE TABLE queue_position (
            id INTEGER PRIMARY KEY CHECK (id = 1), entry INTEGER NOT NULL, milliseconds INTEGER NOT NULL
        )
        """

    /// A table that was added later.
    package static let mediaSchema = "CREATE TABLE queue_medium (mount_point TEXT PRIMARY KEY) WITHOUT ROWID"

    /// The stored queue and playback state.
    package struct Contents: Sendable {
        package var queue: PlayQueue
        /// The position in the current entry, in seconds.
        package var position: Double
        /// Whether the queue should play.
        package var isPlaying: Bool
        /// The image for later changes.
        package var image: QueueImage
        /// A description of the invalid rows that were left out, for the user; nil when there were none.
        package var loss: String?

        /// The contents for a state that cannot be read.
        package static var empty: Contents {
            Contents(queue: PlayQueue(), position: 0, isPlaying: false, image: QueueImage(), loss: nil)
        }
    }

    private let database: Database

    /// - Parameter database: one whose migrations include `schema`.
    package init(_ database: Database) { self.database = database }

    // MARK: Writing

    /// Writes a change, durably and as a whole.
    /// - Throws: when it could not be written. The database is unchanged, and the caller must replace its image by
    ///   `QueueImage()`, because the image already counts the change as written.
    package func write(_ change: QueueChange) throws(DatabaseError) {
        try database.transaction { () throws(DatabaseError) in try writeRows(change) }
    }

    /// Writes a change as a part of a transaction. The commit makes it durable.
    func writeRows(_ change: QueueChange) throws(DatabaseError) {
        if change.removesAllEntries {
            try database.execute("DELETE FROM queue_entry")
            // An invalid position would be reported at each start until the next one is written.
            try database.execute(
                """
                DELETE FROM queue_position
                WHERE typeof(entry) <> 'integer' OR typeof(milliseconds) <> 'integer'
                    OR entry NOT BETWEEN 1 AND ? OR milliseconds NOT BETWEEN 0 AND ?
                """,
                .integer(QueueReader.lastNumber), .integer(QueueReader.longestPosition))
        }
        try run("DELETE FROM queue_entry WHERE id = ?", change.removedEntries) { [.integer(Int64($0.number))] }
        try run("INSERT INTO queue_entry VALUES (?, ?, ?, ?, ?, ?)", change.addedEntries, Self.values)
        try write(change.originalOrder, to: "queue_order")
        try write(change.shuffledOrder, to: "queue_shuffled_order")
        if let state = change.state { try write(state) }
        if let media = change.media { try write(media) }
    }

    /// Writes the position in the entry. Outside of a transaction it is durable when this returns.
    /// - Parameter seconds: the position, from 0.
    package func write(position seconds: Double, of entry: EntryID) throws(DatabaseError) {
        try database.execute(
            "INSERT OR REPLACE INTO queue_position VALUES (1, ?, ?)", .integer(Int64(entry.number)),
            .integer(seconds > 0 ? Int64(min(seconds, 1e12) * 1000) : 0))
    }

    private func write(_ order: SparseOrder.Change, to table: String) throws(DatabaseError) {
        if order.isRewrite {
            try database.execute("DELETE FROM \(table)")
        } else {
            try run("DELETE FROM \(table) WHERE key = ?", order.deletedKeys) { [.integer($0)] }
        }
        try run("INSERT INTO \(table) VALUES (?, ?)", order.insertedRows) {
            [.integer($0.key), .integer(Int64($0.id.number))]
        }
    }

    private func write(_ state: QueueChange.State) throws(DatabaseError) {
        try database.execute(
            "INSERT OR REPLACE INTO queue_state VALUES (1, ?, ?, ?, ?, ?, ?)",
            .integer(Int64(state.repeatMode.rawValue)), .integer(state.isShuffled ? 1 : 0),
            state.current.map { .integer(Int64($0.number)) } ?? .null, .bytes(Self.bytes(of: state.history)),
            .integer(Int64(state.nextNumber)), .integer(state.isPlaying ? 1 : 0))
    }

    private func write(_ media: MusicMedia) throws(DatabaseError) {
        try database.execute("DELETE FROM queue_medium")
        try run("INSERT INTO queue_medium VALUES (?)", media.mountPoints) { [.text($0)] }
    }

    private func run<Element>(
        _ sql: String, _ elements: [Element], _ values: (Element) -> [DatabaseValue]
    ) throws(DatabaseError) {
        guard !elements.isEmpty else { return }
        var statement = try database.prepare(sql)
        for element in elements {
            try statement.bind(values(element))
            _ = try statement.step()
        }
    }

    // MARK: Reading

    /// Returns the stored queue; an empty one when none was stored. Invalid rows are left out and reported.
    package func contents() throws(DatabaseError) -> Contents { try QueueReader(database).contents() }

    // MARK: Columns

    private static func values(of entry: QueueEntry) -> [DatabaseValue] {
        let product = entry.product
        return [
            .integer(Int64(entry.id.number)), .integer(product.productType == .video ? 1 : 0),
            .text(product.productId), product.sourceType.map { .text($0) } ?? .null,
            product.sourceId.map { .text($0) } ?? .null,
            product.extras.isEmpty ? .null : .text(text(of: product.extras)),
        ]
    }

    /// A JSON object of strings.
    private static func text(of extras: [String: String]) -> String {
        JSONValue.object(extras.map { JSONValue.Member($0.key, .string($0.value)) }).serialized()
    }

    /// The history: four bytes an entry, the lowest byte first.
    private static func bytes(of history: [EntryID]) -> [UInt8] {
        history.flatMap { id in (0..<4).map { UInt8(truncatingIfNeeded: id.number >> (8 * $0)) } }
    }
}
