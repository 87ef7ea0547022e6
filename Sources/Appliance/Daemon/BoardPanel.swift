import Board
import Network
import Platform
import Queue

/// The board's buttons, lights and amplifier, connected to the daemon.
///
/// Thread: the daemon's.
final class BoardPanel {
    private let buttons: Buttons
    private let lights: Lights
    private let amplifier: Amplifier?
    private let held: HeldLines

    /// - Parameters:
    ///   - output: the output for which the amplifier is muted and unmuted.
    ///   - perform: carries out the command of a button.
    ///   - report: called with the reason when a line cannot be opened, and with nil when it can be opened again.
    init(
        _ profile: BoardProfile, lines: any LineProvider, loop: EventLoop, clock: any MonotonicClock,
        output: AmplifiedOutput, perform: @escaping (ApplianceCommand) -> Void,
        report: @escaping (_ subject: String, String?) -> Void
    ) {
        let partsOfDAC = profile.partsOfDAC
        func deliver(_ event: BoardEvent) {
            switch event {
            case .action(let action, _, _):
                if let command = ApplianceCommand(name: action.rawValue) { perform(command) }
            case .ready(let subject): report(subject, nil)
            case .unavailable(let subject, .lineTaken(let line, let owner)) where partsOfDAC.contains(subject):
                Log.notice(
                    "\(subject): \(LineError.lineTaken(line, by: owner)) That is the DAC's driver, which sets it.")
            case .unavailable(let subject, let error): report(subject, error.description)
            case .gesture(let name, .stuck): report("button \(name)", ButtonGesture.stuck.text)
            case .gesture(let name, .chattering): report("button \(name)", ButtonGesture.chattering.text)
            case .gesture(let name, .freed): report("button \(name)", nil)
            case .gesture, .edge, .turned: Log.debug(event.description)
            }
        }
        func carryOut(_ step: Amplifier.DeviceStep) {
            switch step {
            case .start: output.deviceMayStart()
            case .stop: output.deviceMayStop()
            }
        }
        buttons = Buttons(profile, lines: lines, loop: loop, clock: clock, deliver: deliver)
        lights = Lights(profile, lines: lines, loop: loop, clock: clock, deliver: deliver)
        amplifier = profile.amplifier.map {
            Amplifier($0, lines: lines, loop: loop, clock: clock, carryOut: carryOut, deliver: deliver)
        }
        held = HeldLines(profile, lines: lines, loop: loop, deliver: deliver)
        if let amplifier { output.use(amplifier) }
    }

    /// Starts lights and amplifier, before any playback. Buttons are read from `listen` on: opening their lines takes a
    /// moment.
    func start() {
        lights.start()
        lights.show([.boot])
        amplifier?.start()
        held.start()
    }

    func listen() { buttons.start() }

    func stop() {
        buttons.stop()
        amplifier?.stop()
        held.stop()
        lights.stop()
    }

    func show(_ status: DaemonStatus) { lights.show(Self.conditions(of: status)) }

    /// The conditions that the lights show. A missing device is shown as a stall.
    static func conditions(of status: DaemonStatus) -> Set<LightCondition> {
        var conditions: Set<LightCondition> = []
        switch status.playback {
        case .playing: conditions.insert(.playing)
        case .stalled: conditions.insert(.stalled)
        case .paused, .stopped: conditions.insert(.paused)
        }
        if status.link?.isOffline ?? false { conditions.insert(.offline) }
        if status.problems.contains(where: { !$0.isOfDevice }) { conditions.insert(.error) }
        return conditions
    }
}

extension Amplifier: OutputAmplifier {}
