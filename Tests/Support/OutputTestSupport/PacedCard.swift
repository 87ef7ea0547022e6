import CLinux
import Foundation
import Output
import PCM
import Platform
import TestSupport
import Testing

/// A sound card that plays when a test allows it, and records the frames that were heard. Only its frames' own time
/// passes: without `advance` or `play` nothing is heard, and a late renderer makes it wait instead of running dry.
///
/// Any thread.
// @unchecked: `condition` guards the mutable state.
public final class PacedCard: DeviceProvider, @unchecked Sendable {
    /// The frames that were heard from one opening of the device to its closing.
    public struct Recording: Sendable {
        public var configuration: DeviceConfiguration
        public var bytes: [UInt8] = []

        /// The samples as left-justified `Int32`.
        public var samples: [Int32] {
            let width = configuration.sampleFormat.byteCount
            return stride(from: 0, to: bytes.count, by: width).map { offset in
                var value: UInt32 = 0
                for index in 0..<width { value |= UInt32(bytes[offset + index]) << UInt32(8 * index) }
                if configuration.sampleFormat == .iec958Subframe { return Int32(bitPattern: value << 4) & ~0xff }
                return Int32(bitPattern: value << UInt32(32 - configuration.sampleFormat.bitDepth))
            }
        }

        public var frames: Int { bytes.count / configuration.sampleFormat.byteCount / configuration.channelCount }
    }

    let condition = NSCondition()
    let readable: Int32
    // Guarded by `condition`.
    private var recordingsMade: [Recording] = []
    private var allowance = 0
    private var granted = 0
    private var leastBufferFrames = 0
    private var isFree = false
    private var openFailure: DeviceError?
    private var sampleFormats: [SampleFormat] = SampleFormat.allCases
    private var rates: Set<Int>?
    var current: PacedDevice?
    private var openings = 0
    private var holdsOpenings = false
    private var isBetterThere = false
    private var waitingOpenings = 0
    var startFault: DeviceFault?
    private var channels: [Int]?
    private var layout: ChannelLayout?
    private var audible = false
    private var rewinds = false
    private let patience = Patience()

    public init() {
        readable = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    }

    deinit { close(readable) }

    // MARK: Actions of the test

    /// Lets the card play `frames` more frames, as far as they were written.
    /// - Returns: the frames heard.
    @discardableResult public func advance(_ frames: Int) -> Int {
        condition.withLock {
            defer { signal() }
            return current?.consume(frames) ?? 0
        }
    }

    /// Lets the card play `frames` more frames, as soon as they are there.
    /// - Returns: the frames that will have been heard then.
    @discardableResult public func allow(_ frames: Int) -> Int {
        condition.withLock {
            allowance += frames
            consumeAllowance()
            return heardInAll() + allowance
        }
    }

    /// Lets the card play `frames` more frames and returns when they were heard.
    public func play(_ frames: Int, sourceLocation: SourceLocation = #_sourceLocation) {
        let target = allow(frames)
        wait("\(frames) frames to be heard", sourceLocation: sourceLocation) { self.heardInAll() >= target }
    }

    /// Lets the card play `frames` more frames at the next query of its position, and not before: the caller then
    /// knows of each frame.
    public func playWhenAsked(_ frames: Int) {
        condition.withLock {
            granted += frames
            signal()
        }
    }

    /// From now on the card plays as fast as frames come.
    public func playFreely() {
        condition.withLock {
            isFree = true
            consumeAllowance()
        }
    }

    /// From now on the card plays only the frames that the test allows.
    public func hold() { condition.withLock { isFree = false } }

    /// Removes the card: frames that were written and not heard are lost, and it cannot be opened.
    public func unplug() {
        condition.withLock {
            openFailure = .absent(device: "paced", present: [])
            current?.faults.append(.vanished)
            signal()
        }
    }

    /// Whether it could be opened.
    public var isPresent: Bool { condition.withLock { openFailure == nil } }

    /// Plugs it in again, or takes back any other reason for not opening.
    public func plugIn() { condition.withLock { openFailure = nil } }

    /// An opening waits from now on, until `letOpen`.
    public func holdOpenings() { condition.withLock { holdsOpenings = true } }

    /// Whether an opening waits for `letOpen`.
    public var isOpening: Bool { condition.withLock { waitingOpenings > 0 } }

    public func letOpen() {
        condition.withLock {
            holdsOpenings = false
            condition.broadcast()
        }
    }

    /// Opening fails from now on.
    public func refuse(with error: DeviceError) { condition.withLock { openFailure = error } }

    /// The open device reports this fault at the next call. With `.underrun` all written frames are heard; a device
    /// that does not run cannot run dry. Does nothing while the renderer has not recovered from another fault.
    public func inject(_ fault: DeviceFault) {
        condition.withLock {
            guard let current, current.faults.isEmpty else { return }
            if fault == .underrun {
                guard current.isStarted else { return }
                _ = current.consume(.max)
            }
            current.faults = [fault]
            signal()
        }
    }

    /// Lets each start of the device fail from now on; nil: no more.
    public func failToStart(with fault: DeviceFault?) { condition.withLock { startFault = fault } }

    /// The card's capabilities from now on.
    public func support(_ formats: [SampleFormat], rates: Set<Int>? = nil) {
        condition.withLock {
            sampleFormats = formats
            self.rates = rates
        }
    }

    /// The card has these channel counts from now on; nil for any.
    public func support(channels: [Int]?) { condition.withLock { self.channels = channels } }

    /// The card has this channel map from now on, when it has been opened with as many channels.
    public func support(layout: ChannelLayout?) { condition.withLock { self.layout = layout } }

    /// Makes the card audible and able to take back unheard frames, so that music fades. Call it before the card is
    /// opened.
    public func becomeAudible(rewinds: Bool = true) {
        condition.withLock {
            audible = true
            self.rewinds = rewinds
        }
    }

    /// The card has no smaller buffer than this from now on.
    public func setLeastBuffer(frames: Int) { condition.withLock { leastBufferFrames = frames } }

    // MARK: State for the test

    public var recordings: [Recording] { condition.withLock { recordingsMade } }
    public var isOpen: Bool { condition.withLock { current != nil } }
    public var openingCount: Int { condition.withLock { openings } }
    /// Frames written and not heard.
    public var pendingFrames: Int { condition.withLock { current?.pendingFrames ?? 0 } }
    public var isStarted: Bool { condition.withLock { current?.isStarted ?? false } }
    public var heardFrames: Int { condition.withLock { heardInAll() } }

    /// Returns when `isTrue`, which is evaluated at each event of the card. When it does not become true, the test
    /// fails and continues.
    public func wait(
        _ what: String, sourceLocation: SourceLocation = #_sourceLocation, until isTrue: () -> Bool
    ) {
        condition.lock()
        defer { condition.unlock() }
        let limit = patience.limit
        while !isTrue() {
            if !condition.wait(until: limit) { return patience.end(what, sourceLocation) }
        }
    }

    /// As `wait`, for conditions that use the public properties.
    public func waitUntil(
        _ what: String, sourceLocation: SourceLocation = #_sourceLocation, _ isTrue: (PacedCard) -> Bool
    ) {
        let limit = patience.limit
        while !isTrue(self) {
            condition.lock()
            let isInTime = condition.wait(until: min(limit, Date(timeIntervalSinceNow: 0.05))) || Date() < limit
            condition.unlock()
            if !isInTime { return patience.end(what, sourceLocation) }
        }
    }

    // MARK: DeviceProvider

    /// From now on another device than the open one would be chosen, until the next opening.
    public func offerBetter() { condition.withLock { isBetterThere = true } }

    public func hasBetter(than device: String, for name: String) -> Bool { condition.withLock { isBetterThere } }

    public func open(_ request: DeviceRequest) throws(DeviceError) -> any PlaybackDevice {
        condition.lock()
        defer { condition.unlock() }
        defer { condition.broadcast() }
        waitingOpenings += 1
        condition.broadcast()
        let limit = Deadline().date
        while holdsOpenings, condition.wait(until: limit) {}
        waitingOpenings -= 1
        openings += 1
        isBetterThere = false
        if let openFailure { throw openFailure }
        var format = request.format
        if let channels, !channels.contains(format.channelCount) {
            guard request.allowsAdaptation,
                let count = ChannelAdaptation.deviceChannelCount(
                    for: format.channelCount, of: ChannelCounts(channels))
            else {
                throw .channelsNotSupported(
                    device: request.device, channels: format.channelCount, supported: channels)
            }
            format.channelCount = count
        }
        if let rates, !rates.contains(format.sampleRate) {
            throw .rateNotSupported(device: request.device, rate: format.sampleRate, supported: rates.sorted())
        }
        guard
            let sampleFormat = sampleFormats.first(where: {
                (request.sampleFormat ?? $0) == $0 && (!request.format.isDSD || $0.carriesDSD)
            })
        else { throw .sampleFormatNotSupported(device: request.device, requested: request.sampleFormat) }
        let bufferFrames = max(format.sampleRate * request.bufferMilliseconds / 1000, leastBufferFrames)
        var configuration = DeviceConfiguration(
            device: request.device, sampleRate: format.sampleRate, channelCount: format.channelCount,
            sampleFormat: sampleFormat, significantBits: sampleFormat.bitDepth, bufferFrames: bufferFrames,
            periodFrames: bufferFrames / request.periodCount, memoryMapped: true,
            channels: ChannelCounts(channels ?? Array(1...ChannelCounts.largest)), rates: rates?.sorted() ?? [])
        configuration.layout = layout
        recordingsMade.append(Recording(configuration: configuration))
        let device = PacedDevice(card: self, configuration: configuration)
        current = device
        return device
    }

    // MARK: For the device, under the lock

    var isAudible: Bool { audible }
    var canRewind: Bool { rewinds }

    func heard(_ bytes: ArraySlice<UInt8>) { recordingsMade[recordingsMade.count - 1].bytes += bytes }

    func consumeAllowance() {
        guard let current, current.isStarted else { return }
        let consumed = current.consume(isFree ? .max : allowance)
        if !isFree { allowance -= consumed }
        signal()
    }

    func consumeGranted() {
        guard let current, current.isStarted else { return }
        _ = current.consume(granted)
        granted = 0
    }

    private func heardInAll() -> Int { recordingsMade.reduce(0) { $0 + $1.frames } }

    func signal() {
        var one: UInt64 = 1
        _ = write(readable, &one, 8)
        condition.broadcast()
    }
}
