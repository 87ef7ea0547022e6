import Platform
import Player

/// Tells whoever supervises this process how the daemon does: that it has started and stops, in a line what it plays,
/// and time and again that the player is well, as `HealthCheck` has it. A player that hangs is not reported well, and
/// is started anew.
///
/// Thread: the daemon's.
public final class Watchdog {
    private let supervisor: ServiceSupervisor
    private let daemon: Daemon
    private let clock: any MonotonicClock
    private var check = HealthCheck()
    private var timer: TimerToken?

    public init(_ supervisor: ServiceSupervisor, _ daemon: Daemon, clock: any MonotonicClock = SystemMonotonicClock()) {
        self.supervisor = supervisor
        self.daemon = daemon
        self.clock = clock
    }

    /// The daemon has started.
    public func start() {
        daemon.observers.add { [self] event in
            switch event {
            case .state, .track, .problems: tellStatus()
            default: break
            }
        }
        supervisor.tell(.ready)
        tellStatus()
        look()
    }

    /// The configuration is read again; `reloaded` follows.
    public func reloads() { supervisor.tell(.reloading(at: clock.now())) }

    public func reloaded() { supervisor.tell(.ready) }

    public func stop() {
        if let timer { daemon.loop.cancel(timer) }
        timer = nil
        supervisor.tell(.stopping)
    }

    private func tellStatus() { supervisor.tell(.status(daemon.status.summary)) }

    /// Four times in the time that it has: what looks like a stop once may be a busy moment.
    private func look() {
        guard let interval = supervisor.watchdogInterval else { return }
        let engine = daemon.player.playbackEngine
        let isHealthy = check.isHealthy(
            engine.playbackState, referenceId: engine.mediaProduct?.referenceId, position: engine.assetPosition,
            waitsForDevice: engine.deviceProblem != nil)
        if isHealthy {
            supervisor.tell(.alive)
        } else {
            Log.warning("nothing was heard for \(interval / 4_000_000) ms although it plays")
        }
        timer = daemon.loop.schedule(after: interval / 4) { [self] in look() }
    }
}

extension DaemonStatus {
    /// A line for a person who looks at the service from afar.
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
