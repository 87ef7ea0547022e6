import Media

/// How often the addresses of a representation are asked again before another representation is tried
/// (docs/playback.md, 15.16).
///
/// A value. The representations that can be reached later are tried in turn, round after round:
///
///     var patience = Patience.first(of: representations.count)
///     // All have failed with these errors:
///     guard let next = patience.next(after: failures) else { throw … }
enum Patience: Equatable {
    /// There is no other representation: as often as the schedule of retries says.
    case endless
    /// So many rounds through all representations have failed.
    case rounds(Int)

    /// An address that has brought something before is asked again so often: half a minute passes meanwhile.
    private static let retriesOfWorking = 6
    /// A server whose first byte takes long gets its longest deadline with this retry.
    private static let mostRetries = 4

    /// - Parameter count: of the representations.
    static func first(of count: Int) -> Patience { count > 1 ? .rounds(0) : .endless }

    /// How often all addresses are asked again; nil: as the schedule says.
    /// - Parameter hasWorked: whether other resources have come from there.
    func retries(hasWorked: Bool) -> Int? {
        switch self {
        case .endless: nil
        case .rounds(let count): max(count, hasWorked ? Self.retriesOfWorking : 0)
        }
    }

    /// For the next round.
    /// - Parameter failures: why the representations have failed that can be reached later.
    /// - Returns: nil when there is none: servers that answer have been asked often enough.
    func next(after failures: [MediaError]) -> Patience? {
        guard case .rounds(let count) = self, !failures.isEmpty else { return nil }
        if count < Self.mostRetries { return .rounds(count + 1) }
        return failures.contains { $0.isOfNetwork } ? self : nil
    }
}

extension MediaError {
    /// Whether other representations may be reached: the network, or the server has failed.
    var isOfAddress: Bool {
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
