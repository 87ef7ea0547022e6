/// The requested part of a list.
package struct ListPage: Equatable, Sendable {
    /// The most entries.
    package var limit: Int64
    /// The number of entries before the first one, from 0.
    package var offset: Int64

    package init(limit: Int64, offset: Int64 = 0) {
        self.limit = limit
        self.offset = offset
    }
}

/// A part of a list, and the length of the whole list.
package struct ListPart<Entry> {
    package var total: Int64
    package var entries: [Entry]

    package init(total: Int64, entries: [Entry]) {
        self.total = total
        self.entries = entries
    }
}

extension ListPart: Sendable where Entry: Sendable {}
extension ListPart: Equatable where Entry: Equatable {}
