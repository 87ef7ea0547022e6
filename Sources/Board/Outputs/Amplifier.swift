import Platform

/// A board's amplifier. It is muted around the starts and stops of the sound device, as `AmplifierSequence` decides.
/// When its line cannot be used, the device still plays.
///
/// Thread: the event loop's, which may hold this object from `start` to `stop`.
public final class Amplifier {
    /// A request to the owner of the sound device.
    public enum DeviceStep: Equatable, Sendable {
        /// Start the device. Then call `deviceStarted`, or `deviceLost` when it cannot be started.
        case start
        case stop
    }

    /// The amplifier in messages.
    static let subject = "amplifier"

    private let output: SteadyOutput
    private let activeMeansAudible: Bool
    private let loop: EventLoop
    private let clock: any MonotonicClock
    private let carryOut: (DeviceStep) -> Void
    private var sequence: AmplifierSequence
    private var timer: TimerToken?

    /// - Parameter clock: the loop's clock.
    /// - Parameter carryOut: called on the loop's thread, also from within the calls below.
    /// - Parameter deliver: called on the loop's thread with `.ready` and `.unavailable`.
    public init(
        _ amplifier: BoardAmplifier, lines: any LineProvider, loop: EventLoop, clock: any MonotonicClock,
        carryOut: @escaping (DeviceStep) -> Void, deliver: @escaping (BoardEvent) -> Void
    ) {
        activeMeansAudible = amplifier.role == .enable
        self.loop = loop
        self.clock = clock
        self.carryOut = carryOut
        sequence = AmplifierSequence(amplifier, mutedAt: clock.now())
        output = SteadyOutput(
            Self.subject, line: amplifier.line, active: amplifier.active, initially: !activeMeansAudible,
            provider: lines, loop: loop, deliver: deliver)
    }

    /// Whether the device was asked to start, and not to stop since.
    public var isDeviceStarted: Bool { sequence.isDeviceStarted }
    /// Whether the device will be stopped when the amplifier has been muted for long enough.
    public var isStopping: Bool { sequence.isStopping }

    /// Requests the line, muted. Call it once.
    public func start() {
        output.start()
        sequence.muted(at: clock.now())
    }

    /// Mutes and releases the line.
    public func stop() {
        perform(sequence.deviceLost(at: clock.now()))
        output.stop()
    }

    /// Asks for the device; `carryOut(.start)` follows when it may start.
    public func wantDevice() { perform(sequence.wantDevice(at: clock.now())) }

    /// Notes that the device has started.
    public func deviceStarted() { perform(sequence.deviceStarted(at: clock.now())) }

    /// Restarts a device that has stopped by itself; `carryOut(.start)` follows when it may start.
    public func restartDevice() { perform(sequence.restartDevice(at: clock.now())) }

    /// Releases the device; `carryOut(.stop)` follows when it may stop.
    public func releaseDevice() { perform(sequence.releaseDevice(at: clock.now())) }

    /// Notes that the device is gone, or could not be started.
    public func deviceLost() { perform(sequence.deviceLost(at: clock.now())) }

    private func perform(_ steps: [AmplifierSequence.Step]) {
        // The line first: its mute time begins when it is muted.
        for step in steps {
            switch step {
            case .mute:
                output.set(!activeMeansAudible)
                sequence.muted(at: clock.now())
            case .unmute: output.set(activeMeansAudible)
            case .startDevice, .stopDevice: break
            }
        }
        // The device last: it may call back.
        schedule()
        for step in steps {
            switch step {
            case .mute, .unmute: break
            case .startDevice: carryOut(.start)
            case .stopDevice: carryOut(.stop)
            }
        }
    }

    private func schedule() {
        if let timer { loop.cancel(timer) }
        timer = nil
        guard let deadline = sequence.deadline else { return }
        timer = loop.schedule(after: deadline - clock.now()) {
            self.timer = nil
            self.perform(self.sequence.advance(to: self.clock.now()))
        }
    }
}
