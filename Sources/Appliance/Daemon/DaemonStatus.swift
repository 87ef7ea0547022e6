import Output
import Platform
import Player

/// What the daemon is doing, all of it together: what a client is shown.
public struct DaemonStatus: Equatable, Sendable {
    /// What a person would say that it does.
    public enum Playback: Equatable, Sendable, CaseIterable {
        /// Nothing is current.
        case stopped
        case paused
        case playing
        /// It is meant to play and cannot, for lack of data, of a device or of focus; it goes on by itself.
        case stalled
    }

    public var playback = Playback.stopped
    /// What plays or will play.
    public var entry: QueueEntry?
    /// The entry's place in the order of playing, from 0.
    public var index: Int?
    /// How many entries the queue has.
    public var count = 0
    /// What is really played; nil as long as the entry was not opened.
    public var context: PlaybackContext?
    /// Where the entry is heard, in seconds.
    public var position = 0.0
    /// What the device runs at; nil while none is open.
    public var device: DeviceConfiguration?

    public var volumePercent = 0
    public var maximumVolumePercent = 100
    public var isMuted = false
    public var isShuffled = false
    public var repeatMode = RepeatMode.off

    public var focus = FocusLevel.full
    public var power = PowerState.active
    /// nil while it is unknown.
    public var network: NetworkState?
    /// Everything that is wrong now, the oldest first.
    public var problems: [DaemonProblem] = []

    public init() {}
}

/// Something that is wrong and stays so: a device that is missing, a button's line that is taken.
public struct DaemonProblem: Equatable, Sendable {
    /// The sound device is missing, or another program uses it.
    public static let device = "device"
    /// The configuration file has mistakes and is not in force.
    public static let configuration = "configuration"
    /// The medium of the current entry is missing or slow.
    public static let music = "music"
    /// An entry of the queue ended the process, and was passed over.
    public static let queue = "queue"
    /// The volume cannot be written.
    public static let settings = "settings"
    /// The queue and what clients have set cannot be written.
    public static let storage = "storage"
    /// The state was damaged at the start; what could be read is in use.
    public static let damage = "damage"

    /// What it is about, the same for as long as it lasts: `device`, `music`, `queue`, `storage`, `damage`, `settings`,
    /// `configuration`, or a section of the board's profile with a line: `button play`, `light status`, `amplifier`.
    public var subject: String
    /// What happened and what can be done, for a person.
    public var message: String

    public init(subject: String, message: String) {
        self.subject = subject
        self.message = message
    }

    var isOfDevice: Bool { subject.utf8.elementsEqual(Self.device.utf8) }
}
