import Platform

/// Reports that the medium of the current entry is missing or slow (docs/decisions/watchdog.md). Waiting for it is
/// healthy, and is shown to clients.
///
/// Thread: the daemon's.
final class MediumProblem {
    /// How long data may be missing before that is a problem, in nanoseconds. A disk takes a few seconds to spin up.
    private static let patience: Int64 = 5_000_000_000

    private let loop: EventLoop
    private let report: (String?) -> Void
    private var missing: String?
    private var slow: String?
    private var timer: TimerToken?

    /// - Parameter report: called with the problem, or nil; also when nothing has changed.
    init(loop: EventLoop, report: @escaping (String?) -> Void) {
        self.loop = loop
        self.report = report
    }

    /// - Parameter message: nil when the medium is there or not needed.
    func isMissing(_ message: String?) {
        missing = message
        update()
    }

    /// - Parameter product: the product whose data is late; nil when data comes.
    func waits(_ product: QueuedProduct?) {
        guard let product else {
            if let timer { loop.cancel(timer) }
            timer = nil
            slow = nil
            return update()
        }
        guard timer == nil, slow == nil else { return }
        timer = loop.schedule(after: Self.patience) { [self] in
            timer = nil
            slow = "\(product.productId): the medium is slow. Playback goes on when the data comes."
            update()
        }
    }

    func stop() {
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    private func update() { report(missing ?? slow) }
}
