import Network
import Player
import Queue

/// Reads the present status of the daemon from its parts.
///
/// Thread: the daemon's.
final class PresentStatus {
    private let engine: PlaybackEngine
    private let queue: QueueConductor
    private let volume: VolumeControl
    private let focus: DeviceFocus
    private let problems: DaemonProblems
    private let deviceAbsence: () -> String?
    /// The link; nil while it is unknown.
    var link: Link?

    /// - Parameter deviceAbsence: returns why the sound card is missing, for the user, or nil.
    init(
        _ engine: PlaybackEngine, _ queue: QueueConductor, _ volume: VolumeControl, _ focus: DeviceFocus,
        _ problems: DaemonProblems, deviceAbsence: @escaping () -> String?
    ) {
        (self.engine, self.queue, self.volume, self.focus) = (engine, queue, volume, focus)
        (self.problems, self.deviceAbsence) = (problems, deviceAbsence)
    }

    /// The status, as it is shown to clients.
    var status: DaemonStatus {
        var status = DaemonStatus()
        let contents = queue.contents
        status.playback = queue.playback
        if let entry {
            status.entry = entry
            status.index = contents.index(of: entry.id)
            status.position = queue.position
            status.context = context
            status.buffered = engine.bufferedSeconds
            status.wait = wait
        }
        status.count = contents.count
        status.device = engine.deviceConfiguration
        status.path = engine.signalPath
        status.volumePercent = volume.percent
        status.maximumVolumePercent = volume.maximumPercent
        status.isMuted = volume.isMuted
        status.isShuffled = contents.isShuffled
        status.repeatMode = contents.repeatMode
        status.focus = focus.level
        status.power = focus.power
        status.link = link
        status.problems = problems.all
        // The engine looks for a card only when it has to play.
        if status.device == nil, deviceProblem == nil, let absence = deviceAbsence() {
            status.problems.append(DaemonProblem(subject: DaemonProblem.device, message: absence))
        }
        return status
    }

    /// The entry that plays or will play.
    var entry: QueueEntry? {
        let contents = queue.contents
        return contents.current.flatMap { id in contents.product(id).map { QueueEntry(id: id, product: $0) } }
    }

    /// The properties of the entry; nil while it is not open.
    private var context: PlaybackContext? { queue.isAnnounced ? engine.playbackContext : nil }

    /// Why the device cannot be opened, for the user; nil when it can, or is not needed.
    var deviceProblem: String? { engine.deviceProblem }

    private var wait: WaitReason? {
        if let seconds = queue.secondsUntilRetry { return .service(seconds: seconds) }
        if let wait = engine.streamWait {
            if case .network = wait, link?.kind == .offline { return .link }
            return wait
        }
        return engine.isWaitingForMedium ? .medium : nil
    }

    /// Why the data of the entry is late; nil when the data is not the reason.
    var delay: EntryProblems.Delay? {
        if let wait { return .wait(wait) }
        return engine.decoderBeat == nil ? nil : .decoding
    }

    /// The playback, for play counts.
    var moment: PlayCounter.Moment {
        PlayCounter.Moment(
            entry: entry, isSounding: queue.playback == .playing && engine.playbackState == .playing,
            duration: context?.duration)
    }
}
