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
    private var othersWereTried: Bool

    /// - Parameter othersWereTried: whether the other entries have failed too.
    init(for cause: Cause, _ entry: EntryID, at position: Double, othersWereTried: Bool = false) {
        self.cause = cause
        self.entry = entry
        self.position = position
        self.othersWereTried = othersWereTried
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

    mutating func letOthersTry() { othersWereTried = true }

    /// Another entry has failed for the same reason: this one has its turn again.
    mutating func beginAgain() {
        attempts = 1
        othersWereTried = false
    }

    /// What has failed over the former link says nothing about the new one.
    mutating func linkChanged() { doublings = 0 }
}
