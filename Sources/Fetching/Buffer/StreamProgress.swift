import Platform

/// The progress of a product's transfers: the audio that is buffered for the decoder, and the reason why they wait.
///
/// Thread: any. The threads of the decoder and the network write it. A status reads it on other threads.
/// `@unchecked Sendable` is safe because `lock` guards the mutable state.
package final class StreamProgress: @unchecked Sendable {
    /// The event that wakes a sleeping decoder thread.
    package enum Arrival {
        /// More bytes, or the end of a transfer.
        case bytes
        /// The end of a transfer.
        case end
    }

    /// The cookies of the product's transfers.
    let cookies = ProductCookies()
    private let clock: any MonotonicClock
    /// Called on any thread when `wait` has changed, because a wait for a retry has begun or the last one has ended.
    private let waitChanged: (@Sendable () -> Void)?
    private let lock = Lock()
    private var lastID = 0
    /// Why transfers are retried, and when: in nanoseconds of the clock.
    private var retries: [(id: Int, failure: RetrySchedule.Failure, time: Int64)] = []
    private var stretches: [(id: Int, stretch: BufferedStretch)] = []
    private var awaited: (arrival: Arrival, sleeper: WakeUp)?

    package init(clock: any MonotonicClock = SystemMonotonicClock(), waitChanged: (@Sendable () -> Void)? = nil) {
        self.clock = clock
        self.waitChanged = waitChanged
    }

    package func newID() -> Int {
        lock.withLock {
            lastID += 1
            return lastID
        }
    }

    // MARK: From transfers

    /// Notes that the transfer is retried after `delay` nanoseconds.
    package func willRetry(_ id: Int, after failure: RetrySchedule.Failure, delay: Int64) {
        let time = clock.now() + delay
        let isFirst = lock.withLock {
            let isFirst = retries.isEmpty
            retries.removeAll { $0.id == id }
            retries.append((id, failure, time))
            return isFirst
        }
        if isFirst { waitChanged?() }
    }

    /// Notes that the transfer runs again, or has ended.
    package func proceeds(_ id: Int) {
        let isOver = lock.withLock {
            guard !retries.isEmpty else { return false }
            retries.removeAll { $0.id == id }
            return retries.isEmpty
        }
        if isOver { waitChanged?() }
    }

    /// Wakes the sleeper: bytes have arrived, or a transfer has ended.
    func arrived(_ arrival: Arrival) {
        let sleeper: WakeUp? = lock.withLock {
            guard let awaited, awaited.arrival == .bytes || arrival == .end else { return nil }
            self.awaited = nil
            return awaited.sleeper
        }
        sleeper?.signal()
    }

    // MARK: From the decoder thread

    /// Wakes `sleeper` once, at the next arrival. Replaces an earlier call.
    package func wake(_ sleeper: WakeUp, at arrival: Arrival) { lock.withLock { awaited = (arrival, sleeper) } }

    /// Whether a sleeper waits for an arrival. For tests.
    var isAwaited: Bool { lock.withLock { awaited != nil } }

    func show(_ id: Int, _ stretch: BufferedStretch) {
        lock.withLock {
            stretches.removeAll { $0.id == id }
            stretches.append((id, stretch))
        }
    }

    func forget(_ id: Int) { lock.withLock { stretches.removeAll { $0.id == id } } }

    // MARK: For a status

    /// The wait that ends last; nil when no transfer waits.
    package var wait: WaitReason? {
        let now = clock.now()
        // The newest one counts when several end at the same time.
        let last = lock.withLock { retries }.reversed().max { $0.time < $1.time }
        return last.map { WaitReason($0.failure, seconds: Double(max(0, $0.time - now)) / 1e9) }
    }

    /// The seconds of audio that have arrived but are not decoded; nil for a product that is not streamed.
    package var bufferedSeconds: Double? {
        let stretches = lock.withLock { self.stretches }
        guard !stretches.isEmpty else { return nil }
        return stretches.reduce(0) { $0 + $1.stretch.bufferedSeconds }
    }

    /// The buffered audio, to decide whether enough has arrived.
    package var buffered: BufferedAudio { BufferedAudio(lock.withLock { stretches.map { $0.stretch } }) }
}
