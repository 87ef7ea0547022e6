import Platform
import Player

/// Plays the queue: carries out what `QueueStateMachine` decides, and hands it what the engine says. Uses the engine's
/// public interface alone.
///
/// Thread: that of `loop`, everything.
/// `@unchecked Sendable` is safe because the engine's thread only posts to `loop`.
public final class QueueConductor: @unchecked Sendable {
    /// Called on `loop`'s thread with everything that happens.
    public var observe: (QueueMessage) -> Void

    let output: AmplifiedOutput
    private let engine: PlaybackEngine
    private let loop: EventLoop
    private let clock: any MonotonicClock
    private let random: any RandomSource
    private var machine: QueueStateMachine
    private var subscription: Bus<PlaybackMessage>.Subscription?
    private var timer: TimerToken?
    private var isOver = false

    /// - Parameters:
    ///   - loop: where everything happens. Where that is the player's own loop, the engine's messages are handled at
    ///     once: what follows an entry is known before the entry ends, however short it is.
    ///   - observe: called on `loop`'s thread with everything that happens.
    public init(
        engine: PlaybackEngine, loop: EventLoop, queue: PlayQueue = PlayQueue(), rules: QueueRules = .appliance,
        clock: any MonotonicClock = SystemMonotonicClock(), random: any RandomSource = SystemRandomSource(),
        observe: @escaping (QueueMessage) -> Void = { _ in }
    ) {
        self.engine = engine
        output = AmplifiedOutput(engine: engine, loop: loop)
        self.loop = loop
        self.clock = clock
        self.random = random
        self.observe = observe
        machine = QueueStateMachine(queue, rules: rules)
        subscription = engine.bus.subscribe { [self] message in
            if loop.isCurrentThread { receive(message) } else { loop.post { self.receive(message) } }
        }
    }

    /// Stops listening to the engine. From now on nothing is carried out and nothing reported; what was last true can
    /// still be read. Until then it lives as long as the engine does.
    public func shutDown() {
        loop.assertOnLoop()
        if let subscription { engine.bus.cancel(subscription) }
        subscription = nil
        observe = { _ in }
        cancelTimer()
        isOver = true
    }

    // MARK: What is going on

    /// The entries, their order and the modes.
    public var contents: PlayQueue { machine.contents }

    /// Whether the user wants it to play. It may still be silent, for lack of data, of a device or of focus.
    public var wantsToPlay: Bool { machine.wantsToPlay }

    /// Whether it waits for the current entry's medium.
    public var waitsForMedium: Bool { machine.waitsForMedium }

    /// Whether the engine has begun with the current entry: what the engine says is about that one.
    var isAnnounced: Bool { machine.isAnnounced }

    /// Where the current entry is heard, in seconds; 0 without one. After a seek that is its target.
    public var position: Double { machine.position(engine.assetPosition) }

    /// What a person would say that it does.
    public var playback: DaemonStatus.Playback {
        guard machine.contents.current != nil else { return .stopped }
        guard wantsToPlay else { return .paused }
        return machine.isReleased || waitsForMedium || engine.playbackState == .stalled ? .stalled : .playing
    }

    /// The current entry, where it is meant to play and the engine has no data of it although the device is there.
    var entryWithoutData: QueuedProduct? {
        guard wantsToPlay, engine.playbackState == .stalled, engine.deviceProblem == nil else { return nil }
        return machine.contents.current.flatMap(machine.contents.product)
    }

    /// Remembers the position: the engine forgets it when it fails.
    func notePosition() { machine.notePosition(engine.assetPosition) }

    /// Calls `action` on the loop once the engine has carried out everything requested so far.
    public func whenCarriedOut(_ action: @escaping @Sendable () -> Void) {
        output.afterRequests { [loop] in loop.post(action) }
    }

    // MARK: Playback

    /// Makes the current entry ready at a position, in seconds, for a start with what was kept.
    public func resume(at position: Double, playing: Bool) { handle(.resume(position: position, playing: playing)) }

    /// Makes what follows the entry current, without loading it. To be called before `resume`.
    func pass(over entry: EntryID) { handle(.passOver(entry)) }

    /// Plays the current entry, or the first one where there is none.
    public func play() { handle(.play) }

    /// Falls silent and keeps the position.
    public func pause() { handle(.pause) }

    public func toggle() { handle(.toggle) }

    /// Falls silent and frees the device; the current entry will start from its beginning.
    public func stop() { handle(.stop) }

    /// Goes on to what is up next, playing or not as before. Does nothing at the end.
    public func next() { handle(.next) }

    /// Restarts the current entry, or goes back to the one before while it has hardly begun.
    public func previous() { handle(.previous) }

    /// Goes to a position of the current entry.
    /// - Parameter seconds: limited to 0…duration; at the end the entry has ended.
    public func seek(to seconds: Double) { handle(.seek(seconds: seconds)) }

    /// Jumps to an entry, playing or not as before.
    public func select(_ entry: EntryID) throws(PlayQueueError) {
        try replace(playing: nil) { contents throws(PlayQueueError) in try contents.select(entry) }
    }

    // MARK: The queue

    /// Replaces the queue.
    /// - Parameters:
    ///   - start: the index of the first product to play; nil for any while shuffled.
    ///   - playing: whether to play at once.
    public func set(
        _ products: [QueuedProduct], startingAt start: Int? = 0, playing: Bool
    ) throws(PlayQueueError) {
        try set(PackedProducts(products), startingAt: start, playing: playing)
    }

    /// The same for products that are packed.
    func set(_ products: PackedProducts, startingAt start: Int? = 0, playing: Bool) throws(PlayQueueError) {
        let random = random
        try replace(playing: playing) { contents throws(PlayQueueError) in
            try contents.set(products, startingAt: start, random: random)
        }
    }

    /// Removes all entries and stops.
    public func clear() { change { $0.clear() } }

    public func setShuffled(_ shuffled: Bool) { change { [random] in $0.setShuffled(shuffled, random: random) } }

    public func setRepeatMode(_ mode: RepeatMode) { change { $0.repeatMode = mode } }

    /// Changes the queue by any operations, and has the engine follow: another current entry is loaded, playing or not
    /// as before, and what is up next is set.
    /// - Throws: what `change` throws; what it did before that counts.
    public func edit(_ change: (inout PlayQueue) throws(PlayQueueError) -> Void) throws(PlayQueueError) {
        loop.assertOnLoop()
        if isOver { return }
        defer { carryOutDecided() }
        try machine.edit(change)
    }

    private func change(_ change: (inout PlayQueue) -> Void) {
        loop.assertOnLoop()
        if isOver { return }
        do throws(PlayQueueError) {
            try machine.edit { contents throws(PlayQueueError) in change(&contents) }
        } catch {
            preconditionFailure("\(error)")
        }
        carryOutDecided()
    }

    private func replace(
        playing: Bool?, _ change: (inout PlayQueue) throws(PlayQueueError) -> Void
    ) throws(PlayQueueError) {
        loop.assertOnLoop()
        if isOver { return }
        defer { carryOutDecided() }
        try machine.replace(playing: playing, change)
    }

    // MARK: The device

    /// Stops and frees the device for others, and remembers where and whether it was playing. Until `regain` all else
    /// goes on, silently.
    public func release() { handle(.release) }

    /// Goes on where `release` has stopped, if it was playing.
    public func regain() { handle(.regain) }

    // MARK: Decisions

    private func handle(_ event: QueueStateMachine.Event) {
        loop.assertOnLoop()
        if isOver { return }
        let heard = QueueStateMachine.Heard(
            position: engine.assetPosition, duration: engine.playbackContext?.duration, time: clock.now())
        carryOut(machine.handle(event, heard))
    }

    private func carryOutDecided() { carryOut(machine.takeEffects()) }

    private func carryOut(_ effects: [QueueStateMachine.Effect]) {
        for effect in effects {
            switch effect {
            case .load(let product): output.load(product)
            case .setNext(let product): output.setNext(product)
            case .play: output.play()
            case .pause: output.pause()
            case .reset: output.reset()
            case .seek(let seconds, let reportsEnd):
                output.seek(seconds)
                if reportsEnd { reportSeek() }
            case .wake(let nanoseconds): wake(after: nanoseconds)
            case .cancelWake: cancelTimer()
            case .tell(let message): observe(message)
            }
        }
    }

    private func reportSeek() {
        engine.afterRequests { [self, loop] in
            loop.post { self.handle(.sought) }
        }
    }

    private func wake(after nanoseconds: Int64) {
        cancelTimer()
        timer = loop.schedule(after: nanoseconds) { [self] in
            timer = nil
            handle(.woken)
        }
    }

    private func cancelTimer() {
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    // MARK: What the engine says

    private func receive(_ message: PlaybackMessage) {
        switch message {
        case .mediaProductTransition(let transition):
            if let active = transition.active {
                guard let request = PlaybackRequest(referenceId: active.referenceId) else { return }
                handle(.began(request, duration: transition.context?.duration))
            } else if let request = transition.previous.flatMap({ PlaybackRequest(referenceId: $0.referenceId) }) {
                handle(.finished(request))
            }
        case .error(let error):
            guard let product = error.mediaProduct, let request = PlaybackRequest(referenceId: product.referenceId)
            else { return }
            handle(.failed(request, error, lacksMedium: MediumWait.isNeeded(after: error, contents.media)))
        case .playbackStateChanged(let state):
            output.engineIs(state)
            handle(.engineIs(state))
        case .playbackQualityChanged:
            handle(.contextChanged)
        case .streamingPrivilegesRevoked(let otherDevice):
            handle(.revoked(otherDevice: otherDevice))
        }
    }
}
