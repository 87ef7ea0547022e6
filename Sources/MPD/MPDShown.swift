import Appliance
import PCM
import Player
import Queue

/// The state of the player as clients of MPD see it, apart from lists and positions. A client is notified of a part
/// only when its visible state changes, and not of each event in the player.
struct MPDShown: Equatable {
    /// The values of the subsystem `player`.
    private struct Song: Equatable {
        var state = MPDState.stop
        var current: EntryID?
        var format: [Int] = []
        var duration: Double?
        var texts: [String?] = []
    }

    private struct Options: Equatable {
        var isShuffled = false
        var repeatMode = RepeatMode.off
        var normalization = LoudnessNormalizationMode.off
    }

    private var song = Song()
    private var options = Options()
    private var volume = 0
    private var isOutputEnabled = true

    init() {}

    /// - Parameter context: the context of the current entry; nil while it is not open.
    init(_ daemon: Daemon, state: MPDState, isOutputEnabled: Bool, context: PlaybackContext?) {
        let contents = daemon.queue.contents
        song.state = state
        // As in MPD, another current entry is no change of the player while it is stopped.
        if state != .stop { song.current = contents.current }
        if state != .stop, let context {
            song.format = [context.audioSampleRate ?? 0, context.audioBitDepth ?? 0]
            song.duration = context.duration
            song.texts = [context.title, context.artist, context.album]
        }
        options.isShuffled = contents.isShuffled
        options.repeatMode = contents.repeatMode
        options.normalization = daemon.settings.configuration.normalization
        volume = daemon.volume.isMuted ? 0 : daemon.volume.percent
        self.isOutputEnabled = isOutputEnabled
    }

    func changes(since old: MPDShown) -> MPDSubsystems {
        var parts: MPDSubsystems = []
        if song != old.song { parts.insert(.player) }
        if options != old.options { parts.insert(.options) }
        if volume != old.volume { parts.insert(.mixer) }
        if isOutputEnabled != old.isOutputEnabled { parts.insert(.output) }
        return parts
    }
}
