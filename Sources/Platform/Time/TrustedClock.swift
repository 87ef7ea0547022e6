/// Stores the proved time across restarts.
public protocol TrustedTimeStore: AnyObject {
    /// The last saved record; nil when there is none, or it cannot be read.
    func load() -> TrustedTime.Record?
    /// Saves durably. A failure is logged, and the time still advances.
    func save(_ record: TrustedTime.Record)
}

/// The trusted time, read and stored. Thread: control.
public final class TrustedClock {
    private let source: any SystemTimeSource
    private let store: any TrustedTimeStore
    private var time: TrustedTime
    private var saved: TrustedTime.Record?

    public init(store: any TrustedTimeStore, source: any SystemTimeSource = KernelTimeSource()) {
        self.source = source
        self.store = store
        saved = store.load()
        time = TrustedTime(from: saved, at: source.read())
    }

    /// Milliseconds since 1970, UTC; nil when the time was never proved. Never less than before.
    public func milliseconds() -> Int64? {
        let now = source.read()
        time.observe(now)
        save(at: now)
        return time.milliseconds(at: now)
    }

    /// The service has just reported `milliseconds` since 1970, over a connection whose certificate was verified.
    public func prove(_ milliseconds: Int64) {
        let now = source.read()
        time.prove(milliseconds, at: now)
        save(at: now)
    }

    private func save(at now: SystemTime) {
        guard time.isWorthSaving(after: saved, at: now), let record = time.record(at: now) else { return }
        store.save(record)
        saved = record
    }
}
