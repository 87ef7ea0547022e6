import CLinux
import Platform

/// Gives memory back to the system that large requests have left behind.
///
/// Thread: the daemon's.
final class SpareMemory {
    private static let delay: Int64 = 1_000_000_000

    private let loop: EventLoop
    private var timer: TimerToken?

    init(loop: EventLoop) { self.loop = loop }

    /// Gives it back in a second, when those who have worked on the request have released their memory: finding and
    /// writing thousands of entries would otherwise keep its memory in the process.
    func giveBackSoon() {
        guard timer == nil else { return }
        timer = loop.schedule(after: Self.delay) { [self] in
            timer = nil
            malloc_trim(0)
        }
    }

    func stop() {
        if let timer { loop.cancel(timer) }
        timer = nil
    }
}
