/// A timer for one action at a time.
///
/// Thread: only control.
package protocol StartTimer: AnyObject {
    /// Runs `action` once, `nanoseconds` from now. Replaces an earlier action.
    func start(after nanoseconds: Int64, _ action: @escaping () -> Void)
    func cancel()
}

/// The timer on the clock of its loop.
package final class LoopTimer: StartTimer {
    private let loop: EventLoop
    private var token: TimerToken?

    package init(_ loop: EventLoop) { self.loop = loop }

    package func start(after nanoseconds: Int64, _ action: @escaping () -> Void) {
        cancel()
        token = loop.schedule(after: nanoseconds, action)
    }

    package func cancel() {
        if let token { loop.cancel(token) }
        token = nil
    }
}
