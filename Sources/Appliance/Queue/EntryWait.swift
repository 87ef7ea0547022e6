/// The wait for an entry that cannot be played for a reason outside of it: a stick that was pulled out, a share that is
/// mounted after the player starts, a service that is away. At first only this entry is retried. Then the other entries
/// get their turn. When none of them can be played either, this entry is retried for ever.
struct EntryWait: Equatable {
    enum Cause: Equatable {
        case medium
        case service
    }

    /// How often the entry is tried before the others.
    private static let patience = 15
    /// Between attempts for a medium, in nanoseconds.
    private static let soon: Int64 = 2_000_000_000
    private static let later: Int64 = 10_000_000_000
    /// Between the first attempts for a service, in nanoseconds; then twice as long each time.
    private static let first: Int64 = 1_000_000_000
    private static let longest: Int64 = 60_000_000_000

    let cause: Cause
    let entry: EntryID
    /// The position to resume at, in seconds.
    var position: Double
    private var attempts = 1
    private var doublings = 0
    private var othersWereTried = false
    /// Another entry has failed for a reason outside of it, and may play later.
    private var othersMayPlay = false

    init(for cause: Cause, _ entry: EntryID, at position: Double) {
        self.cause = cause
        self.entry = entry
        self.position = position
    }

    private var isPatient: Bool { attempts <= Self.patience }
    /// Whether the entry is tried now, and not the others.
    var isOn: Bool { isPatient || othersWereTried }

    /// How long to wait before the next attempt, in nanoseconds.
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
    ///   - failure: why.
    mutating func letOthersTry(_ failed: EntryID, _ failure: EntryFailure) {
        othersWereTried = true
        if failed != entry, failure == .ofService || failure == .ofContent { othersMayPlay = true }
    }

    /// None of the others can be played now: this one has its turn again. They have theirs later, when that may help.
    mutating func comesBack() {
        guard cause == .service || othersMayPlay else { return }
        attempts = 1
        (othersWereTried, othersMayPlay) = (false, false)
    }

    /// What has failed over the former link says nothing about the new one.
    mutating func linkChanged() { doublings = 0 }
}
