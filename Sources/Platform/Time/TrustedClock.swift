/// Stores the proved time across restarts.
public protocol TrustedTimeStore: AnyObject, Sendable {
    /// Returns the last saved record; nil when there is none, or it cannot be read.
    func load() -> TrustedTime.Record?
    /// Saves durably and soon. A failure is logged, and the time still advances. Does not block.
    func save(_ record: TrustedTime.Record)
}

/// The trusted time, read and stored. Any thread.
/// `@unchecked Sendable` is safe because `lock` guards the mutable state.
public final class TrustedClock: @unchecked Sendable {
    public struct Reading: Equatable, Sendable {
        /// Milliseconds since 1970, UTC; nil when the time was never proved. It decreases only when a proof replaces an
        /// estimate, or when two proofs agree that the known time was wrong.
        public let milliseconds: Int64?
        /// Whether the time was proved since the system's start. Otherwise it is the earliest possible time, because
        /// the duration of the power cut is unknown.
        public let isProved: Bool
        /// The best estimate of the time, in milliseconds since 1970. Nothing may expire by it, because a clock or a
        /// server that is not verified can report any time.
        public let estimate: Int64?
        /// Nanoseconds since the system's start, suspended time included, and that start.
        public let sinceBoot: Int64
        public let boot: String
    }

    private let source: any SystemTimeSource
    /// nil for a clock that starts over with each process.
    private let store: (any TrustedTimeStore)?
    private let lock = Lock()
    private var time: TrustedTime
    private var saved: TrustedTime.Record?

    public init(store: (any TrustedTimeStore)?, source: any SystemTimeSource = KernelTimeSource()) {
        self.source = source
        self.store = store
        saved = store?.load()
        time = TrustedTime(from: saved, at: source.read())
    }

    /// Returns the time now. A synchronised system clock proves it.
    public func read() -> Reading {
        lock.withLock {
            let now = source.read()
            time.observe(now)
            save(at: now)
            return Reading(
                milliseconds: time.milliseconds(at: now), isProved: time.isProved,
                estimate: time.estimate(at: now), sinceBoot: now.sinceBoot, boot: now.boot)
        }
    }

    /// Records that a server has just reported `milliseconds` since 1970, a time at which its certificate is valid.
    public func proveByServer(_ milliseconds: Int64) {
        lock.withLock {
            let now = source.read()
            time.proveByServer(milliseconds, at: now)
            save(at: now)
        }
    }

    /// Records that a server has just reported `milliseconds` since 1970, over a connection that proves nothing.
    public func reportByServer(_ milliseconds: Int64) {
        lock.withLock { time.reportByServer(milliseconds, at: source.read()) }
    }

    private func save(at now: SystemTime) {
        guard let store, time.isWorthSaving(after: saved, at: now), let record = time.record(at: now) else { return }
        store.save(record)
        saved = record
    }
}
