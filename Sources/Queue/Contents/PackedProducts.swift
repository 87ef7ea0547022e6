import Player

/// Products that will be added to the queue, in the pages that the queue uses. They are packed on a thread that has
/// time for it, such as that of a search. The queue then takes whole pages and copies next to nothing
/// (docs/decisions/queue-of-100000.md).
package struct PackedProducts: Sendable {
    /// The pages, numbered from 0 without a gap.
    private(set) var pages: [ProductPage] = []
    package private(set) var count = 0
    /// Whether a product was left out because its id is too long for the queue.
    private(set) var hasTooLongID = false

    package init() {}

    package init(_ products: some Sequence<QueuedProduct>) {
        for product in products { append(product) }
    }

    /// The bytes of the ids.
    var byteCount: Int { pages.reduce(0) { $0 + $1.byteCount } }

    var isEmpty: Bool { count == 0 }

    /// The products' ids, in order.
    package var ids: [String] {
        pages.flatMap { page in (0..<page.count).map { page.product($0).productId } }
    }

    package mutating func append(_ product: QueuedProduct) {
        let length = product.productId.utf8.count
        if length > EntryTable.productIdLimit {
            hasTooLongID = true
            return
        }
        if pages.last?.hasRoom(for: 1, bytes: length) != true { pages.append(ProductPage(from: UInt32(count))) }
        pages[pages.count - 1].append(product, as: EntryID(UInt32(count)))
        count += 1
    }

    /// Appends products. Copies at most one page.
    package mutating func append(contentsOf more: PackedProducts) {
        let distance = UInt32(count)
        for var page in more.pages {
            page.shift(by: distance)
            pages.append(joining: page)
        }
        count += more.count
        hasTooLongID = hasTooLongID || more.hasTooLongID
    }
}

extension [ProductPage] {
    /// Appends a page, or adds its products to the last page if that page has room for all of them.
    /// - Parameter page: a page whose numbers are all greater than those in the array.
    mutating func append(joining page: ProductPage) {
        if page.isEmpty { return }
        if last?.hasRoom(for: page.count, bytes: page.byteCount) == true {
            self[count - 1].append(page)
        } else {
            append(page)
        }
    }
}
