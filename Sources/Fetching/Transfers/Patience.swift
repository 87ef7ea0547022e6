import Media

/// How often the addresses of a representation are retried before another representation is tried (docs/playback.md,
/// 15.16).
///
/// A value. Representations that may be reachable later are tried in turn, round after round:
///
///     var patience = Patience.first(of: representations.count)
///     // All have failed with these errors:
///     guard let next = patience.next(after: failures) else { throw … }
package enum Patience: Equatable {
    /// There is no other representation: retries follow the retry schedule.
    case endless
    /// The number of failed rounds through all representations.
    case rounds(Int)

    /// The retries of an address that has delivered something before; they take half a minute.
    private static let retriesOfWorking = 6
    /// The maximum number of retries. With the last one, a server that is slow to begin gets the longest deadline.
    private static let mostRetries = 4

    /// - Parameter count: the number of representations.
    package static func first(of count: Int) -> Patience { count > 1 ? .rounds(0) : .endless }

    /// Returns how often all addresses are retried; nil: by the retry schedule.
    /// - Parameter hasWorked: whether other resources have arrived from these addresses.
    func retries(hasWorked: Bool) -> Int? {
        switch self {
        case .endless: nil
        case .rounds(let count): max(count, hasWorked ? Self.retriesOfWorking : 0)
        }
    }

    /// Returns the patience for the next round.
    /// - Parameter failures: the errors of the representations that may be reachable later.
    /// - Returns: nil when there is no next round: servers that answer have been tried often enough.
    package func next(after failures: [MediaError]) -> Patience? {
        guard case .rounds(let count) = self, !failures.isEmpty else { return nil }
        if count < Self.mostRetries { return .rounds(count + 1) }
        return failures.contains { $0.isOfNetwork } ? self : nil
    }
}

extension MediaError {
    /// Whether other representations may be reachable: the network or the server has failed.
    package var isOfAddress: Bool {
        switch self {
        case .source(.network), .source(.tls): true
        case .source(.status(let status)): ServiceRefusal.isTemporary(status)
        case .source(.foreign(let status, _)): status.map { $0 >= 500 } ?? true
        default: false
        }
    }

    /// Whether the network has failed, which may end at any time.
    fileprivate var isOfNetwork: Bool { if case .source(.network) = self { true } else { false } }
}
