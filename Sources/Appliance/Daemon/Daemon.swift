import PCM
import Platform
import Player

/// The appliance: plays its queue, remembers it, and does what buttons and clients ask for. Drives the playback engine
/// through its public interface alone.
///
/// Thread: that of `loop`, everything.
public final class Daemon: @unchecked Sendable {
    public let loop: EventLoop
    public let player: Player
    public private(set) var conductor: QueueConductor!
    /// What is in force: the file's values, and over them those that were set at run time.
    public private(set) var configuration: Configuration

    private var dispatcher: CommandDispatcher!
    private var focusHolders = FocusHolders()
    private var session = FocusSession()
    private var observers: [(number: UInt64, receive: (DaemonEvent) -> Void)] = []
    private var lastObserver: UInt64 = 0
    private var problems: [DaemonProblem] = []

    public init(loop: EventLoop, player: Player, configuration: Configuration) {
        self.loop = loop
        self.player = player
        self.configuration = configuration
        conductor = QueueConductor(engine: player.playbackEngine, loop: loop) { [unowned self] in receive($0) }
        dispatcher = CommandDispatcher(conductor: conductor, configuration: player.playbackEngineConfig) { _ in }
    }

    /// All that a client is shown, as it is now.
    public var status: DaemonStatus { DaemonStatus() }

    /// Calls `receive` with each change from now on.
    /// - Returns: what `ignore` takes to end it.
    public func observe(_ receive: @escaping (DaemonEvent) -> Void) -> UInt64 {
        lastObserver += 1
        observers.append((lastObserver, receive))
        return lastObserver
    }

    public func ignore(_ observer: UInt64) { observers.removeAll { $0.number == observer } }

    // MARK: What buttons and clients ask for

    public func perform(_ command: ApplianceCommand) { dispatcher.perform(command) }

    /// - Parameter percent: limited to what is allowed. Whoever sets the volume wants to hear it: this ends a mute.
    public func setVolume(percent: Int) { player.playbackEngineConfig.volume = Volume(percent: percent) }
    public func changeVolume(by percent: Int) { dispatcher.changeVolume(by: percent) }
    public func setMuted(_ muted: Bool) { player.playbackEngineConfig.isMuted = muted }

    // MARK: Focus

    /// Sets the focus for good.
    public func setFocus(_ level: FocusLevel) {}

    /// Sets the focus for as long as the holder is there.
    /// - Parameter level: nil gives it back.
    public func holdFocus(_ level: FocusLevel?, by holder: UInt64) {}

    public func setPower(_ state: PowerState) {}

    // MARK: Configuration

    /// Sets a value above the file's, for good: it is kept with the state.
    /// - Returns: whether it is in force; otherwise it will be from the next start on.
    public func set(_ setting: SettingName, to text: String) throws(SettingError) -> Bool { true }

    /// Lets the file's value hold again.
    /// - Returns: whether it is in force; otherwise it will be from the next start on.
    public func unset(_ setting: SettingName) -> Bool { true }

    private func receive(_ event: QueueConductor.Event) {}
}
