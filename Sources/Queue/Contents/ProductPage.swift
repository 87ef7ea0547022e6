import Player

/// A few products in little memory: 24 bytes each and the bytes of their ids, which share one allocation. Products of
/// the same origin share its description.
///
/// A page is small, so any operation on one page is little work. Whole pages are passed on without a copy.
struct ProductPage: Sendable {
    /// The most products in a page, and the most bytes of their ids. One product always fits.
    static let countLimit = 256
    static let textLimit = 16 << 10

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

        func isSame(as other: Origin) -> Bool {
            sourceType == other.sourceType && sourceId == other.sourceId && extras == other.extras
        }
    }

    private struct Row {
        /// The origin; nil when it is unknown.
        var origin: Origin?
        /// The product's number, relative to the page's first number.
        var offset: UInt32
        /// The first byte of the product id in `text`.
        var start: UInt32
        let length: UInt16
        let type: ProductType
    }

    /// The base of the numbers in this page.
    private(set) var firstNumber: UInt32
    /// Ascending by number.
    private var rows: [Row] = []
    private var text: [UInt8] = []
    /// Bytes of `text` that no row uses any more.
    private var unused = 0

    /// - Parameter firstNumber: a lower bound of all numbers in the page.
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

    /// Returns the index of the first product whose number is not less.
    func firstIndex(notBefore id: EntryID) -> Int {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if self.id(middle) < id { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns whether both share the same memory, which means that nothing was copied.
    func isSameMemory(as other: ProductPage) -> Bool {
        rows.withUnsafeBufferPointer { rows in
            other.rows.withUnsafeBufferPointer { rows.baseAddress == $0.baseAddress }
        }
    }

    // MARK: Changes

    func hasRoom(for count: Int, bytes: Int) -> Bool {
        rows.count + count <= Self.countLimit && text.count + bytes <= Self.textLimit
    }

    /// Grows as an array does, but not beyond the limits of a page.
    private mutating func makeRoom(for count: Int, bytes: Int) {
        if rows.count + count > rows.capacity {
            rows.reserveCapacity(max(rows.count + count, min(2 * rows.capacity, Self.countLimit)))
        }
        if text.count + bytes > text.capacity {
            text.reserveCapacity(max(text.count + bytes, min(2 * text.capacity, Self.textLimit)))
        }
    }

    /// Adds a distance to all numbers.
    mutating func shift(by distance: UInt32) { firstNumber += distance }

    /// - Parameter id: an id that is greater than all in the page.
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

    /// - Parameter page: a page whose numbers are all greater than those in this page.
    mutating func append(_ page: ProductPage) {
        makeRoom(for: page.count, bytes: page.byteCount)
        let (distance, start) = (page.firstNumber - firstNumber, UInt32(text.count))
        // If the origin is the same, its description is shared.
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

    /// - Returns: the number of removed products.
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
        // Closes the gaps when more than half is unused, so that the cost is proportional to the removed bytes.
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
