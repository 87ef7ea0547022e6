import Platform
import Queue

/// Writes the position when `PositionSchedule` decides so.
///
/// Thread: the daemon's.
final class PositionWriter {
    private let queue: QueueConductor
    private let loop: EventLoop
    private let clock: any MonotonicClock
    private let write: (_ seconds: Double, EntryID) -> Void
    private var schedule: PositionSchedule
    private var timer: TimerToken?

    init(
        _ queue: QueueConductor, loop: EventLoop, clock: any MonotonicClock,
        write: @escaping (_ seconds: Double, EntryID) -> Void
    ) {
        self.queue = queue
        self.loop = loop
        self.clock = clock
        self.write = write
        schedule = PositionSchedule(at: clock.now())
    }

    /// Handles an event of the position.
    func handle(_ event: PositionSchedule.Event) {
        loop.assertOnLoop()
        let entry = queue.contents.current
        if entry != nil { queue.notePosition() }
        let seconds = queue.position
        let isDue = schedule.shouldWrite(event, seconds: seconds, of: entry, at: clock.now())
        if isDue, let entry { write(seconds, entry) }
    }

    /// Sets the timer for the next check of the position. Call it after every change of playback.
    func scheduleTick() {
        loop.assertOnLoop()
        let now = clock.now()
        let next = schedule.nextTick(isPlaying: queue.playback == .playing, at: now)
        if let timer { loop.cancel(timer) }
        timer = next.map { time in
            loop.schedule(after: time - now) { [self] in
                timer = nil
                handle(.tick)
                scheduleTick()
            }
        }
    }

    func stop() {
        if let timer { loop.cancel(timer) }
        timer = nil
    }
}
