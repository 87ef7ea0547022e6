import PCM
import Player

/// Carries commands out, wherever they come from.
///
/// Thread: that of the conductor.
public final class CommandDispatcher {
    /// What the appliance is asked for that is not the player's.
    public enum SystemCommand: Equatable, Sendable { case networkRestart, powerOff }

    /// How many percent a press of a volume button is.
    public static let volumeStep = 4

    private let conductor: QueueConductor
    private let configuration: PlaybackEngineConfig
    private let system: (SystemCommand) -> Void

    /// - Parameter system: carries out what is not the player's.
    public init(
        conductor: QueueConductor, configuration: PlaybackEngineConfig, system: @escaping (SystemCommand) -> Void
    ) {
        self.conductor = conductor
        self.configuration = configuration
        self.system = system
    }

    public func perform(_ command: ApplianceCommand) {
        switch command {
        case .play: conductor.play()
        case .pause: conductor.pause()
        case .toggle: conductor.toggle()
        case .next: conductor.next()
        case .previous: conductor.previous()
        case .stop: conductor.stop()
        case .volumeUp: changeVolume(by: Self.volumeStep)
        case .volumeDown: changeVolume(by: -Self.volumeStep)
        case .mute: configuration.isMuted.toggle()
        case .shuffle: conductor.setShuffled(!conductor.queue.isShuffled)
        case .networkRestart: system(.networkRestart)
        case .powerOff: system(.powerOff)
        }
    }

    /// Turns the volume up or down. Whoever turns it up wants to hear something.
    /// - Parameter percent: limited to what is allowed.
    public func changeVolume(by percent: Int) {
        configuration.volume = Volume(percent: configuration.volume.percent + percent)
        if percent > 0 { configuration.isMuted = false }
    }
}
