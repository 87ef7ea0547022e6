import PCM
import Platform
import Synchronization

/// The audio thread's work: takes frames from the streams' rings to the device and tells what was heard.
///
/// `step` does what can be done now and says what to wait for; `Renderer` runs it on its thread, tests call it by hand.
/// Between the opening of a device and its closing nothing here allocates, locks, logs or makes a system call but ALSA's
/// and the clock's.
///
/// Frames that were written stay in their ring until the device says that they were heard. So a pause, a lost device or
/// a changed queue drops what is unheard and goes back to the exact sample (`rewindToHeard`).
final class RenderLoop {
    /// What to wait for before the next step.
    enum Wait: Equatable {
        /// A command.
        case command
        /// Room in the device.
        case device(milliseconds: Int32)
        /// A command, or time.
        case time(milliseconds: Int32)
    }

    /// What the loop is about.
    private enum Activity {
        /// Silent: no stream, or told to hold.
        case parked
        /// The device is being filled and does not run yet.
        case priming
        case running
        /// The last frames before the end of a stream, or before a change of format, are on their way.
        case draining(Continuation)
        /// The device cannot be had; the next try is at this time of the clock.
        case waitingForDevice(retryAt: Int64)
    }

    private enum Continuation {
        case end
        case reopen
    }

    private enum FillResult {
        case filled
        case starved
        case drain(Continuation)
    }

    static let deviceRetryInterval: Int64 = 1_000_000_000
    private static let longestPoll: Int32 = 50

    private let provider: any DeviceProvider
    private let clock: any MonotonicClock
    private let settings: RendererSettings
    private let channel: RendererChannel

    private var activity = Activity.parked
    private var sink: SampleSink?
    private var timeline = HeardTimeline()

    /// The run that is being read. Ahead of `timeline.current` while its first frames are unheard.
    private var reading: HeardTimeline.Run?
    /// Whether `reading` has a segment on the timeline yet.
    private var readingIsWritten = false
    private var next: Unmanaged<PCMStream>?
    /// The stream that control believes to be playing.
    private var announcedStream: UInt64 = 0
    private var announcedFormat: PCMFormat?

    private var shouldRun = false
    private var generation: UInt64 = 0
    private var isStarved = false
    private var hasReportedLoss = false
    private var lastWrite: Int64 = 0
    private var pollMilliseconds: Int32 = 1

    init(
        provider: any DeviceProvider, clock: any MonotonicClock, settings: RendererSettings, channel: RendererChannel
    ) {
        self.provider = provider
        self.clock = clock
        self.settings = settings
        self.channel = channel
    }

    // MARK: Commands

    /// - Returns: false after `.quit`.
    func handle(_ command: RendererCommand) -> Bool {
        switch command {
        case .begin(let stream):
            rewindToHeard()
            reading = Self.firstRun(of: stream)
            readingIsWritten = false
            announcedStream = reading?.streamID ?? 0
            announcedFormat = reading?.format
            publishPosition()
            activity = shouldRun ? .priming : .parked
        case .setNext(let stream):
            if joinedStreamIsUnheard {
                rewindToHeard()
                activity = shouldRun ? .priming : .parked
            }
            next = stream
            if case .draining(.end) = activity, stream != nil { activity = .running }
        case .run(let generation):
            self.generation = generation
            shouldRun = true
            isStarved = false
            hasReportedLoss = false
            switch activity {
            case .running, .draining: post(.running(generation: generation))
            case .parked, .priming, .waitingForDevice:
                discardDeadDevice()
                if reading != nil { activity = .priming }
            }
        case .hold:
            shouldRun = false
            rewindToHeard()
            activity = .parked
        case .clear(let releaseDevice):
            shouldRun = false
            rewindToHeard()
            reading = nil
            next = nil
            activity = .parked
            if releaseDevice { closeDevice() }
        case .nudge:
            break
        case .quit:
            rewindToHeard()
            closeDevice()
            return false
        }
        return true
    }

    /// Whether the device holds frames of a stream that follows the one control believes to be playing.
    private var joinedStreamIsUnheard: Bool {
        guard let reading, reading.streamID != announcedStream else { return false }
        return true
    }

    // MARK: Steps

    func step() -> Wait {
        do throws(DeviceFault) {
            switch activity {
            case .parked:
                return .command
            case .waitingForDevice(let retryAt):
                let now = clock.now()
                guard now >= retryAt else { return .time(milliseconds: Int32(clamping: (retryAt - now + 999_999) / 1_000_000)) }
                activity = .priming
                return .time(milliseconds: 0)
            case .priming:
                return try prime()
            case .running:
                return try keepRunning()
            case .draining(let continuation):
                return try drain(then: continuation)
            }
        } catch {
            return recover(from: error)
        }
    }

    /// Blocks as `step` said.
    func wait(_ wait: Wait, wakeUp: WakeUp) {
        switch wait {
        case .command:
            if wakeUp.wait(milliseconds: -1) { wakeUp.clear() }
        case .time(let milliseconds):
            if wakeUp.wait(milliseconds: milliseconds) { wakeUp.clear() }
        case .device(let milliseconds):
            guard let device = sink?.device else { return }
            do throws(DeviceFault) {
                if try device.wait(wakeUp: wakeUp.descriptor, milliseconds: milliseconds) { wakeUp.clear() }
            } catch {
                _ = recover(from: error)
            }
        }
    }

    private func prime() throws(DeviceFault) -> Wait {
        guard let sink = openDevice() else {
            if case .waitingForDevice = activity { return .time(milliseconds: 0) }
            return .command
        }
        switch try fill(sink) {
        case .filled:
            guard timeline.written > 0 else { return waitForFrames() }
            try sink.device.start()
            enterRunning()
            return .device(milliseconds: Self.longestPoll)
        case .drain(let continuation):
            if timeline.written > 0 { try sink.device.start() }
            enterRunning()
            activity = .draining(continuation)
            return .time(milliseconds: 0)
        case .starved:
            return waitForFrames()
        }
    }

    private func keepRunning() throws(DeviceFault) -> Wait {
        guard let sink else { return .command }
        try settle(sink.device)
        switch try fill(sink) {
        case .filled:
            reportEndOfStarvation()
            pollMilliseconds = 1
            return .device(milliseconds: Self.longestPoll)
        case .drain(let continuation):
            reportEndOfStarvation()
            activity = .draining(continuation)
            return .time(milliseconds: 0)
        case .starved:
            if timeline.unheard == 0, clock.now() - lastWrite > sink.bufferDuration { reportStarvation() }
            return waitForFrames()
        }
    }

    private func drain(then continuation: Continuation) throws(DeviceFault) -> Wait {
        guard let device = sink?.device else { return .command }
        try settle(device)
        if timeline.unheard > 0 {
            let milliseconds = timeline.unheard * 1000 / Int64(device.configuration.sampleRate) + 1
            return .time(milliseconds: min(Self.longestPoll, Int32(clamping: milliseconds)))
        }
        try device.drain()
        finishDraining(continuation)
        return .time(milliseconds: 0)
    }

    private func finishDraining(_ continuation: Continuation) {
        announceHeard(finished: true)
        switch continuation {
        case .end:
            if let reading { announce(reading) }
            publishPosition()
            timeline.clear()
            let ended = announcedStream
            reading = nil
            activity = .parked
            post(.ended(stream: ended))
        case .reopen:
            timeline.clear()
            closeDevice()
            activity = .priming
        }
        readingIsWritten = false
    }

    /// The ring is empty and its stream has not ended: look again soon, less and less often up to `longestPoll`.
    private func waitForFrames() -> Wait {
        defer { pollMilliseconds = min(pollMilliseconds * 2, Self.longestPoll) }
        return .time(milliseconds: pollMilliseconds)
    }

    // MARK: Reading the rings

    /// Writes as much as the device takes now.
    private func fill(_ sink: SampleSink) throws(DeviceFault) -> FillResult {
        var room = try sink.device.writableFrames()
        while room > 0 {
            guard let run = reading else { return .drain(.end) }
            let ring = run.stream._withUnsafeGuaranteedRef { $0.ring }
            let region = ring.readableRegion()
            let frames = min(room, region.count / run.format.channelCount)
            if frames == 0 {
                guard channel.events.freeCapacity > 8, !timeline.isFull else { return .filled }
                switch pass(ring.pendingMarker, in: run, ring) {
                case .passed: continue
                case .nothingYet: return .starved
                case .drain(let continuation): return .drain(continuation)
                }
            }
            let written = try write(region, frames, run, sink)
            if written == 0 { return .filled }
            room -= written
        }
        return .filled
    }

    private func write(
        _ region: UnsafeBufferPointer<Int32>, _ frames: Int, _ run: HeardTimeline.Run, _ sink: SampleSink
    ) throws(DeviceFault) -> Int {
        guard let source = region.baseAddress else { return 0 }
        let (ring, gain) = run.stream._withUnsafeGuaranteedRef { ($0.ring, $0.gain) }
        let written = try sink.write(source, frames, gain: gain, startsRun: !readingIsWritten)
        guard written > 0 else { return 0 }
        if !readingIsWritten {
            timeline.begin(run, at: ring.readPosition)
            readingIsWritten = true
        }
        timeline.wrote(written)
        ring.advance(written * run.format.channelCount)
        lastWrite = clock.now()
        return written
    }

    private enum MarkerResult {
        case passed
        case nothingYet
        case drain(Continuation)
    }

    /// At a boundary: goes on in the same device where the format allows, else asks for it to be drained first.
    private func pass(_ marker: PCMRing.PlacedMarker?, in run: HeardTimeline.Run, _ ring: PCMRing) -> MarkerResult {
        switch marker?.marker {
        case nil:
            return .nothingYet
        case .format(let format):
            let media = run.media(at: ring.readPosition)
            ring.passMarker()
            read(HeardTimeline.Run(
                stream: run.stream, streamID: run.streamID, format: format, ringStart: ring.readPosition,
                mediaStart: media))
            return format.joinsGaplessly(with: run.format) ? .passed : .drain(.reopen)
        case .end:
            guard let next else { return .drain(.end) }
            self.next = nil
            let following = Self.firstRun(of: next)
            read(following)
            return following.format.joinsGaplessly(with: run.format) ? .passed : .drain(.reopen)
        }
    }

    private func read(_ run: HeardTimeline.Run) {
        // A run without frames leaves its mark on the timeline, so that it is announced in its turn.
        if !readingIsWritten, let reading, timeline.current != nil {
            timeline.begin(reading, at: reading.ringStart)
        }
        reading = run
        readingIsWritten = false
    }

    private static func firstRun(of stream: Unmanaged<PCMStream>) -> HeardTimeline.Run {
        stream._withUnsafeGuaranteedRef {
            HeardTimeline.Run(
                stream: stream, streamID: $0.id, format: $0.format, ringStart: 0, mediaStart: $0.startPosition)
        }
    }

    // MARK: What was heard

    /// Asks the device what was heard, tells control of boundaries, and gives the ring back what will not be needed again.
    private func settle(_ device: any PlaybackDevice) throws(DeviceFault) {
        timeline.update(delayFrames: try device.delayFrames())
        announceHeard()
        releaseHeard()
        publishPosition()
    }

    private func releaseHeard() {
        guard let position = timeline.heardRingPosition, let current = timeline.current else { return }
        current.run.stream._withUnsafeGuaranteedRef { $0.ring.release(upTo: position) }
    }

    private func announceHeard(finished: Bool = false) {
        if let first = timeline.current, timeline.heard > first.deviceStart { announce(first.run) }
        while let segment = timeline.advance(finished: finished) { announce(segment.run) }
    }

    private func announce(_ run: HeardTimeline.Run) {
        if run.streamID != announcedStream {
            post(.heard(stream: run.streamID))
        } else if run.format != announcedFormat {
            post(.formatHeard(stream: run.streamID, format: run.format))
        }
        announcedStream = run.streamID
        announcedFormat = run.format
    }

    /// Silences the device and goes back to the first frame that was not heard, in the stream that it belongs to.
    private func rewindToHeard() {
        if let device = sink?.device {
            do throws(DeviceFault) {
                if timeline.unheard > 0 {
                    try settle(device)
                    try device.drop()
                }
            } catch {
                if !device.recover(from: error) { closeDevice() }
            }
        }
        goBackToHeard()
        publishPosition()
    }

    /// What was written and not heard will be read again.
    private func goBackToHeard() {
        if let position = timeline.heardRingPosition, let current = timeline.current, let reading {
            if reading.streamID != current.run.streamID {
                // The next stream was joined, and nothing of it was heard: it is the next one again, from its start.
                reading.stream._withUnsafeGuaranteedRef { $0.ring.rewind(to: reading.ringStart) }
                next = reading.stream
            }
            current.run.stream._withUnsafeGuaranteedRef { $0.ring.rewind(to: position) }
            self.reading = current.run
        }
        readingIsWritten = false
        timeline.clear()
    }

    private func publishPosition() {
        if let position = timeline.heardRingPosition, let current = timeline.current {
            channel.position.publish(RenderPosition(stream: current.run.streamID, nanoseconds: current.run.media(at: position)))
        } else if let reading, reading.streamID == announcedStream {
            let position = reading.stream._withUnsafeGuaranteedRef { $0.ring.readPosition }
            channel.position.publish(RenderPosition(stream: reading.streamID, nanoseconds: reading.media(at: position)))
        }
    }

    // MARK: The device and its faults

    /// The device, open for the format that is read. Opens it where it is not.
    /// - Returns: nil when that failed; `activity` says what happens instead.
    private func openDevice() -> SampleSink? {
        guard let format = reading?.format else {
            activity = .parked
            return nil
        }
        if let sink {
            if sink.takes(format) { return sink }
            closeDevice()
        }
        do throws(DeviceError) {
            let device = try provider.open(settings.request(for: format))
            let opened = SampleSink(device, ditherSeed: settings.ditherSeed)
            sink = opened
            post(.opened(Unmanaged.passRetained(DeviceConfigurationBox(device.configuration))))
            return opened
        } catch {
            openingFailed(error)
            return nil
        }
    }

    /// A device may have gone while nothing played; then it is opened anew at once.
    private func discardDeadDevice() {
        guard let device = sink?.device else { return }
        do throws(DeviceFault) {
            _ = try device.writableFrames()
        } catch {
            if !device.recover(from: error) { closeDevice() }
        }
    }

    private func openingFailed(_ error: DeviceError) {
        switch error {
        case .absent, .busy, .noPermission, .refused:
            lose(error)
        case .rateNotSupported, .channelsNotSupported, .sampleFormatNotSupported:
            activity = .parked
            guard let stream = reading?.streamID else { return }
            reading = nil
            post(.refused(stream: stream, Unmanaged.passRetained(DeviceErrorBox(error))))
        }
    }

    /// The one place that decides how to go on after a fault of the device.
    private func recover(from fault: DeviceFault) -> Wait {
        guard let device = sink?.device else { return .time(milliseconds: 0) }
        if fault == .underrun {
            // All that was written was heard, or the device would not have run dry.
            timeline.update(delayFrames: 0)
            announceHeard()
            releaseHeard()
        }
        let drained = timeline.unheard == 0
        guard device.recover(from: fault) else {
            lose(.absent(device: device.configuration.device, present: []))
            return .time(milliseconds: 0)
        }
        if drained, case .draining(let continuation) = activity {
            finishDraining(continuation)
            return .time(milliseconds: 0)
        }
        goBackToHeard()
        publishPosition()
        activity = .priming
        if fault == .underrun, !hasFrames { reportStarvation() }
        return .time(milliseconds: 0)
    }

    /// Whether something can be read right now.
    private var hasFrames: Bool {
        guard let reading else { return false }
        return reading.stream._withUnsafeGuaranteedRef { !$0.ring.readableRegion().isEmpty }
    }

    /// The device is gone: keep the position and try again every second.
    private func lose(_ error: DeviceError) {
        goBackToHeard()
        closeDevice()
        publishPosition()
        activity = .waitingForDevice(retryAt: clock.now() + Self.deviceRetryInterval)
        guard !hasReportedLoss else { return }
        hasReportedLoss = true
        post(.deviceLost(generation: generation, Unmanaged.passRetained(DeviceErrorBox(error))))
    }

    private func closeDevice() {
        sink?.device.close()
        sink = nil
    }

    // MARK: Reports

    private func enterRunning() {
        activity = .running
        isStarved = false
        hasReportedLoss = false
        pollMilliseconds = 1
        post(.running(generation: generation))
    }

    private func reportStarvation() {
        guard !isStarved else { return }
        isStarved = true
        post(.starved(generation: generation))
    }

    private func reportEndOfStarvation() {
        guard isStarved else { return }
        isStarved = false
        post(.running(generation: generation))
    }

    private func post(_ kind: RendererEvent.Kind) {
        let event = RendererEvent(kind: kind, processedCommands: channel.processed.load(ordering: .relaxed))
        // `fill` passes no boundary while the queue is nearly full, so this cannot fail.
        let isQueued = channel.events.push(event)
        assert(isQueued, "the event queue is full")
    }
}
