import CLinux
import Platform

/// Returns memory to the system that large requests have left unused.
///
/// Thread: the daemon's.
final class SpareMemory {
    private static let delay: Int64 = 1_000_000_000

    private let loop: EventLoop
    private var timer: TimerToken?

    init(loop: EventLoop) { self.loop = loop }

    /// Returns it after a second, when the parts that handled the request have released their memory. Otherwise, after
    /// finding and writing thousands of entries, the process would keep this memory.
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
