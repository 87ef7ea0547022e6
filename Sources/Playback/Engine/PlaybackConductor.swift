import Output
import PCM
import Platform

/// Carries out the effects of `PlaybackStateMachine`, and reports the events of the pipelines and the renderer to it.
///
/// Thread: only control.
/// `@unchecked Sendable` is safe because only control uses its mutable state; other threads only post to `loop`.
package final class PlaybackConductor: @unchecked Sendable {
    private typealias Effect = PlaybackStateMachine.Effect

    private static let startLimit: Int64 = 1_000_000_000

    private let loop: EventLoop
    private let link = ConductorLink()
    private let published: PublishedPlayback
    private let renderer: RendererCommands
    let poller: RendererEventPoller
    private let device: ConductedDevice
    private let items: ConductedItems
    private let startTimer: any StartTimer
    private let observers: [any PlaybackObserver]
    private var machine = PlaybackStateMachine()

    package init(
        loop: EventLoop, published: PublishedPlayback, renderer: Renderer,
        source: any PlaybackSource, newSessionID: @escaping @Sendable () -> String, settings: RendererSettings,
        volume: LoudnessAndVolume, startTimer: any StartTimer, observers: [any PlaybackObserver] = []
    ) {
        self.loop = loop
        self.published = published
        self.renderer = RendererCommands(renderer)
        self.startTimer = startTimer
        self.observers = observers
        poller = RendererEventPoller(renderer, loop: loop, link: link)
        device = ConductedDevice(volume, settings, published)
        items = ConductedItems(
            source, newSessionID: newSessionID, deviceMilliseconds: settings.bufferMilliseconds, for: device)
        link.conductor = self
    }

    // MARK: Requests

    func load(_ product: MediaProduct) {
        let id = items.newItem()
        handle(.load(product, id))
        if !items.streams(product) { handle(.fetched(id)) }
    }

    func setNext(_ product: MediaProduct?) {
        let id = items.newItem()
        handle(.setNext(product, id))
        if let product, !items.streams(product) { handle(.fetched(id)) }
    }

    func play(isAutomatic: Bool) {
        if !isAutomatic { for observer in observers { observer.pressed() } }
        handle(.play)
    }

    package func handle(_ event: PlaybackStateMachine.Event) { handle(event, moment) }

    /// - Parameter before: the engine before the event, with the position that is heard in the current item.
    private func handle(_ event: PlaybackStateMachine.Event, _ before: PlaybackMoment) {
        loop.assertOnLoop()
        let effects = machine.handle(event, heard: before.position)
        for observer in observers { observer.willCarryOut(event, effects, before) }
        for effect in effects { carryOut(effect) }
        let after = moment
        for observer in observers {
            observer.didCarryOut(event, effects, before, after) { [link] in link.conductor?.moment ?? after }
        }
        items.sent(renderer.sent)
        items.setPlaying(renderer.isRunning ? machine.currentItem : nil)
        let pipeline = items[machine.currentItem]?.pipeline
        published.update { $0.pipeline = pipeline }
        poller.hurry()
    }

    fileprivate var moment: PlaybackMoment {
        let value = published.value
        return PlaybackMoment(
            machine, position: published.position, stream: value.stream, streamStart: value.startPosition,
            isStreamed: items[machine.currentItem]?.isStreamed ?? false)
    }

    /// The state of the engine at the moment when the current item has been heard to its end.
    private var momentAtEnd: PlaybackMoment {
        var moment = moment
        moment.position = machine.context?.duration
        return moment
    }

    /// Sets the card's volume to the configured one, before anything is heard.
    package func start() { device.start() }

    /// Ends the decoder threads, each as soon as its source allows. Only `discardEvents` may be called afterwards.
    package func shutDown() {
        loop.assertOnLoop()
        for observer in observers { observer.ends(moment) }
        link.conductor = nil
        poller.stop()
        startTimer.cancel()
        device.reopening.set(nil)
        items.cancelAll()
    }

    /// Reads the renderer's remaining events. The renderer has ended.
    package func discardEvents() { poller.discardEvents() }

    /// Applies changed loudness or volume: the current product is ramped to the new gain.
    package func configurationChanged() {
        loop.assertOnLoop()
        device.applyVolume()
        applyGain()
    }

    private func applyGain() {
        items.applyGain()
        publishScaling()
    }

    private func publishScaling() {
        guard let item = items[machine.currentItem] else { return }
        let scaling = device.scaling(for: item.loudness)
        published.update { $0.scaling = scaling }
    }

    /// Plays on another device from now on.
    func use(_ name: String) {
        loop.assertOnLoop()
        guard device.use(name) else { return }
        items.deviceChanged(next: machine.nextItem)
        applyGain()
        renderer.use(name)
        poller.hurry()
    }

    func askBeforeReopening(_ listener: @escaping (DeviceReopening) -> Void) {
        loop.assertOnLoop()
        device.reopening.set(listener)
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
        case .open(let id, let product, let isNext):
            open(id, product, isNext: isNext)
        case .close(let id):
            items.close(id)
        case .seek(let id, let seconds):
            items[id]?.pipeline.seek(toSeconds: seconds)
            renderer.cutOff()
            published.showSeek(to: seconds)
        case .finish(let id):
            items[id]?.pipeline.finish()
        case .begin(let id):
            guard let item = items[id], let stream = item.stream, !items.decodesAgain(stream, item) else { return }
            renderer.begin(stream)
            published.show(stream)
        case .follow(let id):
            let stream = items[id]?.stream
            renderer.follow(stream)
            published.update { $0.following = stream?.id }
        case .run(let generation):
            renderer.run(generation: generation)
        case .hold:
            renderer.hold()
        case .silence(let releaseDevice):
            renderer.silence(releaseDevice: releaseDevice)
            if releaseDevice { published.show(nil as DeviceConfiguration?) }
        case .send(let message):
            publishScaling()
            published.show(machine)
            published.send(message)
        case .watchStart(let generation):
            startTimer.start(after: Self.startLimit) { [self] in handle(.startIsLate(generation: generation)) }
        }
    }

    private func open(_ id: ItemID, _ product: MediaProduct, isNext: Bool) {
        do throws(SystemError) {
            let session = try items.open(id, product) { [loop, link] report in
                loop.post { link.conductor?.receive(report, from: id) }
            }
            for observer in observers { observer.opens(id, product, session: session, isNext: isNext) }
        } catch {
            let error = PlayerError(error, product)
            loop.post { [link] in link.conductor?.handle(.failed(id, error, hasFrames: false)) }
        }
    }

    // MARK: Reports of the pipelines

    private func receive(_ report: MediaPipeline.Report, from id: ItemID) {
        guard let item = items[id], !item.pipeline.isOutdated(report) else { return }
        switch report {
        case .ready(let context, let loudness, let stream, _):
            if items.decodesAgain(stream, item) { return }
            let isFirst = items.take(stream, loudness, for: id)
            publishScaling()
            if isFirst { opened(id, context, stream) } else { repositioned(id, context, stream) }
        case .failed(let error, let hasFrames, _):
            handle(.failed(id, error, hasFrames: hasFrames))
        case .fetched:
            handle(.fetched(id))
        case .representationChanged(let representation, let position):
            items.add(representation, at: position, to: id)
        case .fetch(let report):
            items.isStreamed(id)
            for observer in observers { observer.fetches(id, report, moment) }
        case .sessionRenewed(let session):
            for observer in observers { observer.renewed(id, session: session, moment) }
            handle(.sessionRenewed(id, session))
        }
    }

    private func opened(_ id: ItemID, _ context: PlaybackContext, _ stream: PCMStream) {
        var context = context
        context.adaptation = device.adaptation(of: stream.format)
        handle(.opened(id, context))
        items.deviceChanged(next: machine.nextItem)
    }

    private func repositioned(_ id: ItemID, _ context: PlaybackContext, _ stream: PCMStream) {
        // Handled first, because it drops the former stream. That stream stays until the commands sent so far are
        // carried out.
        handle(.repositioned(id))
        if let adaptation = device.adaptation(of: stream.format) { handle(.adapted(id, adaptation)) }
        handle(.decodedAgain(id, context))
        guard id == machine.currentItem, let new = machine.context?.changed(as: context) else { return }
        handle(.qualityChanged(id, new))
    }

    // MARK: Events of the renderer

    /// The rest of the active product in seconds; nil while it does not play, and when its length is unknown.
    var remainingSeconds: Double? {
        guard machine.playbackState == .playing, let duration = machine.context?.duration else { return nil }
        return published.position.map { duration - $0 }
    }

    /// Whether events are expected without another command.
    var expectsEvents: Bool { renderer.isRunning || items.hasRetired }

    /// All events before this command were received.
    func caughtUp(with command: UInt64) {
        announceRepresentation()
        items.carriedOut(command)
    }

    /// Publishes a change of the representation that is heard now.
    private func announceRepresentation() {
        guard let id = machine.currentItem, let stream = items[id]?.stream?.id, published.value.stream == stream,
            let position = published.position, let representation = items.takeRepresentation(of: id, heardAt: position)
        else { return }
        if let context = machine.context?.changed(to: representation) { handle(.qualityChanged(id, context)) }
    }

    func receive(_ event: RendererEvent) {
        switch event.kind {
        case .opened(let stream, let box):
            let configuration = box.takeRetainedValue().configuration
            if !renderer.isReleased(event) { opened(configuration, for: stream) }
        case .running(let generation):
            handle(.running(generation: generation))
            device.reopening.deviceRuns()
        case .starved(let generation):
            handle(.starved(generation: generation))
        case .reopening(let question):
            device.reopening.ask(proceed: { [loop, link] in loop.post { link.conductor?.reopen(question) } })
        case .deviceLost(let generation, let box):
            let error = box.takeRetainedValue().error
            if !renderer.isReleased(event) { lost(error, generation) }
        case .refused(let stream, let box):
            refused(stream, box.takeRetainedValue().error)
        case .heard(let stream):
            heard(stream, isCutOff: renderer.isCutOff(event))
        case .formatHeard(let stream, let format):
            formatHeard(stream, format)
        case .ended(let stream):
            if !renderer.isCutOff(event), let id = items.item(of: stream) { handle(.ended(id)) }
        }
    }

    private func opened(_ configuration: DeviceConfiguration, for stream: UInt64) {
        device.opened(configuration)
        items.deviceChanged(next: machine.nextItem)
        applyGain()
        if let id = items.item(of: stream) { handle(.adapted(id, configuration.adaptation)) }
    }

    private func lost(_ error: DeviceError, _ generation: UInt64) {
        device.lost(error)
        items.deviceChanged(next: machine.nextItem)
        applyGain()
        handle(.deviceLost(generation: generation))
    }

    private func heard(_ stream: UInt64, isCutOff: Bool) {
        let id = items.item(of: stream)
        if isCutOff {
            // If the item is still the next one, its first frames were already taken from the ring: decode them again.
            if let id, id == machine.nextItem { items[id]?.pipeline.seek(toSeconds: 0) }
        } else if let id, let heard = items[id]?.stream {
            // The end of a product without a length is not known exactly, so use the last recorded position.
            let before = momentAtEnd
            published.show(heard)
            let adaptation = device.adaptation(of: heard.format)
            published.update { $0.device?.adaptation = adaptation }
            handle(.adapted(id, adaptation))
            handle(.heard(id), before)
        } else if let current = machine.currentItem {
            // The next product was replaced a moment too late: the old one is heard for an instant.
            handle(.ended(current), momentAtEnd)
            items.keep(stream, until: renderer.sent)
        }
    }

    private func formatHeard(_ stream: UInt64, _ format: PCMFormat) {
        guard let id = items.item(of: stream), id == machine.currentItem, var context = machine.context else { return }
        if context.convertedSampleRate != format.sampleRate {
            context.audioSampleRate = format.sampleRate
            context.audioBitDepth = format.bitDepth
            context.convertedSampleRate = nil
        }
        context.adaptation = device.adaptation(of: format)
        published.update { $0.device?.adaptation = context.adaptation }
        handle(.qualityChanged(id, context))
    }

    /// Handles a device that is present and cannot play the stream: the current stream, or the next stream for which
    /// the device was reopened.
    private func refused(_ stream: UInt64, _ error: DeviceError) {
        guard let id = items.item(of: stream), !items.converts(id, after: error, next: machine.nextItem)
        else { return }
        let next = machine.nextItem == id ? machine.currentItem : nil
        var error = PlayerError(error)
        error.mediaProduct = items[id]?.product
        handle(.failed(id, error, hasFrames: false))
        if let next { handle(.ended(next)) }
    }
}
