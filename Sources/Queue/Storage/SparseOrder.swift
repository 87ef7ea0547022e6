/// The order of entries in the database: each entry has a key, and the keys ascend with gaps between them. Adding,
/// removing or moving an entry changes one row.
struct SparseOrder: Sendable {
    /// The rows that change. If `isRewrite`, all old rows are removed, and `deletedKeys` is ignored.
    struct Change: Equatable, Sendable {
        struct Row: Equatable, Sendable {
            let key: Int64
            let id: EntryID
        }

        var isRewrite = false
        var deletedKeys: [Int64] = []
        var insertedRows: [Row] = []
        /// The entries of the deleted rows that were removed, without those that were moved.
        var gone: [EntryID] = []

        var isEmpty: Bool { !isRewrite && deletedKeys.isEmpty && insertedRows.isEmpty }
    }

    /// The gap between neighbours after a rewrite. Each insertion at one position halves the gap, so one position
    /// allows 40 insertions before the order is rewritten.
    private static let gap: Int64 = 1 << 40

    private(set) var ids: [EntryID]
    private var keys: [Int64]

    init() {
        ids = []
        keys = []
    }

    /// The rows in the database, with ascending keys.
    init(_ rows: [Change.Row]) {
        ids = rows.map { $0.id }
        keys = rows.map { $0.key }
    }

    /// Changes the order to `new`.
    /// - Parameters:
    ///   - isNew: returns whether an entry was added since the last update.
    ///   - isGone: returns whether an entry was removed.
    mutating func update(
        to new: [EntryID], isNew: (EntryID) -> Bool, isGone: (EntryID) -> Bool
    ) -> Change {
        if ids == new { return Change() }
        if ids.isEmpty || new.isEmpty { return rewrite(new, isGone) }
        let part = changedPart(new)
        switch walk(part, new, isNew, isGone, moved: nil) {
        case .rows(let edit): return apply(edit, to: part, new)
        case .mismatch(let old, let other):
            // An entry that was moved forward is missing at its old position. One that was moved back is found too
            // early.
            for moved in [old, other] {
                if case .rows(let edit) = walk(part, new, isNew, isGone, moved: moved) {
                    return apply(edit, to: part, new)
                }
            }
            return rewrite(new, isGone)
        case .noRoom: return rewrite(new, isGone)
        }
    }

    /// The part in which the two orders differ. The entries before and after it are equal.
    private struct Part {
        var old: Range<Int>
        var new: Range<Int>
    }

    private func changedPart(_ new: [EntryID]) -> Part {
        let shorter = min(ids.count, new.count)
        var start = 0
        while start < shorter, ids[start] == new[start] { start += 1 }
        var (oldEnd, newEnd) = (ids.count, new.count)
        while oldEnd > start, newEnd > start, ids[oldEnd - 1] == new[newEnd - 1] {
            oldEnd -= 1
            newEnd -= 1
        }
        return Part(old: start..<oldEnd, new: start..<newEnd)
    }

    /// Removes the whole order.
    mutating func clear() -> Change {
        if ids.isEmpty { return Change() }
        self = SparseOrder()
        return Change(isRewrite: true)
    }

    private enum Walk {
        case rows(Edit)
        /// An entry of the old order that is not at its position, and the entry that is at its position instead.
        case mismatch(EntryID, EntryID)
        /// There are too many entries in one gap.
        case noRoom
    }

    private struct Edit {
        var change = Change()
        /// The keys of the changed part's entries in the new order.
        var keys: [Int64] = []
    }

    private func walk(
        _ part: Part, _ new: [EntryID], _ isNew: (EntryID) -> Bool, _ isGone: (EntryID) -> Bool, moved: EntryID?
    ) -> Walk {
        var edit = Edit()
        var old = part.old.lowerBound
        let end = part.old.upperBound
        /// The number of the last entries of the new order that have no key yet.
        var waiting = 0
        func delete() {
            edit.change.deletedKeys.append(keys[old])
            if ids[old] != moved { edit.change.gone.append(ids[old]) }
            old += 1
        }
        func give(keysBefore upper: Int64?) -> Bool {
            defer { waiting = 0 }
            guard waiting > 0 else { return true }
            let lower = edit.keys.last ?? (part.old.lowerBound > 0 ? self.keys[part.old.lowerBound - 1] : nil)
            guard let keys = Self.keys(waiting, after: lower, before: upper) else { return false }
            let first = part.new.lowerBound + edit.keys.count
            for (offset, key) in keys.enumerated() {
                edit.keys.append(key)
                edit.change.insertedRows.append(Change.Row(key: key, id: new[first + offset]))
            }
            return true
        }
        for id in new[part.new] {
            while old < end, ids[old] != id, ids[old] == moved || isGone(ids[old]) { delete() }
            if id == moved, old < end, ids[old] == moved {
                // The entry did not move relative to its neighbour.
                delete()
                waiting += 1
            } else if id == moved || isNew(id) {
                waiting += 1
            } else if old < end, ids[old] == id {
                guard give(keysBefore: keys[old]) else { return .noRoom }
                edit.keys.append(keys[old])
                old += 1
            } else {
                return .mismatch(old < end ? ids[old] : id, id)
            }
        }
        while old < end { delete() }
        return give(keysBefore: end < ids.count ? keys[end] : nil) ? .rows(edit) : .noRoom
    }

    private mutating func apply(_ edit: Edit, to part: Part, _ new: [EntryID]) -> Change {
        ids = new
        keys.replaceSubrange(part.old, with: edit.keys)
        var change = edit.change
        if change.insertedRows.count == new.count {
            change.deletedKeys = []
            change.isRewrite = true
        }
        return change
    }

    private mutating func rewrite(_ new: [EntryID], _ isGone: (EntryID) -> Bool) -> Change {
        let gone = ids.filter(isGone)
        ids = new
        keys = new.indices.map { Int64($0 + 1) * Self.gap }
        return Change(isRewrite: true, insertedRows: zip(keys, ids).map { Change.Row(key: $0, id: $1) }, gone: gone)
    }

    /// Returns `count` ascending keys between two others; nil when the gap is too small.
    private static func keys(_ count: Int, after lower: Int64?, before upper: Int64?) -> [Int64]? {
        switch (lower, upper) {
        case (let lower, nil):
            let start = lower ?? 0
            let overflow = start.addingReportingOverflow(Int64(count) * gap).overflow
            return overflow ? nil : (1...count).map { start + Int64($0) * gap }
        case (let lower, let upper?):
            // Before the first key there is room down to the smallest integer.
            let (first, isBelow) = upper.subtractingReportingOverflow(Int64(count + 1) * gap)
            guard let start = lower ?? (isBelow ? nil : first) else { return nil }
            // The distance of keys that were read may exceed the range of the type.
            let (room, isTooLarge) = upper.subtractingReportingOverflow(start)
            let step = isTooLarge ? gap : room / Int64(count + 1)
            // The gap is too small: keys would leave it, or be equal.
            return start < upper && step > 0 ? (1...count).map { start + Int64($0) * step } : nil
        }
    }
}
