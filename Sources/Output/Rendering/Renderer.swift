import CLinux
import PCM
import Platform
import Synchronization

/// The settings of the renderer and its device.
public struct RendererSettings: Sendable {
    /// `hw:CARD=id,DEV=0` or any PCM name.
    public var device: String
    /// Use only this sample format; nil uses the widest one of the device.
    public var sampleFormat: SampleFormat?
    /// Length of the device's buffer in milliseconds.
    public var bufferMilliseconds = 200
    /// Periods per buffer, at least 2.
    public var periodCount = 4
    /// Silence before the music after the device was opened, in milliseconds, for converters that cut off the
    /// beginning.
    public var settleAtStart = 0
    /// The silence before the music when the device was reopened for another sample rate, in milliseconds.
    public var settleAtRateChange = 0
    /// Whether audio with a channel count that the device does not have is adapted. Otherwise it is an error that names
    /// the counts of the device (docs/playback.md, 8).
    public var allowsAdaptation = true
    /// The conversion of rates that the device does not have. The decoder carries it out: the device gets the rate of
    /// its stream, or refuses it.
    public var sampleRates = SampleRateRule()
    /// Whether DSD is sent as DSD over PCM to a device that may take it. Otherwise, and for other devices, DSD is
    /// decoded to PCM. The decoder carries it out.
    public var sendsDSD = false
    /// The side that each front channel of the device plays.
    public var routing = ChannelRouting.straight
    /// Whether playback fades out and in around a pause, a seek or a skip, if the device allows it (docs/playback.md,
    /// 7). When false, every frame is played unchanged.
    public var fades = true
    /// The seed of the dither's random sequence.
    public var ditherSeed: UInt64 = 0x746f_6e65_6172_6d00

    public init(device: String, sampleFormat: SampleFormat? = nil) {
        self.device = device
        self.sampleFormat = sampleFormat
    }

    func request(for format: PCMFormat) -> DeviceRequest {
        var request = DeviceRequest(device: device, format: format, sampleFormat: sampleFormat)
        request.bufferMilliseconds = bufferMilliseconds
        request.periodCount = periodCount
        request.allowsAdaptation = allowsAdaptation && !format.isDSD
        return request
    }
}

/// The data that control and the audio thread share: two queues and the position, without locks.
/// `@unchecked Sendable` is safe because everything in it is a queue between two threads, a snapshot or an atomic.
final class RendererChannel: @unchecked Sendable {
    let commands = MessageQueue<RendererCommand>(capacity: 256)
    let events = MessageQueue<RendererEvent>(capacity: 1024)
    let position = Snapshot(RenderPosition())
    /// How many commands the audio thread has carried out.
    let processed = Atomic<UInt64>(0)
    /// Whether the audio thread should end. Separate from the queue, which may be full while a device blocks.
    let isQuitting = Atomic(false)

    /// Sends an event to control. Audio thread; `PlayHead.canReport` has checked that there is room.
    func post(_ kind: RendererEvent.Kind) {
        let event = RendererEvent(kind: kind, processedCommands: processed.load(ordering: .relaxed))
        let isQueued = events.push(event)
        assert(isQueued, "the event queue is full")
    }
}

/// The interface of the audio thread for control: commands go in, events come out, in
/// order (`docs/decisions/leaving-a-blocked-device-behind.md`).
///
///     let renderer = try Renderer(
///         provider: ALSADeviceProvider(), clock: SystemMonotonicClock(),
///         settings: RendererSettings(device: "hw:CARD=DAC"), priority: .realtime(40))
///     renderer.begin(stream)  // a decoder fills its ring
///     renderer.run(generation: 1)
///     while let event = renderer.nextEvent() { print(event.kind) }  // every few milliseconds
///
/// The audio thread makes no system call to wake another thread, so control polls: call `nextEvent` every few
/// milliseconds while an event is expected.
///
/// Thread: only control, except for `position`, which any thread may read.
/// `@unchecked Sendable` is safe because only control uses its mutable state.
public final class Renderer: @unchecked Sendable {
    private let channel: RendererChannel
    private let wakeUp: WakeUp
    /// Signalled by the audio thread when it ends.
    private let ended: WakeUp
    private let thread: NamedThread
    /// Commands that did not fit into the queue, oldest first: the audio thread may hang in a call of its device.
    private var overflow: [RendererCommand] = []
    /// The device names that the audio thread may still read, with their commands. They are held here so that the audio
    /// thread frees none.
    private var devices: [(command: UInt64, name: DeviceNameBox)] = []
    /// The number of the last command that was sent.
    public private(set) var sentCommands: UInt64 = 0

    /// Starts the audio thread. The device is opened when something has to be played.
    /// - Parameter priority: the priority in SCHED_FIFO, or `.normal`. Without the permission, the thread runs at
    ///   normal priority and logs that.
    public init(
        provider: any DeviceProvider, clock: any MonotonicClock, settings: RendererSettings,
        priority: NamedThread.Priority
    ) throws(SystemError) {
        let channel = RendererChannel()
        let wakeUp = try WakeUp()
        let ended = try WakeUp()
        self.channel = channel
        self.wakeUp = wakeUp
        self.ended = ended
        thread = try NamedThread.start(name: "audio", priority: priority) {
            let loop = RenderLoop(provider: provider, clock: clock, settings: settings, channel: channel)
            Self.run(loop, channel, wakeUp)
            ended.signal()
        }
        if let refusal = thread.refusal { Log.notice("\(refusal)") }
    }

    /// Stops, closes the device and ends the thread. Only `nextEvent` may be called afterwards.
    ///
    /// Opening a device, or writing to a device that is a pipe, can block for ever. Such a thread is abandoned until
    /// the process ends.
    /// - Parameter patience: how long to wait for the thread, in milliseconds.
    /// - Returns: false when the thread was abandoned. The caller must then keep everything that it uses: streams,
    ///   provider, clock.
    @discardableResult public func shutDown(patience: Int32 = 1000) -> Bool {
        channel.isQuitting.store(true, ordering: .releasing)
        wakeUp.signal()
        guard ended.wait(milliseconds: patience) else {
            Log.warning("The sound device does not answer. It is left open until the process ends.")
            return false
        }
        thread.join()
        return true
    }

    // MARK: Commands; see `RendererCommand`. Each returns its number for `processedCommands`.

    /// Drops the current stream and begins with `stream`; the next stream stays.
    @discardableResult public func begin(_ stream: PCMStream) -> UInt64 { send(.begin(.passUnretained(stream))) }

    /// Sets the stream that follows the current one. It replaces a following stream that was not heard yet.
    @discardableResult public func setNext(_ stream: PCMStream?) -> UInt64 {
        send(.setNext(stream.map { .passUnretained($0) }))
    }

    /// Starts the device. The events about the result have the same `generation`.
    @discardableResult public func run(generation: UInt64) -> UInt64 { send(.run(generation: generation)) }

    /// Stops the sound at once and keeps the position.
    @discardableResult public func hold() -> UInt64 { send(.hold) }

    /// Drops all streams; with `releaseDevice` other programs can open the device afterwards.
    @discardableResult public func clear(releaseDevice: Bool) -> UInt64 { send(.clear(releaseDevice: releaseDevice)) }

    /// From now on `.reopening` is sent before an open device is reopened, and the audio thread waits for `reopen`.
    @discardableResult public func askBeforeReopening() -> UInt64 { send(.askBeforeReopening) }

    /// Allows the device to be reopened. Ignored when the question is no longer open.
    @discardableResult public func reopen(question: UInt64) -> UInt64 { send(.reopen(question: question)) }

    /// Uses another device from now on, or at once if something plays. Continues with the first frame that was not
    /// heard yet.
    /// - Parameter device: as `RendererSettings.device`.
    @discardableResult public func use(_ device: String) -> UInt64 {
        // Keeps the last name whose command was carried out, because the audio thread may read it when it opens a
        // device.
        while devices.count > 1, devices[1].command <= processedCommands { devices.removeFirst() }
        let box = DeviceNameBox(device)
        devices.append((sentCommands + 1, box))
        return send(.use(.passUnretained(box)))
    }

    /// Makes the audio thread check its clock again.
    public func nudge() { send(.nudge) }

    /// The number of the last command that was carried out: streams that this command dropped may be freed.
    public var processedCommands: UInt64 { channel.processed.load(ordering: .acquiring) }

    /// The next event, oldest first; nil when there is none.
    public func nextEvent() -> RendererEvent? {
        deliver()
        return channel.events.pop()
    }

    /// The position that is heard now.
    public var position: RenderPosition { channel.position.read() }

    @discardableResult private func send(_ command: RendererCommand) -> UInt64 {
        deliver()
        if !overflow.isEmpty || !channel.commands.push(command) { overflow.append(command) }
        sentCommands += 1
        wakeUp.signal()
        return sentCommands
    }

    /// Sends commands that did not fit into the queue before.
    private func deliver() {
        guard !overflow.isEmpty else { return }
        var count = 0
        while count < overflow.count, channel.commands.push(overflow[count]) { count += 1 }
        overflow.removeFirst(count)
        wakeUp.signal()
    }

    // MARK: The audio thread

    private static func run(_ loop: RenderLoop, _ channel: RendererChannel, _ wakeUp: WakeUp) {
        while true {
            if channel.isQuitting.load(ordering: .acquiring) {
                _ = loop.handle(.quit)
                return
            }
            while let command = channel.commands.pop() {
                _ = loop.handle(command)
                // Another program may open the device once the command is carried out: the device has to be closed by
                // then.
                while loop.isReleasing {
                    let wait = loop.step()
                    if loop.isReleasing { loop.wait(wait, wakeUp: wakeUp) }
                }
                channel.processed.add(1, ordering: .releasing)
            }
            loop.wait(loop.step(), wakeUp: wakeUp)
        }
    }
}
