/// Decides which of two machines gets a name that both probe at the same time (RFC 6762, 8.2).
enum TieBreak {
    /// Whether our records come before theirs, so that theirs win. Equal records are no conflict.
    static func isLost(_ ours: [DNSRecord], against theirs: [DNSRecord]) -> Bool {
        let (ours, theirs) = (sorted(ours), sorted(theirs))
        for (our, their) in zip(ours, theirs) {
            if precedes(our, their) { return true }
            if precedes(their, our) { return false }
        }
        return ours.count < theirs.count
    }

    private static func sorted(_ records: [DNSRecord]) -> [DNSData] { records.map { $0.data }.sorted(by: precedes) }

    /// By the type, then by the bytes of the data. The class is always the same.
    private static func precedes(_ left: DNSData, _ right: DNSData) -> Bool {
        left.type == right.type
            ? left.comparedBytes.lexicographicallyPrecedes(right.comparedBytes) : left.type < right.type
    }
}
