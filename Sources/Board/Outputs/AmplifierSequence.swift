/// Decides when an amplifier is muted around the starts and stops of the sound device, so that they make no pop. Times
/// are nanoseconds of any one clock.
///
/// The owner of the device starts and stops it only on a step of this type, and reports when it runs.
///
/// No function here may have two constant arrays. An Embedded build of Swift 6.3 compiles the function into several
/// modules. Each module numbers the arrays in its own order, and the linker keeps only one array for each number. It
/// used `[.stopDevice]` for `[.startDevice]`, so that nothing was played with an amplifier.
public struct AmplifierSequence: Sendable {
    /// The steps to carry out now, in order.
    public enum Step: Equatable, Sendable {
        case mute
        case unmute
        case startDevice
        case stopDevice
    }

    private enum State {
        /// Muted; the device is stopped.
        case silent
        /// Muted; the device may start at this time.
        case beforeStart(at: Int64)
        /// Muted; the device was asked to start.
        case starting
        /// Muted; the device runs and settles until this time.
        case settling(until: Int64)
        case audible
        /// Muted; the device runs and is stopped at this time.
        case beforeStop(at: Int64)
    }

    private let muteBeforeStart: Int64
    private let unmuteAfterStart: Int64
    private let muteBeforeStop: Int64
    private var state = State.silent
    /// The earliest start of the device, when the amplifier has been muted for long enough.
    private var earliestStart: Int64
    /// The time from which the mute times count.
    private var mutedAt: Int64

    /// Begins in the muted state: the line must have its muted level from its request on.
    public init(_ amplifier: BoardAmplifier, mutedAt now: Int64) {
        muteBeforeStart = Int64(amplifier.muteBeforeStart) * 1_000_000
        unmuteAfterStart = Int64(amplifier.unmuteAfterStart) * 1_000_000
        muteBeforeStop = Int64(amplifier.muteBeforeStop) * 1_000_000
        earliestStart = now + muteBeforeStart
        mutedAt = now
    }

    /// Notes that the line has reached its muted level. Setting it took some time, by which all dependent times are
    /// moved.
    public mutating func muted(at now: Int64) {
        let delay = max(0, now - mutedAt)
        mutedAt += delay
        earliestStart += delay
        switch state {
        case .beforeStart(let time): state = .beforeStart(at: time + delay)
        case .beforeStop(let time): state = .beforeStop(at: time + delay)
        case .silent, .starting, .settling, .audible: break
        }
    }

    public var isMuted: Bool { if case .audible = state { false } else { true } }

    /// Whether the device was asked to start, and not to stop since.
    public var isDeviceStarted: Bool {
        switch state {
        case .starting, .settling, .audible, .beforeStop: true
        case .silent, .beforeStart: false
        }
    }

    /// Whether the device will be stopped when the amplifier has been muted for long enough.
    public var isStopping: Bool { if case .beforeStop = state { true } else { false } }

    /// When to call `advance`; nil when no time is awaited.
    public var deadline: Int64? {
        switch state {
        case .beforeStart(let time), .settling(let time), .beforeStop(let time): time
        case .silent, .starting, .audible: nil
        }
    }

    /// Asks for the device.
    public mutating func wantDevice(at now: Int64) -> [Step] {
        switch state {
        case .silent:
            state = .beforeStart(at: earliestStart)
        case .beforeStop:
            // The device still runs and need not settle.
            state = .settling(until: now)
        case .beforeStart, .starting, .settling, .audible:
            break
        }
        return advance(to: now)
    }

    /// Notes that the device has started, or was running already.
    public mutating func deviceStarted(at now: Int64) -> [Step] {
        guard case .starting = state else { return [] }
        state = .settling(until: now + unmuteAfterStart)
        return advance(to: now)
    }

    /// Handles a device that has stopped by itself and has to be reopened, like a stop and a start.
    public mutating func restartDevice(at now: Int64) -> [Step] {
        var steps: [Step] = []
        switch state {
        case .audible:
            steps.append(.mute)
            mutedAt = now
            earliestStart = now + max(muteBeforeStart, muteBeforeStop)
        case .beforeStop(let time):
            earliestStart = max(earliestStart, time)
        case .silent, .beforeStart, .starting, .settling:
            break
        }
        state = .beforeStart(at: earliestStart)
        return steps + advance(to: now)
    }

    /// Releases the device.
    public mutating func releaseDevice(at now: Int64) -> [Step] {
        var steps: [Step] = []
        switch state {
        case .audible:
            steps.append(.mute)
            mutedAt = now
            earliestStart = now + muteBeforeStart
            state = .beforeStop(at: now + muteBeforeStop)
        case .settling:
            state = .beforeStop(at: now)
        case .starting:
            state = .silent
            steps.append(.stopDevice)
        case .beforeStart:
            state = .silent
        case .silent, .beforeStop:
            break
        }
        return steps + advance(to: now)
    }

    /// Notes that the device is lost: it was unplugged, or a start failed.
    public mutating func deviceLost(at now: Int64) -> [Step] {
        let wasAudible = !isMuted
        state = .silent
        if wasAudible {
            mutedAt = now
            earliestStart = now + muteBeforeStart
        }
        return wasAudible ? [.mute] : []
    }

    /// Handles the passing of time.
    public mutating func advance(to now: Int64) -> [Step] {
        guard let deadline, deadline <= now else { return [] }
        let step: Step
        switch state {
        case .beforeStart:
            state = .starting
            step = .startDevice
        case .settling:
            state = .audible
            step = .unmute
        case .beforeStop:
            state = .silent
            step = .stopDevice
        case .silent, .starting, .audible:
            return []
        }
        return [step]
    }
}
