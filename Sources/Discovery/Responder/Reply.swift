/// Answers that wait for their moment.
struct Reply: Sendable {
    /// nil for all.
    var destination: Endpoint?
    /// The places of the records in `OwnRecords`.
    var records: [Int]
    /// Nanoseconds.
    var due: Int64
    /// The sender of the query, when more known answers of it may come (RFC 6762, 7.2).
    var awaited: Endpoint?
    /// A resolver that does not know multicast DNS gets its questions back, with their number; otherwise empty.
    var questions: [DNSQuestion] = []
    var id: UInt16 = 0
}

/// All answers of one link that wait. Answers to all are merged: each record waits once.
struct Replies: Sendable {
    private(set) var all: [Reply] = []

    /// The most replies that wait: further queries are not answered, and queriers repeat them.
    private static let limit = 64

    var nextDue: Int64? {
        var next: Int64?
        for index in all.indices { next = min(next ?? all[index].due, all[index].due) }
        return next
    }

    mutating func add(_ reply: Reply) {
        guard all.count < Self.limit, !reply.records.isEmpty else { return }
        all.append(reply)
    }

    /// Adds a record for all, unless it is due before already.
    mutating func addForAll(_ record: Int, due: Int64) {
        for index in all.indices where Self.isForAll(all[index]) && all[index].records.contains(record) {
            if all[index].due <= due { return }
            remove(record, at: index)
        }
        if let index = all.firstIndex(where: { Self.isForAll($0) && $0.due == due }) {
            all[index].records.append(record)
        } else {
            add(Reply(destination: nil, records: [record], due: due))
        }
        removeEmpty()
    }

    /// All machines of the link have got a record.
    mutating func wasSentToAll(_ record: Int) {
        for index in all.indices where all[index].destination == nil {
            remove(record, at: index)
        }
        removeEmpty()
    }

    /// A further packet of a query has come.
    /// - Parameters:
    ///   - due: the new moment, when another one follows.
    ///   - known: the records that the sender has.
    mutating func sender(_ source: Endpoint, knows known: [Int], due: Int64?) {
        for index in all.indices where all[index].awaited == source {
            for record in known { remove(record, at: index) }
            if let due { all[index].due = due }
        }
        removeEmpty()
    }

    mutating func takeDue(at now: Int64) -> [Reply] {
        var due: [Reply] = []
        for index in all.indices.reversed() where all[index].due <= now { due.append(all.remove(at: index)) }
        return due
    }

    mutating func removeAll() { all = [] }

    private mutating func removeEmpty() {
        for index in all.indices.reversed() where all[index].records.isEmpty { all.remove(at: index) }
    }

    private mutating func remove(_ record: Int, at index: Int) {
        if let place = all[index].records.firstIndex(of: record) { all[index].records.remove(at: place) }
    }

    private static func isForAll(_ reply: Reply) -> Bool { reply.destination == nil && reply.awaited == nil }
}
