import Platform

/// A timer for one action at a time.
///
/// Thread: only control.
protocol StartTimer: AnyObject {
    /// Runs `action` once, `nanoseconds` from now. Replaces an earlier action.
    func start(after nanoseconds: Int64, _ action: @escaping () -> Void)
    func cancel()
}

/// The timer on the clock of its loop.
final class LoopTimer: StartTimer {
    private let loop: EventLoop
    private var token: TimerToken?

    init(_ loop: EventLoop) { self.loop = loop }

    func start(after nanoseconds: Int64, _ action: @escaping () -> Void) {
        cancel()
        token = loop.schedule(after: nanoseconds, action)
    }

    func cancel() {
        if let token { loop.cancel(token) }
        token = nil
    }
}
