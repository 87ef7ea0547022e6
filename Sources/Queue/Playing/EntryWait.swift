/// The wait for an entry that cannot be played for an outside reason: a stick was pulled out, a share is not mounted
/// yet, or a service is away. At first only this entry is retried, then the other entries. If none of them can be
/// played either, this entry is retried without end.
struct EntryWait: Equatable {
    enum Cause: Equatable {
        case medium
        case service
    }

    /// The number of attempts before the other entries are tried.
    private static let patience = 15
    /// The time between attempts for a medium, in nanoseconds.
    private static let soon: Int64 = 2_000_000_000
    private static let later: Int64 = 10_000_000_000
    /// The time between the first attempts for a service, in nanoseconds; it doubles each time.
    private static let first: Int64 = 1_000_000_000
    private static let longest: Int64 = 60_000_000_000

    let cause: Cause
    let entry: EntryID
    /// The position to resume at, in seconds.
    var position: Double
    private var attempts = 1
    private var doublings = 0
    private var othersWereTried = false
    /// Whether another entry has failed for an outside reason, and may play later.
    private var othersMayPlay = false

    init(for cause: Cause, _ entry: EntryID, at position: Double) {
        self.cause = cause
        self.entry = entry
        self.position = position
    }

    private var isPatient: Bool { attempts <= Self.patience }
    /// Whether this entry is retried now, instead of the others.
    var isOn: Bool { isPatient || othersWereTried }

    /// Returns how long to wait before the next attempt, in nanoseconds.
    mutating func interval() -> Int64 {
        attempts += 1
        switch cause {
        case .medium: return isPatient ? Self.soon : Self.later
        case .service:
            defer { doublings = min(doublings + 1, 6) }
            return min(Self.first << Int64(doublings), Self.longest)
        }
    }

    /// - Parameters:
    ///   - failed: the entry that has failed now.
    ///   - failure: the reason.
    mutating func letOthersTry(_ failed: EntryID, _ failure: EntryFailure) {
        othersWereTried = true
        if failed != entry, failure == .ofService || failure == .ofContent { othersMayPlay = true }
    }

    /// Retries this entry again, because none of the others can be played now. The others are tried again later if any
    /// of them failed for an outside reason.
    mutating func comesBack() {
        guard cause == .service || othersMayPlay else { return }
        attempts = 1
        (othersWereTried, othersMayPlay) = (false, false)
    }

    /// Resets the delay: failures over the former link prove nothing about the new one.
    mutating func linkChanged() { doublings = 0 }
}
