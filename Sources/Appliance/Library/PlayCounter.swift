import Platform
import Queue

/// Counts the music that is heard.
///
/// Thread: the daemon's.
final class PlayCounter {
    /// The playback at a moment.
    struct Moment {
        var entry: QueueEntry?
        var isSounding: Bool
        /// The length of the entry in seconds; nil while it is unknown.
        var duration: Double?
    }

    /// Called with the product's id when an entry counts as played.
    var count: (_ path: String) -> Void = { _ in }
    private let loop: EventLoop
    private let clock: any MonotonicClock
    private var heard = HeardTime()
    /// The entry to which `heard` belongs.
    private var entry: QueueEntry?
    private var timer: TimerToken?

    init(loop: EventLoop, clock: any MonotonicClock) {
        self.loop = loop
        self.clock = clock
    }

    /// Handles a message of the queue.
    /// - Parameter moment: returns the current playback; also called later.
    func handle(_ message: QueueMessage, _ moment: @escaping () -> Moment) {
        loop.assertOnLoop()
        switch message {
        case .advanced, .ended: if heard.end() { countEntry() }
        case .positionJumped, .failed: heard.leaveOut()
        default: break
        }
        update(moment)
        if message == .currentAnnounced { heard.begin() }
    }

    private func update(_ moment: @escaping () -> Moment) {
        stop()
        let now = moment()
        entry = now.entry
        switch heard.update(now.entry?.id, isSounding: now.isSounding, duration: now.duration, at: clock.now()) {
        case .nothing: break
        case .wait(let time):
            timer = loop.schedule(after: time) { [self] in
                timer = nil
                update(moment)
            }
        case .count: countEntry()
        }
    }

    private func countEntry() {
        if let entry { count(entry.product.productId) }
    }

    func stop() {
        if let timer { loop.cancel(timer) }
        timer = nil
    }
}
