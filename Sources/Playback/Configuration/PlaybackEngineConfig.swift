import PCM
import Platform

/// Configuration of the playback engine (docs/playback.md, 9), persisted by the player.
///
/// Thread: any. A value applies at once, and is written to storage in the background, in the order of the changes. A
/// power cut during a write may lose the last change, but not earlier values.
/// `@unchecked Sendable` is safe because `lock` guards the values.
public final class PlaybackEngineConfig: @unchecked Sendable {
    package struct Values: Equatable, Sendable {
        package var loudnessNormalizationMode = LoudnessNormalizationMode.album
        package var loudnessNormalizationPreAmp = 4
        package var untaggedGain = 0
        package var streamingWifiAudioQuality = AudioQuality.lossless
        package var streamingCellularAudioQuality = AudioQuality.low
        package var offlineAudioQuality = AudioQuality.lossless
        package var offlineVideoQuality = VideoQuality.high
        package var offlineOverCellular = false
        package var volume = Volume.full
        /// False until the user sets the volume, or the card's mixer provides one.
        package var isVolumeKnown = true
        /// The volume that the player last set in a card's mixer while no volume was known. If the mixer still has this
        /// volume later, the user has not chosen it.
        package var unaskedVolume: Volume?
        package var maximumVolume = Volume.full
        package var isMuted = false
        /// The device on which `auto` played last. `auto` prefers it to other devices of the same kind.
        package var automaticDevice: Device?

        package init() {}
    }

    /// A playback device by its name.
    package struct Device: Equatable, Sendable {
        package let name: String

        package init(_ name: String) { self.name = name }

        package static func == (one: Self, other: Self) -> Bool { one.name.utf8.elementsEqual(other.name.utf8) }
    }

    private let lock = Lock()
    /// Guarded by `lock`, as is `observer`.
    private var current: Values
    private var observer: (@Sendable (Values) -> Void)?

    package init(_ values: Values) { current = values }

    package var values: Values { lock.withLock { current } }

    /// Calls `observer` with all values after each change. The observer must only pass them on: it runs under the lock,
    /// so that changes arrive in order.
    /// - Parameter observer: nil removes it.
    package func observe(_ observer: (@Sendable (Values) -> Void)?) {
        lock.withLock { self.observer = observer }
    }

    package func update(_ change: (inout Values) -> Void) {
        lock.withLock {
            let before = current
            change(&current)
            if current != before { observer?(current) }
        }
    }

    // MARK: Loudness

    /// How the loudness of products is normalised. Default: album.
    public var loudnessNormalizationMode: LoudnessNormalizationMode {
        get { values.loudnessNormalizationMode }
        set { update { $0.loudnessNormalizationMode = newValue } }
    }

    /// Pre-amplification in dB, limited to −30…30. Default: 4; 0 suits televisions.
    public var loudnessNormalizationPreAmp: Int {
        get { values.loudnessNormalizationPreAmp }
        set { update { $0.loudnessNormalizationPreAmp = Self.limitedPreAmp(newValue) } }
    }

    package static func limitedPreAmp(_ decibels: Int) -> Int { max(-30, min(30, decibels)) }

    /// The gain in dB that normalization applies to local files whose loudness is not known; limited to −20…6. Default:
    /// 0, which does not change their samples.
    public var untaggedGain: Int {
        get { values.untaggedGain }
        set { update { $0.untaggedGain = Self.limitedUntaggedGain(newValue) } }
    }

    package static func limitedUntaggedGain(_ decibels: Int) -> Int { max(-20, min(6, decibels)) }

    // MARK: Quality

    /// The quality on Wi-Fi and Ethernet. Default: lossless.
    public var streamingWifiAudioQuality: AudioQuality {
        get { values.streamingWifiAudioQuality }
        set { update { $0.streamingWifiAudioQuality = newValue } }
    }

    /// The quality on a metered link. Default: low.
    public var streamingCellularAudioQuality: AudioQuality {
        get { values.streamingCellularAudioQuality }
        set { update { $0.streamingCellularAudioQuality = newValue } }
    }

    // MARK: Volume

    /// The user's volume, limited to `maximumVolume`. While no volume is known, this is `PlayerSettings.firstVolume`,
    /// or the volume of the card's mixer (docs/decisions/first-volume.md). Full volume does not change the samples.
    public var volume: Volume {
        get { values.volume }
        set {
            update {
                $0.volume = newValue.limited(to: $0.maximumVolume)
                $0.isVolumeKnown = true
            }
        }
    }

    /// Uses the volume of the card's mixer when none is known.
    func adopt(_ volume: Volume) {
        update {
            guard !$0.isVolumeKnown else { return }
            $0.volume = volume.limited(to: $0.maximumVolume)
            $0.isVolumeKnown = true
        }
    }

    /// Remembers that the player set the card's mixer to `volume` without a request of the user.
    func remember(unasked volume: Volume) { update { $0.unaskedVolume = volume } }

    /// Remembers the device that `auto` has chosen.
    func remember(automatic device: String) { update { $0.automaticDevice = Device(device) } }

    /// The highest volume that can be set. Lowering it below the volume lowers the volume too. Default: full.
    public var maximumVolume: Volume {
        get { values.maximumVolume }
        set {
            update {
                $0.maximumVolume = newValue
                $0.volume = $0.volume.limited(to: newValue)
            }
        }
    }

    /// Mutes and keeps the volume. Default: false.
    public var isMuted: Bool {
        get { values.isMuted }
        set { update { $0.isMuted = newValue } }
    }
}
