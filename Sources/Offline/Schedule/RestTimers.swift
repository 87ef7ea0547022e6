import Fetching
import Platform

/// The timers of the downloads that rest (`OfflineSchedule.Effect.rest`), by the numbers of their downloads.
///
/// Thread: control.
final class RestTimers {
    private let loop: EventLoop
    private let clock: any MonotonicClock
    private var timers: [Int64: (token: TimerToken, end: Int64)] = [:]

    /// - Parameter clock: the clock for the times in lists.
    init(loop: EventLoop, clock: any MonotonicClock) {
        self.loop = loop
        self.clock = clock
    }

    /// Replaces an earlier timer of the download.
    func begin(_ number: Int64, _ nanoseconds: Int64, then action: @escaping () -> Void) {
        if let former = timers[number] { loop.cancel(former.token) }
        let token = loop.schedule(after: nanoseconds) { [self] in
            timers[number] = nil
            action()
        }
        timers[number] = (token, clock.now() + nanoseconds)
    }

    /// Ends the timers of downloads that rest no longer.
    func end(where isOver: (Int64) -> Bool) {
        for (number, timer) in timers where isOver(number) {
            loop.cancel(timer.token)
            timers[number] = nil
        }
    }

    /// Returns how long a download still rests; nil when it does not.
    func wait(of number: Int64) -> WaitReason? { timers[number].map { wait(until: $0.end) } }

    /// The remaining rest of each download.
    var all: [WaitReason] { timers.values.map { wait(until: $0.end) } }

    private func wait(until end: Int64) -> WaitReason { .service(seconds: Double(max(0, end - clock.now())) / 1e9) }
}

/// The timers of the downloads that wait.
struct DownloadTimers {
    let rests: RestTimers
    /// For downloads that have found no room.
    let space: LoopTimer

    /// - Parameter clock: the clock for the times in lists.
    init(loop: EventLoop, clock: any MonotonicClock) {
        rests = RestTimers(loop: loop, clock: clock)
        space = LoopTimer(loop)
    }
}
