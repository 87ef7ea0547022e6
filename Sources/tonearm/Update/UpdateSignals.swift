import CLinux
import Platform

/// Cancels an update at a signal that ends programs, so that nothing of it is left.
///
/// Thread: the main thread; created before any other thread is started.
final class UpdateSignals {
    let cancellation: Cancellation
    private let loop: EventLoop
    private let thread: NamedThread

    init() throws(SystemError) {
        let cancellation = try Cancellation()
        let loop = try EventLoop()
        let signals = [SIGINT, SIGTERM, SIGHUP].filter { tonearm_signal_is_ignored($0) == 0 }
        try loop.onSignal(signals) { _ in cancellation.cancel() }
        thread = try NamedThread.start(name: "signals") { loop.run() }
        (self.cancellation, self.loop) = (cancellation, loop)
    }

    func stop() {
        loop.stop()
        thread.join()
    }
}
