/// Decides when waiting events are sent, without a clock and without I/O: events in, effects out (docs/playback.md,
/// 19).
///
/// A run sends all waiting events in batches, one after the other, so their order is kept. A run begins 30 s after the
/// first event waits. It begins at once when 50 wait, when the way to the service is free again, and with another
/// login. With nothing to send there is no timer.
///
///     for effect in machine.handle(.waiting(1), at: clock.now()) { carryOut(effect) }
package struct DeliveryMachine {
    package enum Event: Equatable, Sendable {
        /// This many waiting events may be sent with the current login.
        case waiting(Int64)
        /// Whether requests can succeed: there is a link, a login if the service needs one, and no offline mode.
        case way(isFree: Bool)
        /// The login or its token has changed. The reason of a failure may be gone.
        case loginChanged
        /// The time of the last `setTimer`.
        case timer
        /// The batch that was read has no events.
        case nothingToSend(batch: Int)
        case answered(batch: Int, BatchAnswer)
    }

    package enum Effect: Equatable, Sendable {
        /// Read and send the oldest waiting events, at most `limit`. The answer has the number of the batch.
        case send(limit: Int, batch: Int)
        /// Remove confirmed events, and put refused ones aside.
        case settle(confirmed: [Int64], refused: [Int64])
        /// Report `.timer` at this time of the monotonic clock, in nanoseconds. It replaces an earlier one; nil cancels
        /// it.
        case setTimer(at: Int64?)
    }

    private enum State: Equatable {
        /// Nothing waits.
        case idle
        /// Events wait for the time of the next run.
        case gathering
        case sending
        /// A run has failed; the next one begins later.
        case resting
        /// Events may wait, and the service cannot be reached.
        case blocked
    }

    package static let batch = 10
    /// The number of waiting events that begins a run.
    package static let crowd: Int64 = 50
    /// The time from the first waiting event to a run, in nanoseconds.
    package static let interval: Int64 = 30_000_000_000
    /// The longest rest after failures in a row, in nanoseconds.
    static let longestRest: Int64 = 3_600_000_000_000

    private var state = State.blocked
    private var waiting: Int64 = 0
    /// The number of the last batch. The answers of earlier ones only settle their events.
    private var batch = 0
    /// The failed runs in a row.
    private var failures = 0
    /// Whether the login has changed since the last batch was read: its failure is repeated without a rest.
    private var isLoginNew = false
    /// The time at which a login has repeated a failed batch.
    private var lastRepeat: Int64?
    /// The size of the next batch: 1 after the service has refused a whole batch, to find the event that it refuses.
    private var size = Self.batch
    /// The events of a refused batch that are still to be sent one by one.
    private var singles = 0
    /// The batches in a row of which the service took and refused nothing.
    private var idleBatches = 0
    /// The number of failures after which the events are sent one by one. An event that fails again is then put aside.
    private static let patience = 5
    /// The shortest time between two failed batches that a login repeats, in nanoseconds.
    static let repeatInterval: Int64 = 10_000_000_000

    package init() {}

    package mutating func handle(_ event: Event, at now: Int64) -> [Effect] {
        switch (state, event) {
        case (.idle, .waiting(let count)):
            waiting = count
            return gather(at: now)
        case (.gathering, .waiting(let count)):
            waiting = count
            return count >= Self.crowd ? send(cancelling: true) : []
        case (_, .waiting(let count)):
            waiting = count
            return []
        case (.blocked, .way(isFree: true)):
            failures = 0
            return waiting > 0 ? send(cancelling: false) : become(.idle)
        case (_, .way(isFree: true)):
            return []
        case (_, .way(isFree: false)):
            state = .blocked
            return [.setTimer(at: nil)]
        case (.gathering, .loginChanged):
            return send(cancelling: true)
        case (.resting, .loginChanged):
            return mayRepeat(at: now) ? send(cancelling: true) : []
        case (.sending, .loginChanged):
            isLoginNew = true
            return []
        case (_, .loginChanged):
            return []
        case (.gathering, .timer), (.resting, .timer):
            return send(cancelling: false)
        case (_, .timer):
            return []
        case (.sending, .nothingToSend(batch)):
            waiting = 0
            return become(.idle)
        case (.sending, .answered(batch, let answer)):
            return answered(answer, at: now)
        // The answer of a batch that was on its way when the way was blocked.
        case (_, .answered(_, .settled(let confirmed, let refused, _))):
            return [.settle(confirmed: confirmed, refused: refused)]
        case (_, .nothingToSend), (_, .answered):
            return []
        }
    }

    /// Whether the answer of this batch is awaited.
    package func waits(forBatch number: Int) -> Bool { state == .sending && batch == number }

    private mutating func become(_ new: State) -> [Effect] {
        state = new
        return []
    }

    private mutating func gather(at now: Int64) -> [Effect] {
        guard waiting > 0 else { return become(.idle) }
        if waiting >= Self.crowd { return send(cancelling: false) }
        state = .gathering
        return [.setTimer(at: now + Self.interval)]
    }

    private mutating func send(cancelling: Bool) -> [Effect] {
        state = .sending
        isLoginNew = false
        batch += 1
        return (cancelling ? [.setTimer(at: nil)] : []) + [.send(limit: size, batch: batch)]
    }

    private mutating func answered(_ answer: BatchAnswer, at now: Int64) -> [Effect] {
        switch answer {
        case .settled(let confirmed, let refused, let left):
            let settled = confirmed.count + refused.count
            if settled == 0, !left.isEmpty {
                idleBatches += 1
                guard idleBatches >= Self.patience else { return rest(at: now, atLeast: nil) }
                guard size > 1 else { return answered(.settled(confirmed: [], refused: left, left: []), at: now) }
                (size, singles) = (1, left.count)
                return send(cancelling: false)
            }
            (failures, idleBatches) = (0, singles > 0 ? idleBatches : 0)
            waiting = max(0, waiting - Int64(settled))
            singles = max(0, singles - settled)
            if singles == 0 { size = Self.batch }
            let settle: [Effect] = settled > 0 ? [.settle(confirmed: confirmed, refused: refused)] : []
            // The service could not take some of them now.
            if !left.isEmpty { return settle + rest(at: now, atLeast: nil) }
            return settle + (waiting > 0 ? send(cancelling: false) : become(.idle))
        case .refusedBatch(let numbers):
            guard numbers.count > 1 else {
                return answered(.settled(confirmed: [], refused: numbers, left: []), at: now)
            }
            (size, singles) = (1, numbers.count)
            return send(cancelling: false)
        case .failed(let retryAfter):
            return rest(at: now, atLeast: retryAfter)
        }
    }

    /// Returns whether another login repeats a failed batch without a rest. A batch that is refused with each new token
    /// must not do so again and again.
    private mutating func mayRepeat(at now: Int64) -> Bool {
        if let lastRepeat, now - lastRepeat < Self.repeatInterval { return false }
        lastRepeat = now
        return true
    }

    /// Waits for 30 s after the first failure, and twice as long after each further one.
    private mutating func rest(at now: Int64, atLeast: Int64?) -> [Effect] {
        if isLoginNew, mayRepeat(at: now) { return send(cancelling: false) }
        state = .resting
        let delay = min(Self.interval << Int64(min(failures, 7)), Self.longestRest)
        failures += 1
        return [.setTimer(at: now + max(delay, min(atLeast ?? 0, 24 * Self.longestRest)))]
    }
}

/// The answer of the service to a batch, with the numbers of its events in the outbox.
package enum BatchAnswer: Equatable, Sendable {
    /// - left: events that the service could not take now.
    case settled(confirmed: [Int64], refused: [Int64], left: [Int64])
    /// The service refuses the batch as a whole: one of the events may be the reason.
    case refusedBatch([Int64])
    /// There was no usable answer.
    /// - retryAfter: the time that the service asks for, in nanoseconds.
    case failed(retryAfter: Int64?)
}
