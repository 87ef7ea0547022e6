import Platform

/// The connections of a server: which of them is late with its request, and which one makes room for another. A value.
///
///     var table = ConnectionTable(limit: 96, patience: 60_000_000_000)
///     table.open(7, network, at: now)      // nil: there is room
///     table.receive(7, at: now)            // its request is complete
///     table.answered(7, at: now)           // the next one is due within the patience
///     table.late(at: now)                  // the connections to end
struct ConnectionTable {
    private struct Connection {
        var client: ClientPlaces.Client
        /// The time by which its next request has to be complete; nil while one is answered.
        var due: Int64?
        /// Whether it ends.
        var isEnding = false

        var descriptor: Int32 { Int32(truncatingIfNeeded: client.number) }
    }

    private let places: ClientPlaces
    private let patience: Int64
    private var all: [Connection] = []

    /// - Parameters:
    ///   - limit: the maximum number of connections.
    ///   - patience: how long a complete request may take from the beginning of the connection, or from the end of the
    ///     answer before it, in nanoseconds. A client that sends a byte now and then has no longer.
    init(limit: Int, patience: Int64) {
        places = ClientPlaces(limit: limit)
        self.patience = patience
    }

    /// Takes a connection.
    /// - Returns: the connection to end for it, or itself when there is no room; nil when there is.
    mutating func open(_ descriptor: Int32, _ network: [UInt8], at now: Int64) -> Int32? {
        let decision = places.decide(for: network, among: all.compactMap { $0.isEnding ? nil : $0.client })
        let client = ClientPlaces.Client(number: UInt64(descriptor), network: network, lastRequest: now)
        all.append(Connection(client: client, due: now + patience))
        let ending: Int32
        switch decision {
        case .welcome: return nil
        case .replace(let number): ending = Int32(truncatingIfNeeded: number)
        case .refuse: ending = descriptor
        }
        change(ending) { $0.isEnding = true }
        return ending
    }

    /// Notes that a request is complete.
    mutating func receive(_ descriptor: Int32, at now: Int64) {
        change(descriptor) {
            $0.client.lastRequest = now
            $0.due = nil
        }
    }

    /// Notes that an answer is complete.
    mutating func answered(_ descriptor: Int32, at now: Int64) {
        let due = now + patience
        change(descriptor) { $0.due = due }
    }

    mutating func close(_ descriptor: Int32) { all.removeAll { $0.descriptor == descriptor } }

    /// Returns the connections whose request is late, each once.
    mutating func late(at now: Int64) -> [Int32] {
        var late: [Int32] = []
        for index in all.indices {
            guard !all[index].isEnding, let due = all[index].due, due <= now else { continue }
            all[index].isEnding = true
            late.append(all[index].descriptor)
        }
        return late
    }

    /// The time at which the next connection is late; nil when no request is awaited.
    var nextDue: Int64? { all.lazy.filter { !$0.isEnding }.compactMap { $0.due }.min() }

    private mutating func change(_ descriptor: Int32, _ body: (inout Connection) -> Void) {
        if let index = all.firstIndex(where: { $0.descriptor == descriptor }) { body(&all[index]) }
    }
}
