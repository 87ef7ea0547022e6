import Events
import Output
import PCM
import Platform

/// Carries out the effects of `PlaybackStateMachine`: pipelines, renderer, messages.
///
/// Thread: only control, except for `position(in:)`.
/// `@unchecked Sendable` is safe because only control uses its mutable state; other threads only post to `loop`.
package final class PlaybackConductor: @unchecked Sendable {
    private typealias Effect = PlaybackStateMachine.Effect

    private static let startLimit: Int64 = 1_000_000_000

    private let loop: EventLoop
    private let bus: Bus<PlaybackMessage>
    private let published: PublishedPlayback
    private let renderer: Renderer
    private let source: any PlaybackSource
    private let newSessionID: @Sendable () -> String
    private let settings: RendererSettings
    private let volume: LoudnessAndVolume
    private let link = ConductorLink()
    let poller: RendererEventPoller
    private let startTimer: any StartTimer
    /// Records sessions; nil when nothing is recorded.
    private let sessions: PlaybackSessions?
    /// Reports whether a stream of the content service should be heard; nil without a service.
    private let streamNeed: StreamNeed?

    private var machine = PlaybackStateMachine()
    private var items: [ItemID: ConductedItem] = [:]
    private var lastItem: UInt64 = 0
    /// The device that was opened last. Products that are opened while none is open are meant for the same one.
    private var lastDevice: DeviceConfiguration?
    private var rates: DeviceRates
    /// The item whose pipeline is published.
    private var publishedItem: ItemID?
    private var retired: [RetiredStream] = []
    /// The last command that cut off the current streams: earlier events about streams are outdated.
    private var lastCut: UInt64 = 0
    /// The last command that released the device.
    private var lastRelease: UInt64 = 0
    /// The next item, while the current one is still being fetched.
    private var postponed: (id: ItemID, product: MediaProduct)?
    /// The position at which a closed item continues while it is still the current one, in seconds.
    private var resumption: (id: ItemID, position: Double)?
    /// Whether the renderer should run.
    private var isRunning = false
    private let reopeningListener = ReopeningListener()

    package init(
        loop: EventLoop, bus: Bus<PlaybackMessage>, published: PublishedPlayback, renderer: Renderer,
        source: any PlaybackSource, newSessionID: @escaping @Sendable () -> String, settings: RendererSettings,
        volume: LoudnessAndVolume, startTimer: any StartTimer, sessions: PlaybackSessions? = nil,
        streamNeed: StreamNeed? = nil
    ) {
        self.loop = loop
        self.bus = bus
        self.published = published
        self.renderer = renderer
        self.source = source
        self.newSessionID = newSessionID
        self.settings = settings
        rates = DeviceRates(rule: settings.sampleRates, sendsDSD: settings.sendsDSD)
        self.volume = volume
        self.startTimer = startTimer
        self.sessions = sessions
        self.streamNeed = streamNeed
        poller = RendererEventPoller(renderer, loop: loop, link: link)
        link.conductor = self
    }

    // MARK: Requests

    func load(_ product: MediaProduct) { handle(.load(product, newItem())) }
    func setNext(_ product: MediaProduct?) { handle(.setNext(product, newItem())) }

    func play(isAutomatic: Bool) {
        if !isAutomatic { streamNeed?.press() }
        handle(.play)
    }

    package func handle(_ event: PlaybackStateMachine.Event) { handle(event, heard: position(in: published.value)) }

    /// - Parameter heard: the position that is heard, in seconds, in the item that is current before the event.
    private func handle(_ event: PlaybackStateMachine.Event, heard: Double?) {
        loop.assertOnLoop()
        var before = moment
        before.position = heard
        let effects = machine.handle(event)
        sessions?.willCarryOut(event, effects, before)
        for effect in effects { carryOut(effect) }
        openPostponed()
        sessions?.didCarryOut(event, effects, before, moment) { [link] in link.conductor?.moment ?? before }
        streamNeed?.look(moment)
        // The renderer has stopped using the closed streams once it has seen all commands sent so far.
        for index in retired.indices where retired[index].command == nil {
            retired[index].command = renderer.sentCommands
        }
        for (id, item) in items { item.pipeline.setPlaying(isRunning && id == machine.currentItem) }
        publishPipeline()
        poller.hurry()
    }

    fileprivate var moment: PlaybackMoment {
        let value = published.value
        let current = machine.currentItem
        let isStreamed = items.contains { $0.key == current && $0.value.isStreamed }
        return PlaybackMoment(
            machine, position: position(in: value), stream: value.stream, streamStart: value.startPosition,
            isStreamed: isStreamed)
    }

    private func newItem() -> ItemID {
        lastItem += 1
        return ItemID(number: lastItem)
    }

    /// Sets the card's volume to the configured one, before anything is heard.
    package func start() { volume.deviceChanged() }

    /// Ends the decoder threads, each as soon as its source allows. Only `discardEvents` may be called afterwards.
    package func shutDown() {
        loop.assertOnLoop()
        sessions?.end(moment)
        link.conductor = nil
        poller.stop()
        startTimer.cancel()
        reopeningListener.set(nil)
        for item in items.values { item.pipeline.cancel() }
    }

    /// Reads the renderer's remaining events. The renderer has ended.
    package func discardEvents() {
        while let event = renderer.nextEvent() { event.release() }
    }

    /// Applies changed loudness or volume: the current product is ramped to the new gain.
    package func configurationChanged() {
        loop.assertOnLoop()
        volume.applyVolume()
        applyGain()
    }

    private func applyGain() {
        for item in items.values { item.stream?.gain = volume.gain(for: item.loudness) }
        publishScaling()
    }

    private func publishScaling() {
        guard let current = machine.currentItem, let item = items[current] else { return }
        let scaling = volume.scaling(for: item.loudness)
        published.update { $0.scaling = scaling }
    }

    func askBeforeReopening(_ listener: @escaping (DeviceReopening) -> Void) {
        loop.assertOnLoop()
        reopeningListener.set(listener)
        renderer.askBeforeReopening()
        poller.hurry()
    }

    private func reopen(_ question: UInt64) {
        renderer.reopen(question: question)
        poller.hurry()
    }

    // MARK: Effects

    private func carryOut(_ effect: Effect) {
        switch effect {
        case .open(let id, let product):
            if id == machine.currentItem { open(id, product, isNext: false) } else { postponed = (id, product) }
        case .close(let id):
            // A closed item may still be the current one: it continues from here when it is opened again.
            if id == machine.currentItem { resumption = position(in: published.value).map { (id, $0) } }
            if postponed?.id == id { postponed = nil }
            guard let item = items.removeValue(forKey: id) else { return }
            item.pipeline.cancel()
            retire(item.stream)
        case .seek(let id, let seconds):
            items[id]?.pipeline.seek(toSeconds: seconds)
            if items[id] == nil, resumption?.id == id { resumption = (id, seconds) }
            lastCut = renderer.sentCommands
            published.update {
                $0.stream = nil
                // The end of a product of unknown length is known only when the decoder reaches it.
                if seconds <= DecoderWorker.farthestPosition { $0.startPosition = seconds }
            }
        case .finish(let id):
            items[id]?.pipeline.finish()
        case .begin(let id):
            guard let item = items[id], let stream = item.stream, !decodesAgain(stream, item.pipeline) else { return }
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
        publishScaling()
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
        if let stream { retired.append(RetiredStream(stream: stream)) }
    }

    // MARK: Pipelines

    /// Opens the postponed item once the current one is fully fetched (docs/playback.md, 5.4).
    private func openPostponed() {
        guard let (id, product) = postponed else { return }
        let current = machine.currentItem
        guard id == current || current.flatMap({ items[$0] })?.isFetched ?? true else { return }
        postponed = nil
        open(id, product, isNext: true)
    }

    private func open(_ id: ItemID, _ product: MediaProduct, isNext: Bool) {
        do throws(SystemError) {
            let pipeline = try MediaPipeline(
                product, from: source, newSessionID: newSessionID, deviceMilliseconds: settings.bufferMilliseconds,
                device: lastDevice, rates: rates
            ) { [loop, link] report in
                loop.post { link.conductor?.receive(report, from: id) }
            }
            items[id] = ConductedItem(product: product, pipeline: pipeline, isFetched: !source.streams(product))
            sessions?.begin(id, product, id: pipeline.firstSession, isNext: isNext)
            if let resumption, resumption.id == id { pipeline.seek(toSeconds: resumption.position) }
            resumption = nil
        } catch {
            let error = PlayerError(error, product)
            loop.post { [link] in link.conductor?.handle(.failed(id, error, hasFrames: false)) }
        }
    }

    private func receive(_ report: MediaPipeline.Report, from id: ItemID) {
        guard let item = items[id], !item.pipeline.isOutdated(report) else { return }
        switch report {
        case .ready(let context, let loudness, let stream, _):
            if decodesAgain(stream, item.pipeline) { return }
            stream.gain = volume.gain(for: loudness)
            items[id]?.loudness = loudness
            publishScaling()
            items[id]?.stream = stream
            items[id]?.encodings = []
            retire(item.stream)
            if item.stream == nil {
                var context = context
                context.adaptation = adaptation(of: stream.format)
                handle(.opened(id, context))
                ratesChanged()
            } else {
                // First: it drops the former stream, which stays until the commands sent so far are carried out.
                handle(.repositioned(id))
                if let adaptation = adaptation(of: stream.format) { handle(.adapted(id, adaptation)) }
                handle(.decodedAgain(id, context))
                guard id == machine.currentItem, let new = machine.context?.changed(as: context) else { return }
                handle(.qualityChanged(id, new))
            }
        case .failed(let error, let hasFrames, _):
            items[id]?.isFetched = true
            handle(.failed(id, error, hasFrames: hasFrames))
        case .fetched:
            items[id]?.isFetched = true
            openPostponed()
        case .encodingChanged(let encoding, let position):
            items[id]?.encodings.append((encoding, position))
        case .fetch(let report):
            sessions?.receive(id, report)
            items[id]?.isStreamed = true
            streamNeed?.look(moment)
        case .sessionRenewed(let session):
            sessions?.renewed(id, id: session, moment)
            handle(.sessionRenewed(id, session))
        }
    }

    // MARK: The renderer's events

    /// The rest of the active product in seconds; nil while it does not play, and when its length is unknown.
    var remainingSeconds: Double? {
        guard machine.playbackState == .playing, let duration = machine.context?.duration else { return nil }
        return position(in: published.value).map { duration - $0 }
    }

    /// Whether events are expected without another command.
    var expectsEvents: Bool { isRunning || !retired.isEmpty }

    /// All events before this command were received.
    func caughtUp(with command: UInt64) {
        announceEncodings()
        retired.removeAll { $0.command.map { $0 <= command } ?? false }
    }

    func receive(_ event: RendererEvent) {
        switch event.kind {
        case .opened(let stream, let box):
            let configuration = box.takeRetainedValue().configuration
            guard event.processedCommands >= lastRelease else { return }
            published.update { ($0.device, $0.deviceProblem) = (configuration, nil) }
            lastDevice = configuration
            for item in items.values { item.pipeline.device.set(configuration) }
            rates.opened(configuration)
            ratesChanged()
            volume.deviceChanged()
            applyGain()
            if let id = item(of: stream) { handle(.adapted(id, configuration.adaptation)) }
        case .running(let generation):
            handle(.running(generation: generation))
            reopeningListener.deviceRuns()
        case .starved(let generation):
            handle(.starved(generation: generation))
        case .reopening(let question):
            reopeningListener.ask(goOn: { [loop, link] in loop.post { link.conductor?.reopen(question) } })
        case .deviceLost(let generation, let box):
            let error = box.takeRetainedValue().error
            guard event.processedCommands >= lastRelease else { return }
            Log.warning("\(error) It is retried every second.")
            rates.lost()
            ratesChanged()
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
            if context.convertedSampleRate != format.sampleRate {
                context.audioSampleRate = format.sampleRate
                context.audioBitDepth = format.bitDepth
                context.convertedSampleRate = nil
            }
            context.adaptation = adaptation(of: format)
            published.update { $0.device?.adaptation = context.adaptation }
            handle(.qualityChanged(id, context))
        case .ended(let stream):
            guard event.processedCommands >= lastCut, let id = item(of: stream) else { return }
            handle(.ended(id))
        }
    }

    /// Publishes the changes of the representation that are heard now.
    private func announceEncodings() {
        guard let id = machine.currentItem, let first = items[id]?.encodings.first,
            let stream = items[id]?.stream?.id, published.value.stream == stream,
            let position = position(in: published.value), position >= first.position
        else { return }
        items[id]?.encodings.removeFirst()
        if let context = machine.context?.changed(to: first.encoding) { handle(.qualityChanged(id, context)) }
    }

    private func item(of stream: UInt64) -> ItemID? {
        items.first { $0.value.stream?.id == stream }?.key
    }

    private func heard(_ stream: UInt64, after commands: UInt64) {
        let id = item(of: stream)
        if commands < lastCut {
            // It was cut off since. If it is still the next one, its first frames are gone: decode them again.
            if let id, id == machine.nextItem { items[id]?.pipeline.seek(toSeconds: 0) }
        } else if let id, let heard = items[id]?.stream {
            // Without a length its end is not known exactly: the position that was recorded last counts.
            let end = machine.context?.duration
            publishCurrent(heard)
            let adaptation = adaptation(of: heard.format)
            published.update { $0.device?.adaptation = adaptation }
            handle(.adapted(id, adaptation))
            handle(.heard(id), heard: end)
        } else if let current = machine.currentItem {
            // The next product was replaced a moment too late: the old one is heard for an instant.
            handle(.ended(current), heard: machine.context?.duration)
            for index in retired.indices where retired[index].stream.id == stream {
                retired[index].command = renderer.sentCommands
            }
        }
    }

    /// Handles a device that is there and cannot play the stream: the current one, or the next one for which it was
    /// reopened.
    private func refused(_ stream: UInt64, _ error: DeviceError) {
        guard let id = item(of: stream), !converts(id, after: error) else { return }
        let next = machine.nextItem == id ? machine.currentItem : nil
        var error = PlayerError(error)
        error.mediaProduct = items[id]?.product
        handle(.failed(id, error, hasFrames: false))
        if let next { handle(.ended(next)) }
    }

    // MARK: Adaptation

    /// Passes the rates to all items. The next item may have been decoded for other rates.
    private func ratesChanged() {
        for item in items.values { item.pipeline.device.set(rates) }
        guard let id = machine.nextItem, let item = items[id], let stream = item.stream,
            !decodesAgain(stream, item.pipeline), !stream.format.isDSD,
            case let rate = stream.format.sampleRate, rates.rate(for: rate) != rate
        else { return }
        item.pipeline.seek(toSeconds: 0)
    }

    /// Decodes DSD again to PCM, from the same position, when the device has turned out not to take its words.
    private func decodesAgain(_ stream: PCMStream, _ pipeline: MediaPipeline) -> Bool {
        guard stream.format.isDSD, !rates.takes(dsd: stream.format) else { return false }
        pipeline.seek(toSeconds: Double(stream.startPosition) / 1e9)
        return true
    }

    /// Decodes an item again from the same position, because the device does not have its rate, or takes no DSD.
    /// - Returns: false when the error has another reason, or conversion is not allowed.
    private func converts(_ id: ItemID, after error: DeviceError) -> Bool {
        guard let item = items[id], let stream = item.stream, rates.refuse(stream.format, because: error)
        else { return false }
        ratesChanged()
        item.pipeline.seek(toSeconds: Double(stream.startPosition) / 1e9)
        return true
    }

    /// How the open device plays audio of this format; nil without adaptation, and when it would be reopened.
    private func adaptation(of format: PCMFormat) -> ChannelAdaptation? {
        published.value.device?.adaptation(of: format)
    }

    // MARK: Position

    /// The position that is heard in the active product, in seconds. Any thread.
    func position(in value: PublishedPlayback.Value) -> Double? {
        guard let start = value.startPosition else { return nil }
        guard let stream = value.stream else { return start }
        let position = renderer.position
        if position.stream == stream { return Double(position.nanoseconds) / 1e9 }
        // The next product is heard, and control has not handled the event yet.
        if position.stream == value.following { return value.context?.duration ?? start }
        return start
    }
}
