/// The connections of players, and which of them may stream: the subscription's privileged sessions. A value.
///
///     sessions.press(4, startedAt: 90_000)     // .privileged: all others lose it, with a limit of 1
///
/// Sessions are the numbers of connections. Times are in milliseconds of one clock that is never set.
struct PrivilegedSessions {
    enum Decision: Equatable {
        /// There is no limit, and no session loses its privilege.
        case unlimited
        /// The session is privileged; all that are not are to be notified.
        case privileged
        /// Others have pressed play later: the session itself is to be notified.
        /// - Parameter holder: the session with the latest press.
        case refused(holder: UInt64)
    }

    struct Holder: Equatable {
        var session: UInt64
        /// When the user pressed play.
        var startedAt: Int64
    }

    /// The number of sessions that may be privileged at once, at least 1; nil for no limit.
    private let limit: Int?
    /// The privileged sessions, in the order of their presses. Sessions that have ended are forgotten, because they
    /// cannot play.
    private(set) var holders: [Holder] = []

    init(limit: Int?) { self.limit = limit }

    /// Decides about a user's press. The latest presses win, in whatever order they arrive: after a partition the
    /// player continues whose user has pressed play last. If two times are equal, the press that arrives later wins.
    mutating func press(_ session: UInt64, startedAt: Int64) -> Decision {
        guard let limit else { return .unlimited }
        var new = Holder(session: session, startedAt: startedAt)
        if let index = holders.firstIndex(where: { $0.session == session }) {
            new.startedAt = max(startedAt, holders.remove(at: index).startedAt)
        } else if holders.count >= limit, let first = holders.first, let last = holders.last {
            if first.startedAt > startedAt { return .refused(holder: last.session) }
            holders.removeFirst()
        }
        let place = holders.firstIndex { $0.startedAt > new.startedAt } ?? holders.count
        holders.insert(new, at: place)
        return .privileged
    }

    func isPrivileged(_ session: UInt64) -> Bool { holders.contains { $0.session == session } }

    mutating func end(_ session: UInt64) { holders.removeAll { $0.session == session } }
}
