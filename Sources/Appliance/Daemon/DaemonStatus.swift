import Network
import Output
import Platform
import Player
import Queue

/// The whole status of the daemon, as it is shown to a client.
public struct DaemonStatus: Equatable, Sendable {
    package var playback = QueuePlayback.stopped
    /// The entry that plays or will play.
    package var entry: QueueEntry?
    /// The entry's index in the order of playing, from 0.
    public var index: Int?
    /// The number of entries in the queue.
    public var count = 0
    /// The properties of the opened entry; nil while it is not open.
    public var context: PlaybackContext?
    /// The position that is heard in the entry, in seconds.
    public var position = 0.0
    /// The seconds of a streamed entry that have arrived but are not decoded; nil for any other entry.
    public var buffered: Double?
    /// The reason why the entry waits; nil when it does not wait.
    public var wait: WaitReason?
    /// The configuration of the open device; nil while none is open.
    public var device: DeviceConfiguration?
    /// The changes to the samples on their way to the device; nil while no device is open.
    public var path: SignalPath?

    public var volumePercent = 0
    public var maximumVolumePercent = 100
    public var isMuted = false
    public var isShuffled = false
    package var repeatMode = RepeatMode.off

    public var focus = FocusLevel.full
    public var power = PowerState.active
    /// The link; nil while it is unknown.
    public var link: Link?
    /// All current problems, the oldest first.
    public var problems: [DaemonProblem] = []

    public init() {}
}

/// A lasting problem: a device that is missing, the line of a button that is in use.
public struct DaemonProblem: Equatable, Sendable {
    /// The sound device is missing, or another program uses it.
    public static let device = "device"
    /// The configuration file has mistakes and is not in force.
    public static let configuration = "configuration"
    /// The medium of the current entry is missing or slow.
    public static let music = "music"
    /// The content service of the current entry is away, or there is no network.
    public static let service = "service"
    /// Another device plays with the same subscription, and playback was paused.
    public static let privileges = "privileges"
    /// An entry of the queue ended the process, and was skipped.
    public static let queue = "queue"
    /// The player's settings cannot be written.
    public static let settings = "settings"
    /// The queue and the values of clients cannot be written.
    public static let storage = "storage"
    /// The offline copies cannot be read, stored or downloaded, their medium is missing, or there is little room or
    /// none.
    public static let offline = "offline"
    public static let library = "library"
    /// The server for clients of MPD cannot be opened.
    public static let mpd = "mpd"
    /// The web server cannot be opened.
    public static let web = "web"
    /// The servers cannot be announced to other machines.
    public static let discovery = "discovery"
    /// The state was damaged at the start; the readable part is in use.
    public static let damage = "damage"

    /// The subject, which stays the same while the problem lasts: `device`, `music`, `service`, `privileges`, `queue`,
    /// `storage`, `offline`, `damage`, `settings`, `configuration`, or a section of the board's profile with a line:
    /// `button play`, `light status`, `amplifier`.
    public var subject: String
    /// The failure and the solution, for the user.
    public var message: String

    public init(subject: String, message: String) {
        self.subject = subject
        self.message = message
    }

    var isOfDevice: Bool { subject.utf8.elementsEqual(Self.device.utf8) }
}

extension OfflineEngine.Status {
    /// The problem to publish; nil when there is none.
    var problem: String? {
        let all = [folderProblem, problemOfKey, problemOfState, problemOfRoom, problemOfService].compactMap { $0 }
        return all.isEmpty ? nil : all.joined(separator: "; ")
    }

    private var problemOfKey: String? {
        guard lostCount > 0 else { return nil }
        return "the key of this device is another one than before: \(lostCount) offline copies cannot be read, and are "
            + "downloaded again"
    }

    private var problemOfState: String? {
        guard wait == .storage else { return nil }
        return "downloads wait, because their state cannot be written: make its medium writable, or make room "
            + "on it (`tonearm offline list` shows what has failed)"
    }

    private var problemOfService: String? {
        serviceProblem.map { "downloads wait, and are retried: \($0)" }
    }

    private var problemOfRoom: String? {
        if wait == .space {
            let isOfBudget = budget.map { $0 <= mostBytes ?? .max } ?? false
            let way = isOfBudget ? "allow more ([offline] size)" : "make room on their medium ([offline] free-space)"
            return copyCount > 0
                ? "there is no room for more offline copies: remove some, or \(way)"
                : "there is no room for offline copies: \(way)"
        }
        guard isNearlyFull else { return nil }
        if let budget, budget <= mostBytes ?? .max {
            return "offline copies take \(usedBytes >> 20) of \(budget >> 20) MiB ([offline] size)"
        }
        let left = (mostBytes ?? usedBytes) - usedBytes
        return
            "offline copies take \(usedBytes >> 20) MiB, and their medium has room for \(left >> 20) more: remove "
            + "some, or make room on it ([offline] free-space)"
    }
}
