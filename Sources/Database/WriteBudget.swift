/// Bounds how often the medium is written without anybody waiting for it: a flash card wears out. A token bucket, as a
/// value; time comes from outside.
public struct WriteBudget: Sendable {
    /// So many writes in a row are free.
    public static let capacity: Int64 = 12
    /// One more every 5 s, in nanoseconds: 12 a minute for as long as it lasts.
    public static let interval: Int64 = 5_000_000_000

    private var tokens: Int64
    /// Up to when tokens were given.
    private var time: Int64

    public init(at now: Int64) {
        tokens = Self.capacity
        time = now
    }

    /// Nanoseconds until a write that can wait may run; 0 when it may now.
    public func delay(at now: Int64) -> Int64 {
        let refilled = refilled(at: now)
        return refilled.tokens > 0 ? 0 : max(0, Self.interval - (now - refilled.time))
    }

    /// A write runs. One that cannot wait counts as well, but no debt is kept.
    public mutating func spend(at now: Int64) {
        self = refilled(at: now)
        tokens = max(0, tokens - 1)
    }

    private func refilled(at now: Int64) -> WriteBudget {
        var budget = self
        let passed = max(0, now - time) / Self.interval
        budget.tokens = min(Self.capacity, tokens + min(passed, Self.capacity))
        // A full bucket does not save up time.
        budget.time = budget.tokens == Self.capacity ? max(time, now) : time + passed * Self.interval
        return budget
    }
}
