import CLinux
import Platform
import Player

/// The wait for an entry whose medium is missing: a stick that was pulled out, a share that is mounted after the player
/// starts. At first only this entry is retried. Then the other entries get their turn. When none of them can be played
/// either, this entry is retried for ever.
struct MediumWait: Equatable {
    /// How often the entry is tried before the others.
    private static let patience = 15
    /// In nanoseconds.
    private static let soon: Int64 = 2_000_000_000
    private static let later: Int64 = 10_000_000_000

    let entry: EntryID
    /// The position to resume at, in seconds.
    var position: Double
    private var attempts = 1
    private var othersWereTried = false

    init(_ entry: EntryID, at position: Double) {
        self.entry = entry
        self.position = position
    }

    private var isPatient: Bool { attempts <= Self.patience }
    /// Whether the entry is tried now, and not the others.
    var isOn: Bool { isPatient || othersWereTried }

    /// How long to wait before the next attempt, in nanoseconds.
    mutating func interval() -> Int64 {
        attempts += 1
        return isPatient ? Self.soon : Self.later
    }

    mutating func letOthersTry() { othersWereTried = true }

    /// Whether an error means that the medium is missing, in contrast to a file that is missing or broken. So it does
    /// when the system has no descriptor or thread left to read it with.
    /// - Parameter media: those of the queue.
    static func isNeeded(after error: PlayerError, _ media: MusicMedia = MusicMedia()) -> Bool {
        guard case .system(let failure) = error.cause, let path = error.mediaProduct?.productId else { return false }
        switch failure.code {
        case ENOENT, ENOTDIR: return isMissing(Folder.containing(path)) || media.isMissing(for: path)
        // It was there a moment ago.
        case EIO, ENXIO, ENODEV, ESTALE, ENOTCONN, EHOSTDOWN: return true
        // Each other entry would fail too, until it is over.
        default: return failure.isOfResources
        }
    }

    /// Whether the folder of a missing file is missing too, or is empty: a mount point without its medium is an empty
    /// folder (docs/decisions/missing-medium.md).
    private static func isMissing(_ folder: String) -> Bool {
        FileKind(at: folder) != .folder || Folder.isEmpty(folder)
    }
}
