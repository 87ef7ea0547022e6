import Player

/// The entries of the queue by id, in little memory: 24 bytes an entry and the bytes of its product id. The product ids
/// lie one after another in one allocation. Entries that were added together share their origin.
struct EntryTable: Sendable {
    /// The origin of a request.
    private final class Origin: Sendable {
        let sourceType: String?
        let sourceId: String?
        let extras: [String: String]

        init(_ product: QueuedProduct) {
            sourceType = product.sourceType
            sourceId = product.sourceId
            extras = product.extras
        }

        func isThat(of product: QueuedProduct) -> Bool {
            sourceType == product.sourceType && sourceId == product.sourceId && extras == product.extras
        }
    }

    private struct Row {
        /// nil when nothing is known about it.
        let origin: Origin?
        let id: EntryID
        /// The first byte of the product id in `text`.
        var start: UInt32
        let length: UInt16
        let type: ProductType
    }

    static let productIdLimit = Int(UInt16.max)

    /// Ascending by id: ids are given in the order in which entries are added.
    private var rows: [Row] = []
    private var text: [UInt8] = []
    /// Bytes of `text` that no row uses any more.
    private var unused = 0

    var count: Int { rows.count }

    /// All ids, ascending.
    var ids: [EntryID] { rows.map { $0.id } }

    func contains(_ id: EntryID) -> Bool { index(of: id) != nil }

    /// nil when there is no such entry.
    subscript(_ id: EntryID) -> QueuedProduct? { index(of: id).map { product(rows[$0]) } }

    /// The entries with this id and greater ones, ascending.
    func entries(from id: EntryID) -> [QueueEntry] {
        rows[firstIndex(notBefore: id)...].map { QueueEntry(id: $0.id, product: product($0)) }
    }

    /// Reserves memory for exactly these products in an empty table. Growing would take up to twice as much.
    mutating func reserve(for products: [QueuedProduct]) {
        rows.reserveCapacity(products.count)
        text.reserveCapacity(products.reduce(0) { $0 + $1.productId.utf8.count })
    }

    /// Adds an entry.
    /// - Parameter id: greater than all ids in the table.
    mutating func append(_ product: QueuedProduct, as id: EntryID) {
        let length = product.productId.utf8.count
        let row = Row(
            origin: origin(of: product), id: id, start: UInt32(text.count), length: UInt16(length),
            type: product.productType)
        rows.append(row)
        text.append(contentsOf: product.productId.utf8)
    }

    private func origin(of product: QueuedProduct) -> Origin? {
        if product.sourceType == nil, product.sourceId == nil, product.extras.isEmpty { return nil }
        if let last = rows.last?.origin, last.isThat(of: product) { return last }
        return Origin(product)
    }

    /// Removes the entries that are in the set.
    mutating func remove(_ removed: EntryIDSet) {
        var freed = 0
        rows.removeAll { row in
            guard removed.contains(row.id) else { return false }
            freed += Int(row.length)
            return true
        }
        unused += freed
        // Only when half of it is unused: closing the gaps then costs a constant share of the removed bytes.
        if unused > text.count / 2 { closeGaps() }
    }

    mutating func removeAll() { self = EntryTable() }

    private mutating func closeGaps() {
        var packed: [UInt8] = []
        packed.reserveCapacity(text.count - unused)
        for index in rows.indices {
            let start = Int(rows[index].start)
            rows[index].start = UInt32(packed.count)
            packed.append(contentsOf: text[start..<(start + Int(rows[index].length))])
        }
        text = packed
        unused = 0
    }

    private func product(_ row: Row) -> QueuedProduct {
        let bytes = text[Int(row.start)..<(Int(row.start) + Int(row.length))]
        return QueuedProduct(
            row.type, String(decoding: bytes, as: UTF8.self), sourceType: row.origin?.sourceType,
            sourceId: row.origin?.sourceId, extras: row.origin?.extras ?? [:])
    }

    private func index(of id: EntryID) -> Int? {
        let index = firstIndex(notBefore: id)
        return index < rows.count && rows[index].id == id ? index : nil
    }

    private func firstIndex(notBefore id: EntryID) -> Int {
        var low = 0
        var high = rows.count
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
