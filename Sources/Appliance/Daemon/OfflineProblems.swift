import Platform
import Player

/// Publishes the problems of the offline engine, and passes on its messages.
///
/// Thread: the daemon's.
/// `@unchecked Sendable` is safe because other threads only post to `loop`.
final class OfflineProblems: @unchecked Sendable {
    private let engine: OfflineEngine?
    private let loop: EventLoop
    private let problems: DaemonProblems
    private let observers: DaemonObservers
    private var look = RepeatedLook()

    /// - Parameter engine: nil without offline copies.
    init(_ engine: OfflineEngine?, loop: EventLoop, _ problems: DaemonProblems, _ observers: DaemonObservers) {
        (self.engine, self.loop, self.problems, self.observers) = (engine, loop, problems, observers)
    }

    func observe() {
        engine?.bus.subscribe { [self] message in loop.post { [self] in receive(message) } }
        engine?.observeSpace { [self] in loop.post { [self] in check() } }
        // Some problems may have been published before the subscription.
        check()
    }

    func stop() { engine?.observeSpace(nil) }

    private func receive(_ message: OfflineMessage) {
        observers.notify(.offline(message))
        if case .progress = message { return }
        check()
    }

    /// Checks the offline engine for problems. One request may change thousands of products, and each status counts all
    /// of them.
    func check() {
        guard let engine, look.begin() else { return }
        engine.status { [self] status in
            let problem: String? =
                if let status { status.problem } else { "the list of offline copies cannot be read; see the log" }
            loop.post { [self] in
                problems.set(DaemonProblem.offline, problem)
                if look.end() { check() }
            }
        }
    }
}
