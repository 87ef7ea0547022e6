import Player
import Queue

/// Resumes playback at the start, and skips an entry that has ended the process before.
///
/// Thread: the daemon's.
final class ResumeAtStart {
    private let queue: QueueConductor
    private let problems: DaemonProblems
    private let trial: ResumeGuard
    private let stored: (position: Double, wasPlaying: Bool)
    /// The entry that this start skipped; nil once its problem has ended.
    private var passedOver: EntryID?

    /// - Parameter stored: the stored position of the current entry in seconds, and whether the entry played.
    init(
        _ queue: QueueConductor, _ problems: DaemonProblems, _ trial: ResumeGuard,
        stored: (position: Double, wasPlaying: Bool)
    ) {
        (self.queue, self.problems, self.trial, self.stored) = (queue, problems, trial, stored)
    }

    /// Resumes, or begins with an empty queue, by the configuration.
    func start(_ policy: ResumePolicy) {
        switch ResumeDecision.atStart(
            policy, hasCurrent: queue.contents.current != nil, position: stored.position,
            wasPlaying: stored.wasPlaying)
        {
        case .startEmpty:
            trial.openNothing()
            queue.clear()
        case .wait: trial.openNothing()
        case .resume(let position, let playing): resume(at: position, playing: playing)
        }
    }

    private func resume(at position: Double, playing: Bool) {
        guard let entry = queue.contents.current, let product = queue.contents.product(entry) else { return }
        if trial.mayOpen(entry) { return queue.resume(at: position, playing: playing) }
        passedOver = entry
        problems.set(
            DaemonProblem.queue,
            "\(product.productId) was skipped: the player ended twice while it was open. Play it to try again, or "
                + "remove it from the queue.")
        queue.pass(over: entry)
        // After skipping an entry, checks the next one before it is opened.
        guard let next = queue.contents.current, trial.mayOpen(next) else { return }
        queue.resume(at: 0, playing: playing)
    }

    /// Notes that another entry may be current. The problem of a skipped entry ends when it is played again or removed.
    func queueChanged() {
        let contents = queue.contents
        trial.currentIs(contents.current)
        guard let entry = passedOver, contents.current == entry || contents.product(entry) == nil else { return }
        passedOver = nil
        problems.set(DaemonProblem.queue, nil)
    }

    /// Notes that the process is stopped and does not crash.
    func end() { trial.end() }
}
