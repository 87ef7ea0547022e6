import Platform

/// Why a stream waits, apart from bytes that are simply on their way.
public enum StreamWait: Equatable, Sendable {
    /// The network has failed. Another link ends the wait at once.
    /// - Parameter seconds: the time until the next attempt; 0 during an attempt.
    case network(seconds: Double)
    /// The service failed, or asked to wait (5XX and 429).
    /// - Parameter seconds: the time until the next attempt; 0 during an attempt.
    case service(seconds: Double)

    /// The time until the next attempt; 0 during an attempt.
    package var seconds: Double {
        switch self {
        case .network(let seconds), .service(let seconds): seconds
        }
    }
}

/// The progress of a product's transfers: the audio that is buffered for the decoder, and the reason why they wait.
///
/// Thread: any. The threads of the decoder and the network write it. A status reads it on other threads.
/// `@unchecked Sendable` is safe because `lock` guards the mutable state.
package final class StreamProgress: @unchecked Sendable {
    /// Why a transfer is retried, and when: in nanoseconds of the clock.
    enum Retry: Equatable, Sendable {
        case network(at: Int64)
        case service(at: Int64)
    }

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
    /// Called when a wait for a retry has begun, and when none is left: `wait` has changed. Any thread.
    private let waitChanged: (@Sendable () -> Void)?
    private let lock = Lock()
    private var lastID = 0
    private var retries: [(id: Int, retry: Retry)] = []
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
            switch failure {
            case .network: retries.append((id, .network(at: time)))
            case .server: retries.append((id, .service(at: time)))
            }
            return isFirst
        }
        if isFirst { waitChanged?() }
    }

    /// Notes that the transfer runs again, or has ended.
    package func goesOn(_ id: Int) {
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
    package var wait: StreamWait? {
        let now = clock.now()
        func seconds(_ time: Int64) -> Double { Double(max(0, time - now)) / 1e9 }
        var latest: (time: Int64, wait: StreamWait)?
        for (_, retry) in lock.withLock({ retries }) {
            let (time, wait): (Int64, StreamWait) =
                switch retry {
                case .network(let time): (time, .network(seconds: seconds(time)))
                case .service(let time): (time, .service(seconds: seconds(time)))
                }
            if time >= latest?.time ?? .min { latest = (time, wait) }
        }
        return latest?.wait
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
