/// Answers that wait for their moment.
struct Reply: Sendable {
    enum Destination: Equatable, Sendable {
        case all
        case one(Endpoint)
        /// A resolver that does not know multicast DNS gets its question back, with its number.
        case legacy(Endpoint, id: UInt16, questions: [DNSQuestion])
    }

    var destination: Destination
    /// The places of the records in `OwnRecords`.
    var records: [Int]
    /// Nanoseconds.
    var due: Int64
    /// The sender of the query, when more known answers of it may come (RFC 6762, 7.2).
    var awaited: Endpoint?
}

/// All answers of one link that wait. Answers to all are merged: each record waits once.
struct Replies: Sendable {
    private(set) var all: [Reply] = []

    /// The most replies that wait: further queries are not answered, and queriers repeat them.
    private static let limit = 64

    var nextDue: Int64? { all.map { $0.due }.min() }

    mutating func add(_ reply: Reply) {
        guard all.count < Self.limit, !reply.records.isEmpty else { return }
        all.append(reply)
    }

    /// Adds a record for all, unless it is due before already.
    mutating func addForAll(_ record: Int, due: Int64) {
        for index in all.indices where Self.isForAll(all[index]) && all[index].records.contains(record) {
            if all[index].due <= due { return }
            all[index].records.removeAll { $0 == record }
        }
        if let index = all.firstIndex(where: { Self.isForAll($0) && $0.due == due }) {
            all[index].records.append(record)
        } else {
            add(Reply(destination: .all, records: [record], due: due))
        }
        all.removeAll { $0.records.isEmpty }
    }

    /// All machines of the link have got a record.
    mutating func wasSentToAll(_ record: Int) {
        for index in all.indices where all[index].destination == .all {
            all[index].records.removeAll { $0 == record }
        }
        all.removeAll { $0.records.isEmpty }
    }

    /// A further packet of a query has come.
    /// - Parameters:
    ///   - due: the new moment, when another one follows.
    ///   - isKnown: whether the sender has the record.
    mutating func sender(_ source: Endpoint, knows isKnown: (Int) -> Bool, due: Int64?) {
        for index in all.indices where all[index].awaited == source {
            all[index].records.removeAll(where: isKnown)
            if let due { all[index].due = due }
        }
        all.removeAll { $0.records.isEmpty }
    }

    mutating func takeDue(at now: Int64) -> [Reply] {
        let due = all.filter { $0.due <= now }
        all.removeAll { $0.due <= now }
        return due
    }

    mutating func removeAll() { all = [] }

    private static func isForAll(_ reply: Reply) -> Bool { reply.destination == .all && reply.awaited == nil }
}
