import Output
import Player

/// The state of playback for a display.
struct NowPlaying {
    var file: String
    var context: PlaybackContext?
    var state: PlaybackState
    /// The position in seconds.
    var position: Double?
    var device: DeviceConfiguration?
    /// The signal path; nil while no device is open.
    var path: SignalPath?
    /// The volume in percent; 0 also when muted.
    var volume: Int
    /// Why the entry does not play, for the user.
    var problem: String?

    /// The title, or the file's name when there is none.
    var title: String {
        if let title = context?.title { return title }
        let slash = file.utf8.lastIndex(of: UInt8(ascii: "/"))
        return slash.map { String(file[file.utf8.index(after: $0)...]) } ?? file
    }
}
