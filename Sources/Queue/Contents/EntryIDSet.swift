/// Entries that are removed together.
struct EntryIDSet {
    /// The largest range of ids for which a bit per id is stored. For a larger range, the sorted ids are searched.
    private static let bitLimit: UInt32 = 1 << 22

    private let first: UInt32
    private let last: UInt32
    /// A bit for each number from `first` to `last`; empty when the range is too large.
    private var bits: [UInt64] = []
    /// The ids in ascending order; empty if `bits` is used.
    private var sorted: [EntryID] = []

    init(_ ids: [EntryID]) {
        var (first, last) = (UInt32.max, UInt32(0))
        for id in ids {
            first = min(first, id.number)
            last = max(last, id.number)
        }
        (self.first, self.last) = (first, last)
        guard first <= last else { return }
        guard last - first < Self.bitLimit else {
            sorted = ids.sorted()
            return
        }
        bits = [UInt64](repeating: 0, count: Int((last - first) / 64 + 1))
        for id in ids { bits[Int((id.number - first) / 64)] |= 1 << UInt64((id.number - first) % 64) }
    }

    /// Returns false when none of these numbers is in the set.
    func mayContain(_ numbers: ClosedRange<UInt32>) -> Bool {
        first <= last && numbers.lowerBound <= last && numbers.upperBound >= first
    }

    func contains(_ id: EntryID) -> Bool {
        guard id.number >= first, id.number <= last else { return false }
        if bits.isEmpty { return isFound(id) }
        let bit = id.number - first
        return bits[Int(bit / 64)] >> UInt64(bit % 64) & 1 == 1
    }

    private func isFound(_ id: EntryID) -> Bool {
        var low = 0
        var high = sorted.count
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle] == id { return true }
            if sorted[middle] < id { low = middle + 1 } else { high = middle }
        }
        return false
    }
}
