/// When an amplifier is muted around the starts and stops of the sound device, so that they do not pop. Times are
/// nanoseconds of any one clock.
///
/// The owner of the device starts and stops it only when this type says so, and reports when it runs.
///
/// No function here may have two constant arrays. An Embedded build of Swift 6.3 compiles the function into several
/// modules. Each module numbers the arrays in its own order, and the linker keeps only one array for each number. It
/// used `[.stopDevice]` for `[.startDevice]`, so that nothing was played with an amplifier.
public struct AmplifierSequence: Sendable {
    /// What to do now, in this order.
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
    /// The earliest start of the device: from then on the amplifier has been muted for long enough.
    private var earliestStart: Int64
    /// From when on the times above count.
    private var mutedAt: Int64

    /// The line must be at its muted level already, from the moment of the request on.
    public init(_ amplifier: BoardAmplifier, mutedAt now: Int64) {
        muteBeforeStart = Int64(amplifier.muteBeforeStart) * 1_000_000
        unmuteAfterStart = Int64(amplifier.unmuteAfterStart) * 1_000_000
        muteBeforeStop = Int64(amplifier.muteBeforeStop) * 1_000_000
        earliestStart = now + muteBeforeStart
        mutedAt = now
    }

    /// The line has its muted level now. Setting it took some time, by which everything that it has to be muted for
    /// comes later.
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

    /// When to call `advance`; nil when there is nothing to wait for.
    public var deadline: Int64? {
        switch state {
        case .beforeStart(let time), .settling(let time), .beforeStop(let time): time
        case .silent, .starting, .audible: nil
        }
    }

    /// The device is wanted.
    public mutating func wantDevice(at now: Int64) -> [Step] {
        switch state {
        case .silent:
            state = .beforeStart(at: earliestStart)
        case .beforeStop:
            // It still runs: nothing has to settle.
            state = .settling(until: now)
        case .beforeStart, .starting, .settling, .audible:
            break
        }
        return advance(to: now)
    }

    /// The device has started, or was running already.
    public mutating func deviceStarted(at now: Int64) -> [Step] {
        guard case .starting = state else { return [] }
        state = .settling(until: now + unmuteAfterStart)
        return advance(to: now)
    }

    /// The device has stopped by itself and has to be reopened. Handled like a stop and a start.
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

    /// The device is not wanted any more.
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

    /// The device is lost: it was unplugged, or a start failed.
    public mutating func deviceLost(at now: Int64) -> [Step] {
        let wasAudible = !isMuted
        state = .silent
        if wasAudible {
            mutedAt = now
            earliestStart = now + muteBeforeStart
        }
        return wasAudible ? [.mute] : []
    }

    /// Time passed.
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
