import Platform
import Player
import Queue
import Synchronization

/// Reports to the supervisor of this process, which is systemd. It reports the start, the stop, a line with the status,
/// and regularly that the player is healthy (`HealthCheck`). A player that hangs is not reported as healthy, and
/// systemd restarts it.
///
/// Thread: the daemon's.
/// `@unchecked Sendable` is safe because the player's threads only set the atomic; the rest is the daemon's loop's.
public final class Watchdog: @unchecked Sendable {
    private let supervisor: ServiceSupervisor
    private let loop: EventLoop
    private let engine: PlaybackEngine
    private let observers: DaemonObservers
    private let status: () -> DaemonStatus
    private let clock: any MonotonicClock
    private var check = HealthCheck()
    private var timer: TimerToken?
    /// The number of checks.
    private var looks: UInt8 = 0
    /// Whether the player's threads have answered the last question. The threads set it directly, because a message
    /// would wake the daemon's thread.
    private let hasAnswered = Atomic(true)

    public init(_ supervisor: ServiceSupervisor, _ daemon: Daemon, clock: any MonotonicClock = SystemMonotonicClock()) {
        self.supervisor = supervisor
        loop = daemon.loop
        engine = daemon.player.playbackEngine
        observers = daemon.observers
        status = { daemon.status }
        self.clock = clock
    }

    /// Begins the reports: the daemon has started.
    public func start() {
        loop.assertOnLoop()
        observers.add { [self] event in
            switch event {
            case .state, .track, .problems: notifyStatus()
            default: break
            }
        }
        supervisor.notify(.ready)
        notifyStatus()
        look()
    }

    /// Reports that the configuration is being reloaded; `reloaded` follows.
    public func reloads() { supervisor.notify(.reloading(at: clock.now())) }

    public func reloaded() { supervisor.notify(.ready) }

    public func stop() {
        loop.assertOnLoop()
        if let timer { loop.cancel(timer) }
        timer = nil
        supervisor.notify(.stopping)
    }

    private func notifyStatus() { supervisor.notify(.status(status().summary)) }

    /// Asks control, and through control the audio thread if it runs. Only one question is open at a time, so that
    /// questions do not accumulate in a thread that hangs.
    private func ask() {
        guard hasAnswered.exchange(false, ordering: .relaxed) else { return }
        engine.afterRequests { [self] in hasAnswered.store(true, ordering: .relaxed) }
    }

    /// Checks four times in the watchdog's interval, because one failed check may be a busy moment. At rest it checks
    /// three times, and asks the player only at every third check: each check and each question wakes a thread.
    private func look() {
        guard let interval = supervisor.watchdogInterval else { return }
        let state = engine.playbackState
        let isAtRest = state != .playing && state != .stalled
        let pause = interval / (isAtRest ? 3 : 4)
        let loopsAnswer = hasAnswered.load(ordering: .relaxed)
        let finding = check.look(
            HealthCheck.Observation(
                state: state, loopsAnswer: loopsAnswer, referenceId: engine.mediaProduct?.referenceId,
                position: engine.assetPosition, waitsForDevice: engine.deviceProblem != nil,
                decoderBeat: engine.decoderBeat, time: clock.now()))
        switch finding {
        case .healthy:
            supervisor.notify(.alive)
        case .clockStands:
            Log.warning("nothing was heard for \(pause / 1_000_000) ms although it plays")
        case .loopsHang:
            Log.warning("the player's threads have not answered for \(pause / 1_000_000) ms")
        case .decoderHangs:
            let name = engine.mediaProduct?.productId ?? "the product"
            Log.warning("\(name): the decoder has given no sign of life for a minute, although it has bytes")
        }
        looks &+= 1
        if !isAtRest || looks % 3 == 0 { ask() }
        timer = loop.schedule(after: pause) { [self] in look() }
    }
}

extension DaemonStatus {
    /// A status line for the service manager.
    var summary: String {
        let state =
            switch playback {
            case .stopped: "stopped"
            case .paused: "paused"
            case .playing: "playing"
            case .stalled: "stalled"
            }
        var text = state
        if let entry, let index {
            text += ": \(context?.title ?? entry.product.productId) (\(index + 1) of \(count))"
        }
        if let problem = problems.first { text += "; \(problem.subject): \(problem.message)" }
        return text
    }
}
