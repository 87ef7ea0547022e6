import Platform
import Player

/// The wait for an entry whose medium is not there: a stick that was pulled out, a share that is mounted later than the
/// player starts. For a while it alone is tried again; then the others have their turn, and when none of them can be
/// played either, it is tried on and on.
struct MediumWait: Equatable {
    /// How often the entry is tried before others are.
    private static let patience = 15
    /// In nanoseconds.
    private static let soon: Int64 = 2_000_000_000
    private static let later: Int64 = 10_000_000_000

    let entry: EntryID
    /// Where it goes on, in seconds.
    let position: Double
    private var attempts = 1

    init(_ entry: EntryID, at position: Double) {
        self.entry = entry
        self.position = position
    }

    var isPatient: Bool { attempts <= Self.patience }

    /// How long to wait before the next attempt, in nanoseconds.
    mutating func interval() -> Int64 {
        attempts += 1
        return isPatient ? Self.soon : Self.later
    }

    /// Whether an error means that the medium is not there, in contrast to a file that is not, or is broken.
    static func isNeeded(after error: PlayerError) -> Bool {
        guard let path = error.mediaProduct?.productId, let digits = systemErrorDigits(error) else { return false }
        switch digits {
        // ENOENT and ENOTDIR: the folder is not there either.
        case "2", "20": return FileKind(at: Folder.containing(path)) != .folder
        // EIO, ENXIO, ENODEV, ESTALE, ENOTCONN, EHOSTDOWN: it was, a moment ago.
        case "5", "6", "19", "116", "107", "112": return true
        default: return false
        }
    }

    /// The number of the system's error, where it is one.
    private static func systemErrorDigits(_ error: PlayerError) -> String? {
        guard error.code.utf8.first == UInt8(ascii: "s") else { return nil }
        return String(decoding: error.code.utf8.dropFirst(), as: UTF8.self)
    }
}
