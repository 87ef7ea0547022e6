import Player

/// How the fetch of a cover ends.
package enum CoverOutcome: Sendable {
    case picture(FetchedPicture)
    case failed(CoverFailure)
}

/// The fetches of covers, as a value. One cover is fetched at a time, in the order of the requests, and once for all
/// clients that wait for it. Failures are remembered, so that a hostile server is not asked again for each client.
///
///     turns.failure(of: product, at: now)    // a remembered one: the answer
///     turns.arrive(product)
///     turns.isReady(product)                 // wait for that
///     if turns.begin(product) { fetch, then turns.finish(product, outcome, at: now) }
///     turns.leave(product)                   // the outcome, once for each client
struct CoverTurns {
    private struct Turn {
        let product: String
        /// The clients that wait.
        var waiting = 1
        var isBegun = false
        var outcome: CoverOutcome?
    }

    /// The most failures that are remembered. The oldest one is forgotten first.
    static let mostFailures = 1000
    /// How long a failure is remembered, in nanoseconds: `longMemory` for a lasting one, the other for one that may end
    /// soon.
    static let longMemory: Int64 = 600_000_000_000
    static let shortMemory: Int64 = 5_000_000_000

    private var turns: [Turn] = []
    private var failures: [(product: String, failure: CoverFailure, until: Int64)] = []
    private var isOver = false

    /// The number of clients that wait.
    var waiting: Int { turns.reduce(0) { $0 + $1.waiting } }

    func failure(of product: String, at now: Int64) -> CoverFailure? {
        failures.first { $0.product.utf8.elementsEqual(product.utf8) && now < $0.until }?.failure
    }

    /// Notes that a client waits for a cover.
    mutating func arrive(_ product: String) {
        if let index = index(of: product) {
            turns[index].waiting += 1
        } else {
            turns.append(Turn(product: product, outcome: isOver ? Self.over : nil))
        }
    }

    /// Returns whether the client can continue, because there is an outcome or because it is the client's turn to
    /// fetch.
    func isReady(_ product: String) -> Bool {
        guard let index = index(of: product) else { return true }
        return turns[index].outcome != nil || isTurn(of: index)
    }

    private func isTurn(of index: Int) -> Bool {
        turns.firstIndex { $0.outcome == nil } == index && !turns[index].isBegun
    }

    /// - Returns: whether the client has to fetch the cover, and to call `finish`.
    mutating func begin(_ product: String) -> Bool {
        guard let index = index(of: product), isTurn(of: index) else { return false }
        turns[index].isBegun = true
        return true
    }

    mutating func finish(_ product: String, _ outcome: CoverOutcome, at now: Int64) {
        failures.removeAll { $0.product.utf8.elementsEqual(product.utf8) || now >= $0.until }
        if case .failed(let failure) = outcome, !isOver {
            if failures.count == Self.mostFailures { failures.removeFirst() }
            failures.append((product, failure, now + (failure.lasts ? Self.longMemory : Self.shortMemory)))
        }
        guard let index = index(of: product) else { return }
        turns[index].outcome = outcome
        turns[index].isBegun = false
    }

    /// Returns the outcome for a client, which no longer waits.
    /// - Returns: nil when there is no outcome yet.
    mutating func leave(_ product: String) -> CoverOutcome? {
        guard let index = index(of: product) else { return nil }
        let outcome = turns[index].outcome
        turns[index].waiting -= 1
        if turns[index].waiting == 0 { turns.remove(at: index) }
        return outcome
    }

    /// Ends all fetches, because the server ends. Nothing is fetched from now on.
    mutating func end() {
        isOver = true
        for index in turns.indices where turns[index].outcome == nil && !turns[index].isBegun {
            turns[index].outcome = Self.over
        }
    }

    private static let over = CoverOutcome.failed(.away("the daemon ends"))

    private func index(of product: String) -> Int? {
        turns.firstIndex { $0.product.utf8.elementsEqual(product.utf8) }
    }
}
