import Network
import Output
import Platform
import Player

/// The whole status of the daemon, as it is shown to a client.
public struct DaemonStatus: Equatable, Sendable {
    /// The state of playback in one word, for a person.
    public enum Playback: Equatable, Sendable, CaseIterable {
        /// Nothing is current.
        case stopped
        case paused
        case playing
        /// It should play and cannot, because data, the device or the focus is missing. It continues by itself.
        case stalled
    }

    /// What an entry waits for.
    public enum Wait: Equatable, Sendable {
        /// A file or bytes that are on their way. Playback is stalled.
        case medium
        /// There is no link to other networks.
        case link
        /// The network has failed. The next attempt is in so many seconds.
        case network(seconds: Double)
        /// The service fails, or asks to wait. The next attempt is in so many seconds.
        case service(seconds: Double)
    }

    public var playback = Playback.stopped
    /// The entry that plays or will play.
    public var entry: QueueEntry?
    /// The entry's place in the order of playing, from 0.
    public var index: Int?
    /// How many entries the queue has.
    public var count = 0
    /// The properties of the opened entry; nil while it is not open.
    public var context: PlaybackContext?
    /// The position that is heard in the entry, in seconds.
    public var position = 0.0
    /// Seconds of a streamed entry that have arrived ahead of its decoder; nil for any other.
    public var buffered: Double?
    /// What the entry waits for; nil when it waits for nothing.
    public var wait: Wait?
    /// The configuration of the open device; nil while none is open.
    public var device: DeviceConfiguration?
    /// What happens to the samples on their way to the device; nil while none is open.
    public var path: SignalPath?

    public var volumePercent = 0
    public var maximumVolumePercent = 100
    public var isMuted = false
    public var isShuffled = false
    public var repeatMode = RepeatMode.off

    public var focus = FocusLevel.full
    public var power = PowerState.active
    /// nil while it is unknown.
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
    /// An entry of the queue ended the process, and was passed over.
    public static let queue = "queue"
    /// The player's settings cannot be written.
    public static let settings = "settings"
    /// The queue and what clients have set cannot be written.
    public static let storage = "storage"
    /// Nothing can be kept, what is kept cannot be read or its medium is missing, or there is little room for it or
    /// none.
    public static let offline = "offline"
    /// The state was damaged at the start; what could be read is in use.
    public static let damage = "damage"

    /// The subject, which stays the same while the problem lasts: `device`, `music`, `service`, `queue`, `storage`,
    /// `offline`, `damage`, `settings`, `configuration`, or a section of the board's profile with a line:
    /// `button play`, `light status`, `amplifier`.
    public var subject: String
    /// What happened and what to do, for a person.
    public var message: String

    public init(subject: String, message: String) {
        self.subject = subject
        self.message = message
    }

    var isOfDevice: Bool { subject.utf8.elementsEqual(Self.device.utf8) }
}

extension OfflineEngine.Status {
    /// What a person should know; nil when all is well.
    var problem: String? {
        let all = [folderProblem, problemOfKey, problemOfState, problemOfRoom, problemOfService].compactMap { $0 }
        return all.isEmpty ? nil : all.joined(separator: "; ")
    }

    private var problemOfKey: String? {
        guard lostCount > 0 else { return nil }
        return "the key of this device is another one than before: \(lostCount) kept products cannot be read, and are "
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
            return keptCount > 0
                ? "there is no room for more kept products: remove some, or \(way)"
                : "there is no room for kept products: \(way)"
        }
        guard isNearlyFull else { return nil }
        if let budget, budget <= mostBytes ?? .max {
            return "kept products take \(usedBytes >> 20) of \(budget >> 20) MiB ([offline] size)"
        }
        let left = (mostBytes ?? usedBytes) - usedBytes
        return
            "kept products take \(usedBytes >> 20) MiB, and their medium has room for \(left >> 20) more: remove "
            + "some, or make room on it ([offline] free-space)"
    }
}
