import Database
import Platform
import Player

/// Reads the queue from its tables. The rows are untrusted: another version or program may have written them, or the
/// medium may fail. Each value is checked, and a row that is not valid is left out and counted.
///
/// Thread: the thread of the database.
struct QueueReader {
    /// The greatest position in milliseconds. A greater one is damage.
    static let longestPosition: Int64 = 1_000_000_000_000_000

    private let database: Database
    private var lostRows = 0
    private var lostOrder = false

    init(_ database: Database) { self.database = database }

    func contents() throws(DatabaseError) -> QueueStore.Contents {
        var reader = self
        return try reader.read()
    }

    private mutating func read() throws(DatabaseError) -> QueueStore.Contents {
        let state = try readState()
        let original = try readOrder("queue_order")
        let shuffled = try readOrder("queue_shuffled_order")
        let media = try readMedia()
        let queue = PlayQueue(
            table: try readEntries(), originalOrder: original.ids, shuffledOrder: state.isShuffled ? shuffled.ids : nil,
            repeatMode: state.repeatMode, current: state.current, history: state.history, nextNumber: state.nextNumber,
            media: media)
        if queue.originalOrder != original.ids || queue.isShuffled != state.isShuffled { lostOrder = true }
        let position = try readPosition(of: queue.current)
        // The stored next number is already in use, so it was damaged.
        if queue.nextNumber != state.nextNumber { lostRows += 1 }
        let isWhole = lostRows == 0 && !lostOrder
        return QueueStore.Contents(
            queue: queue, position: position, isPlaying: state.isPlaying,
            // If rows were left out, the next change writes everything.
            image: isWhole
                ? QueueImage(originalOrder: original, shuffledOrder: shuffled, state: state, media: media)
                : QueueImage(),
            loss: loss)
    }

    private var loss: String? {
        switch (lostRows, lostOrder) {
        case (0, false): nil
        case (0, true): "the order of the queue was damaged; the entries are in the order in which they were added"
        case (let rows, false): "\(rows) rows of the queue were not valid and are dropped"
        case (let rows, true):
            "\(rows) rows of the queue were not valid and are dropped; the entries are in the order in which they were "
                + "added"
        }
    }

    // MARK: Tables

    private mutating func readState() throws(DatabaseError) -> QueueChange.State {
        var state = QueueChange.State()
        var statement = try database.prepare(
            "SELECT repeat, shuffled, current, history, next_number, playing FROM queue_state WHERE id = 1")
        guard try statement.step() else { return state }
        var isValid = true
        func checked<Value>(_ value: Value?, or standard: Value) -> Value {
            if value == nil { isValid = false }
            return value ?? standard
        }
        state.repeatMode = checked(
            statement.integer(0).flatMap { UInt8(exactly: $0) }.flatMap { RepeatMode(rawValue: $0) }, or: .off)
        state.isShuffled = checked(statement.integer(1).flatMap(Self.boolean), or: false)
        if statement.value(2) != .null { state.current = checked(Self.entryID(statement.integer(2)), or: nil) }
        state.history = checked(statement.bytes(3), or: []).history
        state.nextNumber = checked(
            statement.integer(4).flatMap { UInt32(exactly: $0) }.flatMap { $0 >= 1 ? $0 : nil }, or: 1)
        state.isPlaying = checked(statement.integer(5).flatMap(Self.boolean), or: false)
        if !isValid { lostRows += 1 }
        return state
    }

    private mutating func readEntries() throws(DatabaseError) -> EntryTable {
        var table = EntryTable()
        var room = PlayQueue.idBytes
        var statement = try database.prepare(
            "SELECT id, type, product, source_type, source_id, extras FROM queue_entry ORDER BY id")
        while try statement.step() {
            guard table.count < PlayQueue.capacity, let id = Self.entryID(statement.integer(0)),
                let product = Self.product(statement), Self.byteCount(of: product) <= room
            else {
                lostRows += 1
                continue
            }
            room -= Self.byteCount(of: product)
            table.append(product, as: id)
        }
        return table
    }

    private static func byteCount(of product: QueuedProduct) -> Int {
        let extras = product.extras.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        return product.productId.utf8.count + (product.sourceType?.utf8.count ?? 0)
            + (product.sourceId?.utf8.count ?? 0) + extras
    }

    private static func product(_ row: borrowing Statement) -> QueuedProduct? {
        guard let type = row.integer(1).flatMap(boolean), let id = row.text(2), !id.isEmpty,
            id.utf8.count <= EntryTable.productIdLimit, let sourceType = text(row.value(3)),
            let sourceId = text(row.value(4)), let extras = text(row.value(5))
        else { return nil }
        return QueuedProduct(
            type ? .video : .track, id, sourceType: sourceType, sourceId: sourceId,
            extras: extras.map(Self.extras) ?? [:])
    }

    /// Returns nil for a value that is neither text nor NULL, or too long; `.some(nil)` for NULL.
    private static func text(_ value: DatabaseValue) -> String?? {
        switch value {
        case .null: .some(nil)
        case .text(let text): text.utf8.count <= EntryTable.productIdLimit ? .some(text) : nil
        default: nil
        }
    }

    private mutating func readOrder(_ table: String) throws(DatabaseError) -> SparseOrder {
        var rows: [SparseOrder.Change.Row] = []
        var statement = try database.prepare("SELECT key, entry FROM \(table) ORDER BY key")
        while try statement.step() {
            guard rows.count < PlayQueue.capacity, let key = statement.integer(0),
                let id = Self.entryID(statement.integer(1))
            else {
                lostRows += 1
                continue
            }
            rows.append(SparseOrder.Change.Row(key: key, id: id))
        }
        return SparseOrder(rows)
    }

    private mutating func readMedia() throws(DatabaseError) -> MusicMedia {
        var points: [String] = []
        var statement = try database.prepare("SELECT mount_point FROM queue_medium")
        while try statement.step() {
            guard points.count < MusicMedia.limit, let point = statement.text(0), point.utf8.first == UInt8(ascii: "/")
            else {
                lostRows += 1
                continue
            }
            points.append(point)
        }
        return MusicMedia(points)
    }

    /// Reads the stored position, and checks it even if it belongs to another entry. It must not become the position of
    /// a later entry.
    private mutating func readPosition(of current: EntryID?) throws(DatabaseError) -> Double {
        var statement = try database.prepare("SELECT entry, milliseconds FROM queue_position")
        guard try statement.step() else { return 0 }
        guard let entry = Self.entryID(statement.integer(0)), let milliseconds = statement.integer(1),
            (0...Self.longestPosition).contains(milliseconds)
        else {
            lostRows += 1
            return 0
        }
        return entry == current ? Double(milliseconds) / 1000 : 0
    }

    // MARK: Columns

    /// The greatest number of an entry. The one after it stays free, because the next number must be valid too.
    static let lastNumber = Int64(UInt32.max) - 1

    private static func entryID(_ value: Int64?) -> EntryID? {
        guard let value, (1...lastNumber).contains(value) else { return nil }
        return EntryID(UInt32(value))
    }

    private static func boolean(_ value: Int64) -> Bool? { value == 0 ? false : value == 1 ? true : nil }

    private static func extras(of text: String) -> [String: String] {
        var extras: [String: String] = [:]
        do throws(JSONError) {
            for member in try JSONValue.parse(text).members ?? [] {
                extras[member.name] = member.value.string
            }
        } catch {
            Log.warning("attributes of a queue entry cannot be read: \(error)")
        }
        return extras
    }
}

extension [UInt8] {
    /// The history: four bytes an entry, the lowest byte first. Contains only the newest entries, up to the limit of
    /// the history.
    fileprivate var history: [EntryID] {
        let bytes = prefix(count / 4 * 4).suffix(4 * PlayQueue.historyLimit)
        return stride(from: bytes.startIndex, to: bytes.endIndex, by: 4).map { index in
            EntryID((0..<4).reduce(0) { $0 | UInt32(bytes[index + $1]) << (8 * UInt32($1)) })
        }
    }
}
