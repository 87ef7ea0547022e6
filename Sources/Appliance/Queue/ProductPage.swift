import Player

/// A few products one after another in little memory: 24 bytes each and the bytes of their ids, which share one
/// allocation. Products that come from one place share what they say about it.
///
/// A page is small, so whatever is done to one page is little work. Whole pages change hands without a copy.
struct ProductPage: Sendable {
    /// Products in a page, and bytes of their ids. One product always fits.
    static let countLimit = 256
    static let textLimit = 16 << 10

    /// Where a request came from.
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

        func isSame(as other: Origin) -> Bool {
            sourceType == other.sourceType && sourceId == other.sourceId && extras == other.extras
        }
    }

    private struct Row {
        /// nil where nothing is known about it.
        var origin: Origin?
        /// The product's number, counted from the page's.
        var offset: UInt32
        /// The first byte of the product id in `text`.
        var start: UInt32
        let length: UInt16
        let type: ProductType
    }

    /// From where the numbers of this page count.
    private(set) var firstNumber: UInt32
    /// Ascending by number.
    private var rows: [Row] = []
    private var text: [UInt8] = []
    /// Bytes of `text` that no row uses any more.
    private var unused = 0

    /// - Parameter firstNumber: no number in the page is less.
    init(from firstNumber: UInt32) { self.firstNumber = firstNumber }

    var count: Int { rows.count }
    var isEmpty: Bool { rows.isEmpty }
    var byteCount: Int { text.count }

    func id(_ index: Int) -> EntryID { EntryID(firstNumber + rows[index].offset) }

    func product(_ index: Int) -> QueuedProduct {
        let row = rows[index]
        let bytes = text[Int(row.start)..<(Int(row.start) + Int(row.length))]
        return QueuedProduct(
            row.type, String(decoding: bytes, as: UTF8.self), sourceType: row.origin?.sourceType,
            sourceId: row.origin?.sourceId, extras: row.origin?.extras ?? [:])
    }

    /// The place of the first product whose number is not less.
    func firstIndex(notBefore id: EntryID) -> Int {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if self.id(middle) < id { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Whether both are the same memory: nothing was copied.
    func isSameMemory(as other: ProductPage) -> Bool {
        rows.withUnsafeBufferPointer { rows in
            other.rows.withUnsafeBufferPointer { rows.baseAddress == $0.baseAddress }
        }
    }

    // MARK: Changes

    func hasRoom(for count: Int, bytes: Int) -> Bool {
        rows.count + count <= Self.countLimit && text.count + bytes <= Self.textLimit
    }

    /// Grows as an array does, but not beyond what a page may hold.
    private mutating func makeRoom(for count: Int, bytes: Int) {
        if rows.count + count > rows.capacity {
            rows.reserveCapacity(max(rows.count + count, min(2 * rows.capacity, Self.countLimit)))
        }
        if text.count + bytes > text.capacity {
            text.reserveCapacity(max(text.count + bytes, min(2 * text.capacity, Self.textLimit)))
        }
    }

    /// All numbers become greater.
    mutating func shift(by distance: UInt32) { firstNumber += distance }

    /// - Parameter id: greater than all that are there.
    mutating func append(_ product: QueuedProduct, as id: EntryID) {
        let length = product.productId.utf8.count
        makeRoom(for: 1, bytes: length)
        rows.append(
            Row(
                origin: origin(of: product), offset: id.number - firstNumber, start: UInt32(text.count),
                length: UInt16(length), type: product.productType))
        text.append(contentsOf: product.productId.utf8)
    }

    private func origin(of product: QueuedProduct) -> Origin? {
        if product.sourceType == nil, product.sourceId == nil, product.extras.isEmpty { return nil }
        if let last = rows.last?.origin, last.isThat(of: product) { return last }
        return Origin(product)
    }

    /// - Parameter page: all its numbers are greater.
    mutating func append(_ page: ProductPage) {
        makeRoom(for: page.count, bytes: page.byteCount)
        let (distance, start) = (page.firstNumber - firstNumber, UInt32(text.count))
        // Where the same place comes up again, what is said about it is shared.
        let (first, last) = (page.rows.first?.origin, rows.last?.origin)
        let shared = if let first, let last, first.isSame(as: last) { last } else { first }
        for var row in page.rows {
            row.offset += distance
            row.start += start
            if row.origin === first { row.origin = shared }
            rows.append(row)
        }
        text += page.text
        unused += page.unused
    }

    /// - Returns: how many were removed.
    mutating func remove(_ removed: EntryIDSet) -> Int {
        guard let last = rows.last, removed.mayContain(firstNumber...(firstNumber + last.offset)) else { return 0 }
        let before = rows.count
        let first = firstNumber
        var freed = 0
        rows.removeAll { row in
            guard removed.contains(EntryID(first + row.offset)) else { return false }
            freed += Int(row.length)
            return true
        }
        unused += freed
        // Half of it at most, so that closing the gaps costs a constant share of what was removed.
        if unused > text.count / 2 { closeGaps() }
        return before - rows.count
    }

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
}
