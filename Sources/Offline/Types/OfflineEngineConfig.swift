import Playback

/// Configuration of the offline engine (docs/playback.md, 16.3), persisted by the player.
///
/// Thread: any. A value applies at once, to all later requests, and is written to storage in the background.
public final class OfflineEngineConfig: Sendable {
    /// All of the player's configuration is stored in one place.
    private let all: PlaybackEngineConfig

    package init(_ all: PlaybackEngineConfig) { self.all = all }

    /// The audio quality of downloads. Default: lossless.
    public var offlineAudioQuality: AudioQuality {
        get { all.values.offlineAudioQuality }
        set { all.update { $0.offlineAudioQuality = newValue } }
    }

    /// The video quality of downloads. Default: high.
    public var offlineVideoQuality: VideoQuality {
        get { all.values.offlineVideoQuality }
        set { all.update { $0.offlineVideoQuality = newValue } }
    }

    /// Whether products are downloaded and validated over a cellular network too. Default: false.
    public var offlineOverCellular: Bool {
        get { all.values.offlineOverCellular }
        set { all.update { $0.offlineOverCellular = newValue } }
    }
}
