import PCM
import Platform
import Player

/// Changes the player's volume and reports the changes.
///
/// Thread: the daemon's.
public final class VolumeControl {
    /// The change of one press of a volume button, in percent.
    public static let step = 4

    private let configuration: PlaybackEngineConfig
    private let loop: EventLoop
    private let changed: () -> Void

    /// - Parameter changed: called when the volume, its maximum or the mute has changed.
    init(_ configuration: PlaybackEngineConfig, loop: EventLoop, changed: @escaping () -> Void = {}) {
        self.configuration = configuration
        self.loop = loop
        self.changed = changed
    }

    public var percent: Int { configuration.volume.percent }
    public var maximumPercent: Int { configuration.maximumVolume.percent }
    public var isMuted: Bool { configuration.isMuted }

    /// Sets the volume and ends a mute.
    /// - Parameter percent: limited to the maximum.
    public func set(percent: Int) {
        loop.assertOnLoop()
        reportingChange {
            configuration.isMuted = false
            configuration.volume = Volume(percent: percent)
        }
    }

    /// Turns the volume up or down. Turning it up ends a mute.
    /// - Parameter percent: negative for down; the result is limited to 0…maximum.
    public func change(by percent: Int) {
        loop.assertOnLoop()
        reportingChange {
            configuration.volume = Volume(percent: configuration.volume.percent + percent)
            if percent > 0 { configuration.isMuted = false }
        }
    }

    public func setMuted(_ muted: Bool) {
        loop.assertOnLoop()
        reportingChange { configuration.isMuted = muted }
    }

    public func toggleMute() { setMuted(!isMuted) }

    func setMaximum(_ volume: Volume) { reportingChange { configuration.maximumVolume = volume } }

    /// Reports that a setting of loudness has changed the gain of the samples, which the events of the volume contain.
    func gainChanged() { changed() }

    private func reportingChange(_ change: () -> Void) {
        let before = (configuration.volume, configuration.maximumVolume, configuration.isMuted)
        change()
        if (configuration.volume, configuration.maximumVolume, configuration.isMuted) != before { changed() }
    }
}
