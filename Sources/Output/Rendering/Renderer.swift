import CLinux
import PCM
import Platform
import Synchronization

/// How the renderer drives its device.
public struct RendererSettings: Sendable {
    /// `hw:CARD=id,DEV=0` or any PCM name.
    public var device: String
    /// Drive the device with this sample format only; nil takes the widest that it has.
    public var sampleFormat: SampleFormat?
    /// Length of the device's buffer in milliseconds.
    public var bufferMilliseconds = 200
    /// Periods per buffer, at least 2.
    public var periodCount = 4
    /// Milliseconds of silence before the music after the device was opened, for converters that swallow the beginning.
    public var settleAtStart = 0
    /// The same when it was reopened because the sample rate changed.
    public var settleAtRateChange = 0
    /// Whether audio with a channel count that the device does not have is adapted to it. Otherwise that is an error,
    /// which names the counts that it has (docs/playback.md, 8).
    public var allowsAdaptation = true
    /// Whether playback fades out and in around a pause, a seek or a skip, where the device allows it
    /// (docs/playback.md, 7). Without it every frame is heard as it is.
    public var fades = true
    /// Start of the dither's random sequence.
    public var ditherSeed: UInt64 = 0x746f_6e65_6172_6d00

    public init(device: String, sampleFormat: SampleFormat? = nil) {
        self.device = device
        self.sampleFormat = sampleFormat
    }

    func request(for format: PCMFormat) -> DeviceRequest {
        var request = DeviceRequest(device: device, format: format, sampleFormat: sampleFormat)
        request.bufferMilliseconds = bufferMilliseconds
        request.periodCount = periodCount
        request.allowsAdaptation = allowsAdaptation
        return request
    }
}

/// What control and the audio thread share: two queues and the position, none of them locked.
/// `@unchecked Sendable` is safe because everything in it is a queue between two threads, a snapshot or an atomic.
final class RendererChannel: @unchecked Sendable {
    let commands = MessageQueue<RendererCommand>(capacity: 256)
    let events = MessageQueue<RendererEvent>(capacity: 1024)
    let position = Snapshot(RenderPosition())
    /// How many commands the audio thread has carried out.
    let processed = Atomic<UInt64>(0)
    /// Whether the audio thread is to end. Beside the queue, which may be full while a device blocks.
    let isQuitting = Atomic(false)

    /// Tells control. Audio thread; `PlayHead.canReport` has made sure that there is room.
    func post(_ kind: RendererEvent.Kind) {
        let event = RendererEvent(kind: kind, processedCommands: processed.load(ordering: .relaxed))
        let isQueued = events.push(event)
        assert(isQueued, "the event queue is full")
    }
}

/// The audio thread as control sees it: commands go in, events come out, in order.
///
/// The audio thread makes no system call to wake anybody, so events are fetched: call `nextEvent` every few
/// milliseconds while anything is expected.
///
/// Thread: control alone, but for `position`, which any thread may read.
/// `@unchecked Sendable` is safe because control alone uses what changes.
public final class Renderer: @unchecked Sendable {
    private let channel: RendererChannel
    private let wakeUp: WakeUp
    /// Signalled by the audio thread when it ends.
    private let ended: WakeUp
    private let thread: NamedThread
    /// Commands that found no room in the queue, oldest first: the audio thread may hang in a call of its device.
    private var overflow: [RendererCommand] = []
    /// The number of the last command that was sent.
    public private(set) var sentCommands: UInt64 = 0

    /// Starts the audio thread. The device is opened when something is to be played.
    /// - Parameter priority: of SCHED_FIFO, or `.normal`. Where it is not permitted the thread runs without, and the
    ///   log says so.
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

    /// Falls silent, closes the device and ends the thread. Only `nextEvent` may be called afterwards.
    ///
    /// Opening a device, or writing to one that is a pipe, can block for ever. Such a thread is left behind for the end
    /// of the process.
    /// - Parameter patience: how long to wait for the thread, in milliseconds.
    /// - Returns: false when the thread was left behind. Everything that it uses must then stay: streams, provider,
    ///   clock.
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

    /// Forgets whatever plays and begins with `stream`; the next stream stays as it is.
    @discardableResult public func begin(_ stream: PCMStream) -> UInt64 { send(.begin(.passUnretained(stream))) }

    /// Says what follows the stream that plays. It replaces one that was not heard yet.
    @discardableResult public func setNext(_ stream: PCMStream?) -> UInt64 {
        send(.setNext(stream.map { .passUnretained($0) }))
    }

    /// Lets the device run. `generation` comes back in the events that tell how it went.
    @discardableResult public func run(generation: UInt64) -> UInt64 { send(.run(generation: generation)) }

    /// Falls silent at once and keeps the position.
    @discardableResult public func hold() -> UInt64 { send(.hold) }

    /// Forgets all streams; with `releaseDevice` other programs can open the device afterwards.
    @discardableResult public func clear(releaseDevice: Bool) -> UInt64 { send(.clear(releaseDevice: releaseDevice)) }

    /// From now on `.reopening` comes before a device that is open is reopened, which then waits for `reopen`.
    @discardableResult public func askBeforeReopening() -> UInt64 { send(.askBeforeReopening) }

    /// Lets the device be reopened. Changes nothing when that question is void.
    @discardableResult public func reopen(question: UInt64) -> UInt64 { send(.reopen(question: question)) }

    /// Makes the audio thread look at its clock again.
    public func nudge() { send(.nudge) }

    /// The number of the last command that was carried out: streams that it dropped may be freed.
    public var processedCommands: UInt64 { channel.processed.load(ordering: .acquiring) }

    /// What happened, oldest first; nil when there is nothing new.
    public func nextEvent() -> RendererEvent? {
        deliver()
        return channel.events.pop()
    }

    /// What is heard now.
    public var position: RenderPosition { channel.position.read() }

    @discardableResult private func send(_ command: RendererCommand) -> UInt64 {
        deliver()
        if !overflow.isEmpty || !channel.commands.push(command) { overflow.append(command) }
        sentCommands += 1
        wakeUp.signal()
        return sentCommands
    }

    /// Sends what found no room before.
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
                // Another program may open the device once the command is carried out: it has to be closed by then.
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
