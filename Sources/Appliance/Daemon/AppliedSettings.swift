import Platform
import Player

/// Applies settings that can change while the daemon runs.
///
/// Thread: the daemon's.
struct AppliedSettings {
    let player: Player
    let volume: VolumeControl
    /// The device that is used without the setting: that of the board's profile, or `auto`.
    let defaultDevice: String

    /// Returns the device that a configuration selects.
    func device(of configuration: Configuration) -> String { configuration.device ?? defaultDevice }

    func apply(_ setting: SettingName, of configuration: Configuration) {
        switch setting {
        case .device: player.playbackEngine.use(device: device(of: configuration))
        case .maximumVolume: volume.setMaximum(configuration.maximumVolume)
        case .normalization:
            player.playbackEngineConfig.loudnessNormalizationMode = configuration.normalization
            volume.gainChanged()
        case .preAmp:
            player.playbackEngineConfig.loudnessNormalizationPreAmp = configuration.preAmp
            volume.gainChanged()
        case .untaggedGain:
            player.playbackEngineConfig.untaggedGain = configuration.untaggedGain
            volume.gainChanged()
        case .wifiQuality: player.playbackEngineConfig.streamingWifiAudioQuality = configuration.wifiQuality
        case .cellularQuality: player.playbackEngineConfig.streamingCellularAudioQuality = configuration.cellularQuality
        case .offlineOnly: player.isOfflineMode = configuration.isOfflineOnly
        case .offlineQuality: player.offlineEngineConfig.offlineAudioQuality = configuration.offlineQuality
        case .offlineVideoQuality: player.offlineEngineConfig.offlineVideoQuality = configuration.offlineVideoQuality
        case .offlineOverCellular: player.offlineEngineConfig.offlineOverCellular = configuration.offlineOverCellular
        case .logLevel: Log.minimumLevel = configuration.logLevel
        // The other settings are read when they are needed, or take effect at the next start.
        default: break
        }
    }
}
