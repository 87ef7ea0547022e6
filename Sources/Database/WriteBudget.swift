/// Limits how often the medium is written for work that can wait: a flash card wears out. A token bucket as a value;
/// time is an argument.
public struct WriteBudget: Sendable {
    /// The number of writes in a row that are free.
    public static let capacity: Int64 = 12
    /// The time until one more write is free, in nanoseconds: 12 a minute.
    public static let interval: Int64 = 5_000_000_000

    private var tokens: Int64
    /// The time up to which tokens were added.
    private var time: Int64

    public init(at now: Int64) {
        tokens = Self.capacity
        time = now
    }

    /// Returns the nanoseconds until a write that can wait may run; 0 when it may run now.
    public func delay(at now: Int64) -> Int64 {
        let refilled = refilled(at: now)
        return refilled.tokens > 0 ? 0 : max(0, Self.interval - (now - refilled.time))
    }

    /// Counts a write. A write that cannot wait counts too, but the number of tokens does not fall below 0.
    public mutating func spend(at now: Int64) {
        self = refilled(at: now)
        tokens = max(0, tokens - 1)
    }

    private func refilled(at now: Int64) -> WriteBudget {
        var budget = self
        let passed = max(0, now - time) / Self.interval
        budget.tokens = min(Self.capacity, tokens + min(passed, Self.capacity))
        // A full bucket collects no more.
        budget.time = budget.tokens == Self.capacity ? max(time, now) : time + passed * Self.interval
        return budget
    }
}
