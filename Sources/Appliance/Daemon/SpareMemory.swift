import CLinux
import Platform

/// Returns memory to the system that the start and large requests have left unused.
///
/// Thread: the daemon's.
final class SpareMemory {
    private static let delay: Int64 = 1_000_000_000

    private let loop: EventLoop
    private var timer: TimerToken?

    init(loop: EventLoop) { self.loop = loop }

    /// Otherwise the process would keep it: 0.2 MB after a start, more after finding and writing thousands of entries.
    func giveBack() { malloc_trim(0) }

    /// Returns it after a second, when the parts that handled a request have released their memory.
    func giveBackSoon() {
        guard timer == nil else { return }
        timer = loop.schedule(after: Self.delay) { [self] in
            timer = nil
            giveBack()
        }
    }

    func stop() {
        if let timer { loop.cancel(timer) }
        timer = nil
    }
}
