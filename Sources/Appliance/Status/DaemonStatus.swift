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
