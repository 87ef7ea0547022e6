/// A lasting problem, such as a missing device, or a button whose line is in use.
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
