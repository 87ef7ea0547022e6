/// Keeps what was proved about the time across restarts.
public protocol TrustedTimeStore: AnyObject {
    /// What was saved last; nil when nothing was, or it cannot be read.
    func load() -> TrustedTime.Record?
    /// Saves durably. Who cannot, says so in the log: the time goes on all the same.
    func save(_ record: TrustedTime.Record)
}

/// Trusted time, read and persisted. Thread: control.
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

    /// Milliseconds since 1970, UTC; nil as long as nothing was ever proved. Never less than before.
    public func milliseconds() -> Int64? {
        let now = source.read()
        time.observe(now)
        save(at: now)
        return time.milliseconds(at: now)
    }

    /// The service has just said, over a connection whose certificate was verified, that it is `milliseconds` since
    /// 1970.
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
