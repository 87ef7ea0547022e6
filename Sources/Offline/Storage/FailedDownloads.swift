import Database
import Network
import Platform

/// Retries downloads that the service refused, after a day (docs/playback.md, 16.8): subscriptions and catalogues
/// change.
///
/// Thread: control.
final class FailedDownloads {
    /// The time between two checks, in nanoseconds.
    private static let interval: Int64 = 3_600_000_000_000

    private let store: OfflineStore
    private let loop: EventLoop
    private let clock: TrustedClock
    private let begunAgain: @Sendable () -> Void
    private var timer: TimerToken?

    /// Checks at once.
    /// - Parameter begunAgain: called on the control thread when failed downloads are queued again.
    init(_ store: OfflineStore, loop: EventLoop, clock: TrustedClock, begunAgain: @escaping @Sendable () -> Void) {
        self.store = store
        self.loop = loop
        self.clock = clock
        self.begunAgain = begunAgain
        look()
    }

    func stop() {
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    private func look() {
        timer = loop.schedule(after: Self.interval) { [self] in look() }
        // While nothing reports a time, no download counts as a day old.
        guard let time = clock.estimatedSeconds else { return }
        store.write(answerOn: loop) { (rows) throws(DatabaseError) in
            try rows.retryFailed(at: time)
        } _: { [begunAgain] result in
            if case .success(let count) = result, count > 0 { begunAgain() }
        }
    }
}
