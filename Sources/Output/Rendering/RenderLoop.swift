import PCM
import Platform

/// The audio thread's work: drives the device, and writes the frames that `PlayHead`
/// reads (`docs/decisions/silence-behind-the-last-frame.md`).
///
/// `step` does the work that is possible now, and returns what to wait for. `Renderer` runs it on its thread, tests
/// call it directly. From the opening of a device to its closing, no method allocates, locks, logs or makes system
/// calls except those of ALSA and the clock.
final class RenderLoop {
    /// The current activity of the loop.
    private enum Activity {
        /// Silent: without a stream, or on hold.
        case parked
        /// The device is filled and does not run yet.
        case priming
        case running
        /// The last frames before the end of a stream, or before a change of format, are in the device.
        case draining
        /// The device has stopped, and is reopened when control answers this question.
        case asking(question: UInt64)
        /// Control has answered the question.
        case reopening
        /// The device cannot be opened; the next attempt is at this time of the clock.
        case waitingForDevice(retryAt: Int64)
    }

    static let deviceRetryInterval: Int64 = 1_000_000_000
    /// The position is published at least this often, in milliseconds.
    private static let longestDeviceWait: Int32 = 250
    /// The limit for faults in a row without a frame heard between them. Then the device is closed and retried later.
    private static let faultLimit = 4

    private let clock: any MonotonicClock
    private let channel: RendererChannel

    private var head: PlayHead
    private(set) var slot: DeviceSlot
    private var reports: PlaybackReports
    private var activity = Activity.parked
    private var shouldRun = false
    private var faultsInARow = 0
    private var lastWrite: Int64 = 0
    private var backOff = BackOff()

    init(
        provider: any DeviceProvider, clock: any MonotonicClock, settings: RendererSettings, channel: RendererChannel
    ) {
        self.clock = clock
        self.channel = channel
        head = PlayHead(channel: channel)
        slot = DeviceSlot(provider: provider, settings: settings)
        reports = PlaybackReports(channel: channel)
    }

    // MARK: Commands

    /// - Returns: false after `.quit`.
    func handle(_ command: RendererCommand) -> Bool {
        switch command {
        case .begin(let stream):
            silence()
            head.begin(stream)
            activate()
        case .setNext(let stream):
            setNext(stream)
        case .run(let generation):
            shouldRun = true
            reports.begin(generation)
            switch activity {
            case .running, .draining, .asking, .reopening:
                break
            case .parked, .priming, .waitingForDevice:
                discardDeadDevice()
                slot.closeForBetter()
                activate()
            }
        case .hold:
            shouldRun = false
            silence()
            activate()
        case .clear(let releaseDevice):
            shouldRun = false
            silence()
            head.clear()
            activate()
            if releaseDevice { slot.release() }
        case .askBeforeReopening:
            slot.askBeforeReopening()
        case .reopen(let question):
            if case .asking(question) = activity { activity = .reopening }
        case .use(let device):
            silence()
            slot.use(device)
            activate()
            if case .parked = activity { slot.release() }
        case .nudge:
            break
        case .quit:
            slot.close()
            return false
        }
        return true
    }

    /// Whether the device will be closed soon: other programs cannot use it yet.
    var isReleasing: Bool { slot.closesAfterFade }

    private func activate() {
        activity = shouldRun && head.format != nil ? .priming : .parked
        backOff = BackOff()
    }

    private func setNext(_ stream: Unmanaged<PCMStream>?) {
        let replacesJoined = head.hasJoined
        if replacesJoined { silence() }
        head.follow(stream)
        switch activity {
        // The frames in the device may be followed without a gap.
        case .draining where stream != nil && !replacesJoined: activity = .running
        // The next stream was refused, so playback begins again.
        case .parked: activate()
        default: if replacesJoined { activate() }
        }
    }

    // MARK: Steps

    func step() -> Wait {
        if let milliseconds = slot.finishFadeOut(clock) { return .time(milliseconds: milliseconds) }
        if case .parked = activity { return .command }
        // The event queue is full because control has not read it. Waits until it does, because control must not miss
        // an event.
        guard head.canReport else { return .time(milliseconds: BackOff.longest) }
        do throws(DeviceFault) {
            switch activity {
            case .parked, .asking:
                return .command
            case .reopening:
                activity = .priming
                return try prime(mayReopen: true)
            case .waitingForDevice(let retryAt):
                let remaining = retryAt - clock.now()
                guard remaining <= 0 else {
                    return .time(milliseconds: Int32(clamping: (remaining + 999_999) / 1_000_000))
                }
                activity = .priming
                return try prime()
            case .priming:
                return try prime()
            case .running:
                return try keepRunning()
            case .draining:
                return try drain()
            }
        } catch {
            recover(from: error)
            return .time(milliseconds: 0)
        }
    }

    private func prime(mayReopen: Bool = false) throws(DeviceFault) -> Wait {
        // A stream without frames needs no device.
        if head.written == 0, head.isAtBoundary { return proceed() }
        guard let sink = openDevice(mayReopen: mayReopen) else { return .time(milliseconds: 0) }
        let result = try fill(sink)
        // Not every device fills up: ALSA's `null` always has room for a whole buffer.
        if case .starved = result, head.written < sink.startFrames, !head.isRingFull { return waitForFrames() }
        guard head.written > 0 || sink.isSettling else { return waitForFrames() }
        try sink.device.start()
        if case .boundary = result { activity = .draining } else { activity = .running }
        backOff = BackOff()
        reports.running()
        return .time(milliseconds: 0)
    }

    private func keepRunning() throws(DeviceFault) -> Wait {
        guard let sink = slot.sink else { return .command }
        try settle(sink)
        let writtenBefore = head.written
        let result = try fill(sink)
        if head.unheard > 0 || head.written > writtenBefore { reports.running() }
        switch result {
        case .full:
            backOff = BackOff()
            return .device(milliseconds: untilNews(in: sink))
        case .boundary:
            activity = .draining
            return .time(milliseconds: 0)
        case .starved, .tooManyBoundaries:
            if head.unheard == 0, clock.now() - lastWrite > sink.bufferDuration { reports.starved() }
            return waitForFrames()
        }
    }

    private func drain() throws(DeviceFault) -> Wait {
        guard let sink = slot.sink else { return .command }
        try sink.runOnBehindLastFrame()
        try settle(sink)
        if head.unheard > 0 {
            reports.running()
            return .time(milliseconds: Int32(min(Int64(BackOff.longest), sink.milliseconds(head.unheard) + 1)))
        }
        try sink.drain()
        _ = head.finish(.start)
        return proceed()
    }

    /// Continues after all frames before a boundary were heard.
    private func proceed() -> Wait {
        if head.passBoundary() {
            activity = .priming
        } else {
            activity = .parked
            channel.post(.ended(stream: head.end()))
        }
        return .time(milliseconds: 0)
    }

    /// How long to wait while a full device plays, in milliseconds. The device reports room long before
    /// `longestDeviceWait`, unless its buffer is very long.
    private func untilNews(in sink: SampleSink) -> Int32 {
        guard let frames = head.framesToBoundary else { return Self.longestDeviceWait }
        return min(Self.longestDeviceWait, Int32(clamping: sink.milliseconds(frames) + 1))
    }

    /// There are no frames to write, but the device has room.
    private func waitForFrames() -> Wait {
        .time(milliseconds: backOff.next(unheardMilliseconds: slot.sink?.milliseconds(head.unheard) ?? 0))
    }

    // MARK: Frames

    private func fill(_ sink: SampleSink) throws(DeviceFault) -> SampleSink.Filling {
        let before = head.written
        defer { if head.written > before { lastWrite = clock.now() } }
        return try sink.fill(from: &head)
    }

    /// Asks the device how much was heard.
    private func settle(_ sink: SampleSink) throws(DeviceFault) {
        if head.update(delayFrames: try sink.delayFrames()) { faultsInARow = 0 }
    }

    /// Silences the device, at once or by a fade-out, and goes back to the first frame that was unheard or faded.
    private func silence() {
        if let sink = slot.sink, head.written > 0 || sink.isSettling {
            do throws(DeviceFault) {
                try settle(sink)
                if try !beginFadeOut(sink) { try sink.drop() }
            } catch {
                revive(from: error)
            }
        }
        head.goBack()
    }

    // MARK: Fading out

    /// - Returns: false when the device has to be silenced at once.
    private func beginFadeOut(_ sink: SampleSink) throws(DeviceFault) -> Bool {
        switch activity {
        case .running, .draining: break
        case .parked, .priming, .asking, .reopening, .waitingForDevice: return false
        }
        guard let silentFrames = try sink.fadeOut(&head) else { return false }
        slot.begin(FadeOut(silentFrames: silentFrames, now: clock.now()))
        return true
    }

    // MARK: The device and its faults

    /// The device, open for the format that is read.
    /// - Parameter mayReopen: true when control has allowed it, or does not want to be asked.
    /// - Returns: nil when it cannot be opened; `activity` then has the next state.
    private func openDevice(mayReopen: Bool) -> SampleSink? {
        guard let format = head.format else {
            activity = .parked
            return nil
        }
        if slot.takes(format) { return slot.sink }
        if slot.hasToAsk, !mayReopen {
            activity = .asking(question: reports.reopening())
            return nil
        }
        do throws(DeviceError) {
            let sink = try slot.open(for: format)
            var configuration = sink.configuration
            configuration.adaptation = configuration.adaptation(of: format)
            let box = Unmanaged.passRetained(DeviceConfigurationBox(configuration))
            channel.post(.opened(stream: head.stream, box))
            return sink
        } catch {
            openingFailed(error)
            return nil
        }
    }

    private func openingFailed(_ error: DeviceError) {
        guard error.isPermanent else { return lose(error) }
        activity = .parked
        channel.post(.refused(stream: head.refuse(), Unmanaged.passRetained(DeviceErrorBox(error))))
    }

    /// Keeps the position and retries every second, because the device cannot be opened.
    private func lose(_ error: DeviceError) {
        faultsInARow = 0
        activity = .waitingForDevice(retryAt: clock.now() + Self.deviceRetryInterval)
        reports.lost(error)
    }

    /// Reopens a device at once that was lost while nothing played.
    private func discardDeadDevice() {
        guard let device = slot.sink?.device else { return }
        do throws(DeviceFault) {
            _ = try device.writableFrames()
        } catch {
            revive(from: error)
        }
    }

    /// Decides how to continue after a fault of the device: with the frame after the last one heard. Only this function
    /// does so.
    func recover(from fault: DeviceFault) {
        guard let device = slot.sink?.device else { return }
        if case .spoiled = fault { return giveUp(because: fault, of: device) }
        var isStarving = false
        if case .running = activity { isStarving = fault == .underrun && !head.hasMore }
        faultsInARow += 1
        revive(from: fault)
        activity = .priming
        if faultsInARow > Self.faultLimit {
            slot.close()
            lose(DeviceError(fault, of: device.configuration.device))
        } else if isStarving {
            reports.starved()
        }
    }

    /// The played audio is incomplete, and continuing would not repair it.
    private func giveUp(because fault: DeviceFault, of device: any PlaybackDevice) {
        let error = DeviceError(fault, of: device.configuration.device)
        slot.close()
        head.goBack()
        activity = .parked
        channel.post(.refused(stream: head.refuse(), Unmanaged.passRetained(DeviceErrorBox(error))))
    }

    /// Brings the device back, or closes it when it is gone, and accounts for its frames.
    private func revive(from fault: DeviceFault) {
        switch (fault, activity) {
        // All written frames were heard; otherwise the device would not have run empty.
        case (.underrun, .running):
            if head.finish(.middle) { faultsInARow = 0 }
        case (.underrun, .draining):
            if head.finish(.start) { faultsInARow = 0 }
        default:
            head.goBack()
        }
        slot.recover(from: fault)
    }
}
