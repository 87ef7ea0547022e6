import Player

/// The entries of the queue by id, in pages: 24 bytes an entry and the bytes of its product id. A copy shares the
/// pages; a change copies only the shared pages that it changes.
struct EntryTable: Sendable {
    static let productIdLimit = Int(UInt16.max)

    /// The pages, ascending by id: ids are assigned in the order of arrival. None is empty.
    private(set) var pages: [ProductPage] = []
    private(set) var count = 0

    /// The bytes of the product ids, including removed ones that still take memory.
    var byteCount: Int { pages.reduce(0) { $0 + $1.byteCount } }

    /// All ids, ascending.
    var ids: [EntryID] {
        var ids: [EntryID] = []
        ids.reserveCapacity(count)
        for page in pages { for index in 0..<page.count { ids.append(page.id(index)) } }
        return ids
    }

    func contains(_ id: EntryID) -> Bool { place(of: id) != nil }

    /// Returns nil when there is no such entry.
    subscript(_ id: EntryID) -> QueuedProduct? { place(of: id).map { pages[$0.page].product($0.index) } }

    /// The entries with this id and greater ones, ascending.
    func entries(from id: EntryID) -> [QueueEntry] {
        let pages = pages[(pageIndex(for: id) ?? 0)...]
        var entries: [QueueEntry] = []
        entries.reserveCapacity(pages.reduce(0) { $0 + $1.count - $1.firstIndex(notBefore: id) })
        for page in pages {
            for index in page.firstIndex(notBefore: id)..<page.count {
                entries.append(QueueEntry(id: page.id(index), product: page.product(index)))
            }
        }
        return entries
    }

    // MARK: Changes

    /// Adds an entry.
    /// - Parameter id: greater than all ids in the table.
    mutating func append(_ product: QueuedProduct, as id: EntryID) {
        if pages.last?.hasRoom(for: 1, bytes: product.productId.utf8.count) != true {
            pages.append(ProductPage(from: id.number))
        }
        pages[pages.count - 1].append(product, as: id)
        count += 1
    }

    /// Adds entries. Copies one page at most, however many there are.
    /// - Parameter first: the id of the first product, greater than all ids in the table. The others follow without a
    ///   gap.
    mutating func append(_ products: PackedProducts, from first: EntryID) {
        for var page in products.pages {
            page.shift(by: first.number)
            pages.append(joining: page)
        }
        count += products.count
    }

    /// Removes the entries that are in the set.
    mutating func remove(_ removed: EntryIDSet) {
        var removedCount = 0
        for index in pages.indices { removedCount += pages[index].remove(removed) }
        if removedCount == 0 { return }
        count -= removedCount
        // Small pages are joined; otherwise many of them would remain.
        let all = pages
        pages.removeAll()
        for page in all { pages.append(joining: page) }
    }

    mutating func removeAll() { self = EntryTable() }

    // MARK: Places

    private func place(of id: EntryID) -> (page: Int, index: Int)? {
        guard let page = pageIndex(for: id) else { return nil }
        let index = pages[page].firstIndex(notBefore: id)
        return index < pages[page].count && pages[page].id(index) == id ? (page, index) : nil
    }

    /// The page that would have the entry; nil before the first one.
    private func pageIndex(for id: EntryID) -> Int? {
        var (low, high) = (0, pages.count)
        while low < high {
            let middle = (low + high) / 2
            if pages[middle].firstNumber <= id.number { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? low - 1 : nil
    }
}
