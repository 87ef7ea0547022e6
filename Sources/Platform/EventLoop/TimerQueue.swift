/// Identifies a timer of one `EventLoop`.
public struct TimerToken: Hashable, Sendable {
    let number: UInt64
}

/// The order of an event loop's timers, without a clock.
struct TimerQueue {
    private struct Entry {
        let deadline: Int64
        let token: TimerToken
        let action: () -> Void
    }

    /// The latest first: the next timer to fire is taken from the end.
    private var entries: [Entry] = []
    private var nextNumber: UInt64 = 0
    /// How many due timers were taken.
    private(set) var takenCount = 0

    /// The deadline of the next timer, in nanoseconds of the loop's clock; nil without timers.
    var nextDeadline: Int64? { entries.last?.deadline }

    /// The number of the next timer: timers from this number on are scheduled after this moment.
    var horizon: TimerToken { TimerToken(number: nextNumber) }

    mutating func insert(deadline: Int64, _ action: @escaping () -> Void) -> TimerToken {
        let token = TimerToken(number: nextNumber)
        nextNumber += 1
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].deadline > deadline { low = middle + 1 } else { high = middle }
        }
        entries.insert(Entry(deadline: deadline, token: token, action: action), at: low)
        return token
    }

    mutating func remove(_ token: TimerToken) {
        if let index = entries.firstIndex(where: { $0.token == token }) { entries.remove(at: index) }
    }

    /// Removes and returns the next timer that is due at `now` and was scheduled before `horizon`. Timers with the same
    /// deadline are returned in the order in which they were scheduled.
    mutating func takeDue(at now: Int64, before horizon: TimerToken) -> (() -> Void)? {
        guard let next = entries.last, next.deadline <= now, next.token.number < horizon.number else { return nil }
        entries.removeLast()
        takenCount += 1
        return next.action
    }
}
