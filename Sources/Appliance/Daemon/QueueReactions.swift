import Platform
import Player
import Queue

/// Passes the messages of the queue to the parts that depend on it: those that store, count, download and publish.
///
/// Thread: the daemon's.
final class QueueReactions {
    private let queue: QueueConductor
    private let present: PresentStatus
    private let problems: DaemonProblems
    private let observers: DaemonObservers
    let writer: QueueWriter
    let resume: ResumeAtStart
    private let position: PositionWriter
    private let entryProblems: EntryProblems
    private let plays: PlayCounter
    private let downloads: AutomaticDownloads

    init(
        _ queue: QueueConductor, _ present: PresentStatus, _ problems: DaemonProblems, _ observers: DaemonObservers,
        _ writer: QueueWriter, _ resume: ResumeAtStart, _ downloads: AutomaticDownloads, _ plays: PlayCounter,
        _ environment: DaemonEnvironment
    ) {
        (self.queue, self.present, self.problems, self.observers) = (queue, present, problems, observers)
        (self.writer, self.resume, self.downloads, self.plays) = (writer, resume, downloads, plays)
        position = PositionWriter(queue, loop: environment.loop, clock: environment.clock) {
            writer.keep(position: $0, of: $1)
        }
        entryProblems = EntryProblems(loop: environment.loop) { problems.set($0, $1) }
    }

    func receive(_ message: QueueMessage) {
        downloads.handle(message, current: present.entry)
        switch message {
        case .queueChanged, .advanced:
            resume.queueChanged()
            writer.keepQueue()
            observers.notify(.queue)
            observers.notify(.state)
        case .currentAnnounced:
            observers.notify(.track)
        case .stateChanged(let state):
            if state != .notPlaying { problems.set(DaemonProblem.privileges, nil) }
            entryProblems.waits(queue.entryWithoutData) { [present] in present.delay }
            problems.set(DaemonProblem.device, present.deviceProblem)
            observers.notify(.state)
        case .positionJumped:
            position.handle(.jumped)
            observers.notify(.positionJumped)
        case .rested:
            position.handle(.rested)
        case .failed(let entry, let error):
            Log.warning(error.message)
            let product = queue.contents.product(entry) ?? QueuedProduct(.track, error.mediaProduct?.productId ?? "")
            observers.notify(.failed(QueueEntry(id: entry, product: product), error))
        case .mediumMissing(let error):
            entryProblems.mediumIsMissing(
                error.map { "\($0.message). It is retried." }, of: error?.mediaProduct?.productId)
            observers.notify(.state)
        case .serviceAway(let error):
            entryProblems.serviceIsAway(error.map { "\($0.message) It is retried, and playback goes on then." })
            observers.notify(.state)
        case .ended:
            Log.info("the queue has ended")
        case .nothingToHear:
            Log.warning("all entries of the queue are too short to be heard, and it repeats; stopped")
        case .revoked(let device):
            problems.set(
                DaemonProblem.privileges,
                "\(device ?? "another device") plays with the same subscription; playback was paused. Play takes it "
                    + "back.")
        }
        position.scheduleTick()
        plays.handle(message) { [present] in present.moment }
    }

    /// Stores the last position and ends all timers.
    func stop() {
        // Ends the trial before the last write, which a slow medium may not finish in time. A stop must not count as a
        // crash.
        resume.end()
        position.handle(.rested)
        position.stop()
        plays.stop()
        entryProblems.stop()
    }
}
