import Player
import Queue

/// An event for clients that have subscribed to it.
package enum RemoteEvent {
    /// A part of the status has changed.
    /// - Parameter kind: the one kind of the event, which names the part.
    case status(RemoteEventSet, DaemonStatus)
    case configuration([RemoteReply.SettingReport])
    /// An entry cannot be played and is skipped.
    case failed(QueueEntry, PlayerError)
    /// A message about offline copies and downloads.
    case offline(OfflineMessage)
    /// A scan has changed the library, or has failed.
    case library(LibraryStatus)
    /// A stored playlist has changed, is new, or is gone.
    case playlists(name: String)

    /// The subscription that this event belongs to.
    package var kind: RemoteEventSet {
        switch self {
        case .status(let kind, _): kind
        case .configuration: .configuration
        case .failed: .failed
        case .offline: .offline
        case .library: .library
        case .playlists: .playlists
        }
    }
}

/// The events that a client can subscribe to.
public struct RemoteEventSet: OptionSet, Sendable {
    public let rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// - Parameter bit: the number of the event, from 0.
    package init(_ bit: Int) { rawValue = 1 << UInt16(bit) }

    /// The names in the order of the bits.
    package static let names = [
        "state", "track", "queue", "volume", "position", "configuration", "problems", "failed", "offline",
        "library", "playlists",
    ]

    public static let state = RemoteEventSet(0)
    public static let track = RemoteEventSet(1)
    public static let queue = RemoteEventSet(2)
    public static let volume = RemoteEventSet(3)
    /// The position: sent once a second while it advances, and when it jumps.
    public static let position = RemoteEventSet(4)
    public static let configuration = RemoteEventSet(5)
    public static let problems = RemoteEventSet(6)
    public static let failed = RemoteEventSet(7)
    /// Downloads and offline copies.
    public static let offline = RemoteEventSet(8)
    public static let library = RemoteEventSet(9)
    public static let playlists = RemoteEventSet(10)
    public static let all = RemoteEventSet(rawValue: 0x7FF)

    /// The kind of event for a change of the daemon.
    package init(_ change: DaemonEvent) {
        self =
            switch change {
            case .state: .state
            case .track: .track
            case .queue: .queue
            case .positionJumped: .position
            case .volume: .volume
            case .configuration: .configuration
            case .problems: .problems
            case .failed: .failed
            case .offline: .offline
            case .library: .library
            case .playlists: .playlists
            }
    }

    /// The index in `names`, for a set of one kind.
    package var index: Int { rawValue.trailingZeroBitCount }
}
