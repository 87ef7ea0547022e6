import CLinux
import Platform

/// Returns unused memory to the system after the start and after large requests.
///
/// Thread: the daemon's.
final class SpareMemory {
    private static let delay: Int64 = 1_000_000_000

    private let loop: EventLoop
    private var timer: TimerToken?

    init(loop: EventLoop) { self.loop = loop }

    /// Returns unused memory, which the process would otherwise hold: 0.2 MB after a start, more after a request with
    /// thousands of entries.
    func giveBack() { malloc_trim(0) }

    /// Returns unused memory after a second, when the parts that handled a request have released theirs.
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
