/// Decides which of two machines gets a name that both probe at the same time (RFC 6762, 8.2).
enum TieBreak {
    /// Whether our records come before theirs, so that theirs win. Equal records are no conflict.
    static func isLost(_ ours: [DNSRecord], against theirs: [DNSRecord]) -> Bool {
        let (ours, theirs) = (sorted(ours), sorted(theirs))
        for index in 0..<min(ours.count, theirs.count) where ours[index] != theirs[index] {
            return precedes(ours[index], theirs[index])
        }
        return ours.count < theirs.count
    }

    /// The type and the data of each record, in ascending order. The class is always the same. They are few.
    private static func sorted(_ records: [DNSRecord]) -> [[UInt8]] {
        var sorted: [[UInt8]] = []
        for record in records {
            let type = record.data.type
            let key = [UInt8(type >> 8), UInt8(truncatingIfNeeded: type)] + record.data.bytes
            var place = sorted.count
            while place > 0, precedes(key, sorted[place - 1]) { place -= 1 }
            sorted.insert(key, at: place)
        }
        return sorted
    }

    private static func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        for index in 0..<min(left.count, right.count) where left[index] != right[index] {
            return left[index] < right[index]
        }
        return left.count < right.count
    }
}
