import Output
import PCM
import Platform

/// Carries out what `PlaybackStateMachine` decides: pipelines, renderer, messages.
///
/// Thread: control alone, but for `position(in:)`.
/// `@unchecked Sendable` is safe because control alone uses what changes; other threads only post to `loop`.
final class PlaybackConductor: @unchecked Sendable {
    private typealias Effect = PlaybackStateMachine.Effect

    /// A product's pipeline and the stream that it fills now.
    private struct Item {
        let product: MediaProduct
        let pipeline: MediaPipeline
        var stream: PCMStream?
        var replayGain = ReplayGain()
    }

    /// A stream that the renderer may still use.
    private struct Retired {
        let stream: PCMStream
        /// The command after which it does not; nil while that is being sent.
        var command: UInt64?
    }

    /// What is posted to the loop holds this: a loop that has ended keeps what comes too late.
    /// `@unchecked Sendable` is safe because control alone reads and writes `conductor`.
    private final class Link: @unchecked Sendable {
        /// nil after the end. Control's alone.
        var conductor: PlaybackConductor?
    }

    /// How soon the audio thread's events are fetched while it does something: it makes no system call to announce
    /// them. The time doubles as long as nothing happens, because waking up is most of what playing costs.
    private static let fetchIntervals: ClosedRange<Int64> = 20_000_000...100_000_000
    private static let startLimit: Int64 = 1_000_000_000

    private let loop: EventLoop
    private let bus: Bus<PlaybackMessage>
    private let published: PublishedPlayback
    private let renderer: Renderer
    private let source: any PlaybackSource
    private let newSessionID: () -> String
    private let settings: RendererSettings
    private let volume: LoudnessAndVolume
    private let link = Link()
    private let fetchTimer: LoopTimer
    private let startTimer: any StartTimer

    private var machine = PlaybackStateMachine()
    private var items: [ItemID: Item] = [:]
    private var lastItem: UInt64 = 0
    /// The item whose pipeline is published.
    private var publishedItem: ItemID?
    private var retired: [Retired] = []
    /// The last command that cut off what was playing: what the renderer says of streams from before is out of date.
    private var lastCut: UInt64 = 0
    /// The last command that released the device.
    private var lastRelease: UInt64 = 0
    private var isFetching = false
    private var fetchInterval = fetchIntervals.lowerBound
    /// What waits for the renderer to carry a command out.
    private var waiting: [(command: UInt64, action: () -> Void)] = []
    /// Whether the renderer is to run.
    private var isRunning = false
    /// Asked before the device is reopened.
    private var reopeningListener: ((DeviceReopening) -> Void)?
    /// Whether it was asked and waits for the report that the device runs.
    private var isReopening = false

    init(
        loop: EventLoop, bus: Bus<PlaybackMessage>, published: PublishedPlayback, renderer: Renderer,
        source: any PlaybackSource, newSessionID: @escaping () -> String, settings: RendererSettings,
        volume: LoudnessAndVolume, startTimer: any StartTimer
    ) {
        self.loop = loop
        self.bus = bus
        self.published = published
        self.renderer = renderer
        self.source = source
        self.newSessionID = newSessionID
        self.settings = settings
        self.volume = volume
        self.startTimer = startTimer
        fetchTimer = LoopTimer(loop)
        link.conductor = self
    }

    // MARK: Requests

    func load(_ product: MediaProduct) { handle(.load(product, newItem())) }
    func setNext(_ product: MediaProduct?) { handle(.setNext(product, newItem())) }

    func handle(_ event: PlaybackStateMachine.Event) {
        loop.assertOnLoop()
        for effect in machine.handle(event) { carryOut(effect) }
        // Whatever was closed above is out of the renderer's hands once it has seen all that was sent.
        for index in retired.indices where retired[index].command == nil {
            retired[index].command = renderer.sentCommands
        }
        for (id, item) in items { item.pipeline.setPlaying(isRunning && id == machine.currentItem) }
        publishPipeline()
        fetchEvents()
    }

    private func newItem() -> ItemID {
        lastItem += 1
        return ItemID(number: lastItem)
    }

    /// Brings the card's volume to the configured one, before anything is heard.
    func start() { volume.deviceChanged() }

    /// Ends the decoder threads, each as soon as its source lets it. Nothing else may be called afterwards but
    /// `discardEvents`.
    func shutDown() {
        link.conductor = nil
        fetchTimer.cancel()
        startTimer.cancel()
        reopeningListener = nil
        for item in items.values { item.pipeline.cancel() }
    }

    /// Takes what the renderer has still said. The renderer has ended.
    func discardEvents() {
        while let event = renderer.nextEvent() { event.release() }
    }

    /// Loudness or volume have changed: what plays is ramped to it.
    func configurationChanged() {
        loop.assertOnLoop()
        volume.applyVolume()
        applyGain()
    }

    private func applyGain() {
        for item in items.values { item.stream?.gain = volume.gain(for: item.replayGain) }
    }

    func afterCommands(_ action: @escaping () -> Void) {
        loop.assertOnLoop()
        waiting.append((renderer.sentCommands, action))
        fetchEvents()
    }

    func askBeforeReopening(_ listener: @escaping (DeviceReopening) -> Void) {
        loop.assertOnLoop()
        reopeningListener = listener
        renderer.askBeforeReopening()
        fetchEvents()
    }

    private func reopen(_ question: UInt64) {
        renderer.reopen(question: question)
        fetchEvents()
    }

    // MARK: Effects

    private func carryOut(_ effect: Effect) {
        switch effect {
        case .open(let id, let product):
            open(id, product)
        case .close(let id):
            guard let item = items.removeValue(forKey: id) else { return }
            item.pipeline.cancel()
            retire(item.stream)
        case .seek(let id, let seconds):
            items[id]?.pipeline.seek(toSeconds: seconds)
            lastCut = renderer.sentCommands
            published.update {
                $0.stream = nil
                // The end of a product of unknown length is known when the decoder is there.
                if seconds <= DecoderWorker.farthestPosition { $0.startPosition = seconds }
            }
        case .finish(let id):
            items[id]?.pipeline.finish()
        case .begin(let id):
            guard let stream = items[id]?.stream else { return }
            begin(stream)
        case .follow(let id):
            follow(id.flatMap { items[$0]?.stream })
        case .run(let generation):
            isRunning = true
            renderer.run(generation: generation)
        case .hold:
            isRunning = false
            renderer.hold()
        case .silence(let releaseDevice):
            isRunning = false
            lastCut = renderer.clear(releaseDevice: releaseDevice)
            if releaseDevice {
                lastRelease = lastCut
                published.update {
                    $0.device = nil
                    $0.deviceProblem = nil
                }
            }
        case .send(let message):
            publish()
            bus.send(message)
        case .watchStart(let generation):
            startTimer.start(after: Self.startLimit) { [self] in handle(.startIsLate(generation: generation)) }
        }
    }

    private func publish() {
        let product = machine.currentItem == nil ? nil : machine.announced
        published.update {
            $0.mediaProduct = product
            $0.context = machine.context
            $0.state = machine.playbackState
            if product == nil {
                $0.stream = nil
                $0.startPosition = nil
            }
        }
    }

    /// Compares ids, not pipelines: the Embedded compiler (6.3.1) crashes on the latter inside `handle`.
    private func publishPipeline() {
        let current = machine.currentItem
        guard current != publishedItem else { return }
        publishedItem = current
        guard let current, let item = items[current] else { return published.update { $0.pipeline = nil } }
        published.update { $0.pipeline = item.pipeline }
    }

    private func begin(_ stream: PCMStream) {
        lastCut = renderer.begin(stream)
        publishCurrent(stream)
    }

    private func publishCurrent(_ stream: PCMStream) {
        published.update {
            $0.stream = stream.id
            $0.startPosition = Double(stream.startPosition) / 1e9
        }
    }

    private func follow(_ stream: PCMStream?) {
        renderer.setNext(stream)
        published.update { $0.following = stream?.id }
    }

    private func retire(_ stream: PCMStream?) {
        if let stream { retired.append(Retired(stream: stream)) }
    }

    // MARK: Pipelines

    private func open(_ id: ItemID, _ product: MediaProduct) {
        do throws(SystemError) {
            let pipeline = try MediaPipeline(
                product, from: source, sessionID: newSessionID(), deviceMilliseconds: settings.bufferMilliseconds
            ) { [loop, link] report in
                loop.post { link.conductor?.receive(report, from: id) }
            }
            items[id] = Item(product: product, pipeline: pipeline)
        } catch {
            let error = PlayerError(error, product)
            loop.post { [link] in link.conductor?.handle(.failed(id, error, hasFrames: false)) }
        }
    }

    private func receive(_ report: MediaPipeline.Report, from id: ItemID) {
        guard let item = items[id], !item.pipeline.isOutdated(report) else { return }
        switch report {
        case .ready(let context, let replayGain, let stream, _):
            stream.gain = volume.gain(for: replayGain)
            items[id]?.replayGain = replayGain
            items[id]?.stream = stream
            retire(item.stream)
            if item.stream == nil {
                var context = context
                context.adaptation = adaptation(of: stream.format)
                handle(.opened(id, context))
            } else {
                if let adaptation = adaptation(of: stream.format) { handle(.adapted(id, adaptation)) }
                handle(.repositioned(id))
            }
        case .failed(let error, let hasFrames, _):
            handle(.failed(id, error, hasFrames: hasFrames))
        }
    }

    // MARK: The renderer's events

    /// Fetches events as long as any can be expected, and soon: the renderer got a command.
    private func fetchEvents() {
        let mayBeLate = fetchInterval > Self.fetchIntervals.lowerBound
        fetchInterval = Self.fetchIntervals.lowerBound
        if !isFetching {
            isFetching = true
            fetchNextEvent()
        } else if mayBeLate {
            scheduleFetch()
        }
    }

    private func scheduleFetch() {
        fetchTimer.start(after: fetchInterval) { [self] in
            fetchInterval = min(fetchInterval * 2, Self.fetchIntervals.upperBound)
            fetchNextEvent()
        }
    }

    /// One event a turn of the loop: what a listener does about a message comes before what happened after it.
    private func fetchNextEvent() {
        let processed = renderer.processedCommands
        if let event = renderer.nextEvent() {
            fetchInterval = Self.fetchIntervals.lowerBound
            receive(event)
            loop.post { [link] in link.conductor?.fetchNextEvent() }
            return
        }
        retired.removeAll { $0.command.map { $0 <= processed } ?? false }
        while let first = waiting.first, first.command <= processed {
            waiting.removeFirst()
            first.action()
        }
        if isRunning || !retired.isEmpty || processed < renderer.sentCommands {
            scheduleFetch()
        } else {
            isFetching = false
        }
    }

    private func receive(_ event: RendererEvent) {
        switch event.kind {
        case .opened(let stream, let box):
            let configuration = box.takeRetainedValue().configuration
            guard event.processedCommands >= lastRelease else { return }
            published.update {
                $0.device = configuration
                $0.deviceProblem = nil
            }
            volume.deviceChanged()
            applyGain()
            if let id = item(of: stream) { handle(.adapted(id, configuration.adaptation)) }
        case .running(let generation):
            handle(.running(generation: generation))
            if isReopening {
                isReopening = false
                reopeningListener?(.started)
            }
        case .starved(let generation):
            handle(.starved(generation: generation))
        case .reopening(let question):
            isReopening = true
            reopeningListener?(.asked(goOn: { [loop, link] in loop.post { link.conductor?.reopen(question) } }))
        case .deviceLost(let generation, let box):
            let error = box.takeRetainedValue().error
            guard event.processedCommands >= lastRelease else { return }
            Log.warning("\(error) It is retried every second.")
            published.update {
                $0.device = nil
                $0.deviceProblem = error.description
            }
            volume.deviceLost()
            applyGain()
            handle(.deviceLost(generation: generation))
        case .refused(let stream, let box):
            refused(stream, box.takeRetainedValue().error)
        case .heard(let stream):
            heard(stream, after: event.processedCommands)
        case .formatHeard(let stream, let format):
            guard let id = item(of: stream), id == machine.currentItem, var context = machine.context else { return }
            context.audioSampleRate = format.sampleRate
            context.audioBitDepth = format.bitDepth
            context.adaptation = adaptation(of: format)
            publishAdaptation(context.adaptation)
            handle(.qualityChanged(id, context))
        case .ended(let stream):
            guard event.processedCommands >= lastCut, let id = item(of: stream) else { return }
            handle(.ended(id))
        }
    }

    private func item(of stream: UInt64) -> ItemID? {
        items.first { $0.value.stream?.id == stream }?.key
    }

    private func heard(_ stream: UInt64, after commands: UInt64) {
        let id = item(of: stream)
        if commands < lastCut {
            // It was cut off since. Where it is still to come, its first frames are spent: once more.
            if let id, id == machine.nextItem { items[id]?.pipeline.seek(toSeconds: 0) }
        } else if let id, let heard = items[id]?.stream {
            publishCurrent(heard)
            let adaptation = adaptation(of: heard.format)
            publishAdaptation(adaptation)
            handle(.adapted(id, adaptation))
            handle(.heard(id))
        } else if let current = machine.currentItem {
            // Something else became the next product a moment too late: the old one is heard for an instant.
            handle(.ended(current))
            for index in retired.indices where retired[index].stream.id == stream {
                retired[index].command = renderer.sentCommands
            }
        }
    }

    /// The device is there and cannot play the stream: the current one's, or the next one's that it was reopened for.
    private func refused(_ stream: UInt64, _ error: DeviceError) {
        guard let id = item(of: stream) else { return }
        let next = machine.nextItem == id ? machine.currentItem : nil
        var error = PlayerError(error)
        error.mediaProduct = items[id]?.product
        handle(.failed(id, error, hasFrames: false))
        if let next { handle(.ended(next)) }
    }

    // MARK: Adaptation

    /// How the device that is open plays audio of this format; nil without adaptation, and where it would be reopened.
    private func adaptation(of format: PCMFormat) -> ChannelAdaptation? {
        published.value.device?.adaptation(of: format)
    }

    private func publishAdaptation(_ adaptation: ChannelAdaptation?) {
        published.update { $0.device?.adaptation = adaptation }
    }

    // MARK: Position

    /// Where the active product is heard, in seconds. Any thread.
    func position(in value: PublishedPlayback.Value) -> Double? {
        guard let start = value.startPosition else { return nil }
        guard let stream = value.stream else { return start }
        let position = renderer.position
        if position.stream == stream { return Double(position.nanoseconds) / 1e9 }
        // The next product is heard, and control does not know it yet.
        if position.stream == value.following { return value.context?.duration ?? start }
        return start
    }
}

extension RendererEvent {
    /// For an event that nobody looks at.
    fileprivate func release() {
        switch kind {
        case .opened(_, let box): box.release()
        case .deviceLost(_, let box), .refused(_, let box): box.release()
        case .running, .starved, .reopening, .heard, .formatHeard, .ended: break
        }
    }
}
