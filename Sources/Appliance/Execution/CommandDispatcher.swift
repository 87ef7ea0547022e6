import Queue

/// Carries out commands of buttons and clients.
///
///     commands.perform(.toggle)  // as a button does
///
/// Thread: the thread of the queue.
public final class CommandDispatcher {
    private let queue: QueueConductor
    private let volume: VolumeControl
    private let system: (SystemCommand) -> Void

    /// - Parameter system: carries out commands that do not belong to the player.
    package init(queue: QueueConductor, volume: VolumeControl, system: @escaping (SystemCommand) -> Void) {
        self.queue = queue
        self.volume = volume
        self.system = system
    }

    public func perform(_ command: ApplianceCommand) {
        switch command {
        case .play: queue.play()
        case .pause: queue.pause()
        case .toggle: queue.toggle()
        case .next: queue.next()
        case .previous: queue.previous()
        case .stop: queue.stop()
        case .volumeUp: volume.change(by: VolumeControl.step)
        case .volumeDown: volume.change(by: -VolumeControl.step)
        case .mute: volume.toggleMute()
        case .shuffle: queue.setShuffled(!queue.contents.isShuffled)
        case .networkRestart: system(.networkRestart)
        case .restart: system(.restart)
        case .powerOff: system(.powerOff)
        }
    }
}
