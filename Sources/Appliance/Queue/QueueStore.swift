import Database
import Platform
import Player

/// Keeps the play queue and the position in a database: what was written is there after a power cut, whole.
///
/// Thread: that of its database. A write waits for the medium.
public final class QueueStore {
    /// The tables, for the list of migrations.
    public static let schema = """
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

    /// What was kept.
    public struct Contents: Sendable {
        public var queue: PlayQueue
        /// Of the current entry, in seconds.
        public var position: Double
        /// Whether it was meant to play.
        public var isPlaying: Bool
        /// For the changes to come.
        public var image: QueueImage
    }

    private let database: Database

    /// - Parameter database: one whose migrations include `schema`.
    public init(_ database: Database) { self.database = database }

    // MARK: Writing

    /// Writes a change, durably and all of it.
    /// - Throws: when it could not be written. Nothing of it was; the image that it came from no longer tells what is
    ///   there and is to be replaced by `QueueImage()`.
    public func write(_ change: QueueChange) throws(DatabaseError) {
        try database.transaction { () throws(DatabaseError) in try writeRows(change) }
    }

    /// The same as a part of a transaction, which makes it durable.
    func writeRows(_ change: QueueChange) throws(DatabaseError) {
        if change.removesAllEntries { try database.execute("DELETE FROM queue_entry") }
        try run("DELETE FROM queue_entry WHERE id = ?", change.removedEntries) { [.integer(Int64($0.number))] }
        try run("INSERT INTO queue_entry VALUES (?, ?, ?, ?, ?, ?)", change.addedEntries, Self.values)
        try write(change.originalOrder, to: "queue_order")
        try write(change.shuffledOrder, to: "queue_shuffled_order")
        if let state = change.state { try write(state) }
    }

    /// Writes where the entry is heard; outside of a transaction durable when it returns.
    /// - Parameter seconds: from 0.
    public func write(position seconds: Double, of entry: EntryID) throws(DatabaseError) {
        try database.execute(
            "INSERT OR REPLACE INTO queue_position VALUES (1, ?, ?)", .integer(Int64(entry.number)),
            .integer(Int64(max(0, min(seconds, 1e12)) * 1000)))
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

    /// What was written last; an empty queue where nothing was.
    public func contents() throws(DatabaseError) -> Contents {
        let state = try readState()
        let original = try readOrder("queue_order")
        let shuffled = try readOrder("queue_shuffled_order")
        let queue = PlayQueue(
            table: try readEntries(), originalOrder: original.ids, shuffledOrder: state.isShuffled ? shuffled.ids : nil,
            repeatMode: state.repeatMode, current: state.current, history: state.history, nextNumber: state.nextNumber)
        let isWhole = queue.originalOrder == original.ids && queue.isShuffled == state.isShuffled
        if !isWhole { Log.warning("the queue's order was damaged; its entries are in the order in which they came") }
        return Contents(
            queue: queue, position: try queue.current.map(readPosition) ?? 0, isPlaying: state.isPlaying,
            image: isWhole ? QueueImage(originalOrder: original, shuffledOrder: shuffled, state: state) : QueueImage())
    }

    private func readState() throws(DatabaseError) -> QueueChange.State {
        var state = QueueChange.State()
        var statement = try database.prepare(
            "SELECT repeat, shuffled, current, history, next_number, playing FROM queue_state")
        guard try statement.step() else { return state }
        state.repeatMode = statement.integer(0).flatMap { RepeatMode(rawValue: UInt8(truncatingIfNeeded: $0)) } ?? .off
        state.isShuffled = statement.integer(1) == 1
        state.current = statement.integer(2).map(Self.entryID)
        state.history = Self.history(of: statement.bytes(3) ?? [])
        state.nextNumber = Self.entryID(statement.integer(4) ?? 1).number
        state.isPlaying = statement.integer(5) == 1
        return state
    }

    private func readEntries() throws(DatabaseError) -> EntryTable {
        var table = EntryTable()
        var statement = try database.prepare(
            "SELECT id, type, product, source_type, source_id, extras FROM queue_entry ORDER BY id")
        while try statement.step() {
            let product = QueuedProduct(
                statement.integer(1) == 1 ? .video : .track, statement.text(2) ?? "",
                sourceType: statement.text(3), sourceId: statement.text(4),
                extras: statement.text(5).map(Self.extras) ?? [:])
            table.append(product, as: Self.entryID(statement.integer(0) ?? 0))
        }
        return table
    }

    private func readOrder(_ table: String) throws(DatabaseError) -> SparseOrder {
        var rows: [SparseOrder.Change.Row] = []
        var statement = try database.prepare("SELECT key, entry FROM \(table) ORDER BY key")
        while try statement.step() {
            rows.append(
                SparseOrder.Change.Row(key: statement.integer(0) ?? 0, id: Self.entryID(statement.integer(1) ?? 0)))
        }
        return SparseOrder(rows)
    }

    private func readPosition(of entry: EntryID) throws(DatabaseError) -> Double {
        var statement = try database.prepare("SELECT milliseconds FROM queue_position WHERE entry = ?")
        try statement.bind([.integer(Int64(entry.number))])
        return try statement.step() ? Double(statement.integer(0) ?? 0) / 1000 : 0
    }

    // MARK: Columns

    private static func entryID(_ value: Int64) -> EntryID { EntryID(UInt32(clamping: value)) }

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

    private static func extras(of text: String) -> [String: String] {
        var extras: [String: String] = [:]
        do throws(JSONError) {
            for member in try JSONValue.parse(text).members ?? [] {
                extras[member.name] = member.value.string
            }
        } catch {
            Log.warning("attributes of an entry of the queue cannot be read")
        }
        return extras
    }

    /// Four bytes an entry, the lowest first.
    private static func bytes(of history: [EntryID]) -> [UInt8] {
        history.flatMap { id in (0..<4).map { UInt8(truncatingIfNeeded: id.number >> (8 * $0)) } }
    }

    private static func history(of bytes: [UInt8]) -> [EntryID] {
        (0..<(bytes.count / 4)).map { index in
            EntryID((0..<4).reduce(0) { $0 | UInt32(bytes[4 * index + $1]) << (8 * UInt32($1)) })
        }
    }
}
