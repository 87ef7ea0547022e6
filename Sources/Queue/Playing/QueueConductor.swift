import Platform
import Player

/// Plays the queue: carries out the effects of `QueueStateMachine`, and passes the engine's messages to it. Uses only
/// the engine's public interface.
///
/// Thread: everything runs on the thread of `loop`.
/// `@unchecked Sendable` is safe because the engine's thread only posts to `loop`.
package final class QueueConductor: @unchecked Sendable {
    /// Called on `loop`'s thread with every event.
    package var observe: (QueueMessage) -> Void

    package let output: AmplifiedOutput
    private let engine: PlaybackEngine
    private let loop: EventLoop
    private let clock: any MonotonicClock
    private let random: any RandomSource
    private var machine: QueueStateMachine
    private var subscription: Bus<PlaybackMessage>.Subscription?
    /// The timer of the next attempt, and when it fires.
    private var wake: (timer: TimerToken, time: Int64)?
    private var gathered = GatheredEdits()
    /// Whether the conductor has ended.
    private var isOver: Bool { subscription == nil }

    /// - Parameters:
    ///   - loop: the loop on which everything runs here. If it is the player's own loop, the engine's messages are
    ///     handled at once: the next entry is set before the current one ends, even if that is very short.
    ///   - observe: called on `loop`'s thread with every event.
    package init(
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
        machine.contents.seed(random)
        subscription = engine.bus.subscribe { [self] message in
            if loop.isCurrentThread { receive(message) } else { loop.post { self.receive(message) } }
        }
    }

    /// Stops listening to the engine. From now on no effect is carried out and no event is sent; the last values can
    /// still be read. Without this call, the conductor lives as long as the engine.
    package func shutDown() {
        loop.assertOnLoop()
        if let subscription { engine.bus.cancel(subscription) }
        subscription = nil
        observe = { _ in }
        cancelTimer()
    }

    // MARK: Status

    /// The entries, their order and the modes.
    package var contents: PlayQueue { machine.contents }

    /// Whether the user wants the queue to play. It may still be silent, because data, the device or the focus is
    /// missing.
    package var wantsToPlay: Bool { machine.wantsToPlay }

    /// The seconds until the content service is asked for the current entry again; 0 during the request, nil when the
    /// queue does not wait for the service.
    package var secondsUntilRetry: Double? {
        guard machine.waitsFor == .service, machine.wantsToPlay else { return nil }
        return wake.map { Double(max(0, $0.time - clock.now())) / 1e9 } ?? 0
    }

    /// Whether the engine has announced the current entry: the engine's values are about this entry.
    package var isAnnounced: Bool { machine.isAnnounced }

    /// Whether the current entry is open or is being opened. `stop` closes it.
    package var isLoaded: Bool { machine.isLoaded }

    /// The position that is heard in the current entry, in seconds; 0 without one. After a seek, the target of the
    /// seek.
    package var position: Double { machine.position(engine.assetPosition) }

    /// The state of playback in one word, for the user.
    package var playback: QueuePlayback {
        guard machine.contents.current != nil else { return .stopped }
        guard wantsToPlay else { return .paused }
        return machine.isReleased || machine.waitsFor != nil || engine.playbackState == .stalled ? .stalled : .playing
    }

    /// The current entry if it should play and the device is present, but its medium, network or decoder is late;
    /// otherwise nil.
    package var entryWithoutData: QueuedProduct? {
        guard wantsToPlay, engine.playbackState == .stalled, engine.deviceProblem == nil else { return nil }
        return machine.contents.current.flatMap(machine.contents.product)
    }

    /// Remembers the position, because the engine loses it when it fails.
    package func notePosition() {
        loop.assertOnLoop()
        machine.notePosition(engine.assetPosition)
    }

    /// Calls `action` on the loop once the engine has carried out everything requested so far.
    package func whenCarriedOut(_ action: @escaping @Sendable () -> Void) {
        output.afterRequests { [loop] in loop.post(action) }
    }

    // MARK: Playback

    /// Loads the current entry at a position, in seconds, when the stored queue is resumed.
    package func resume(at position: Double, playing: Bool) { handle(.resume(position: position, playing: playing)) }

    /// Makes the entry after `entry` current, without loading it. Call it before `resume`.
    package func pass(over entry: EntryID) { handle(.passOver(entry)) }

    /// Plays the current entry, or the first one when there is none.
    package func play() { handle(.play) }

    /// Stops the sound and keeps the position.
    package func pause() { handle(.pause) }

    package func toggle() { handle(.toggle) }

    /// Stops and frees the device. The current entry will later start from its beginning.
    package func stop() { handle(.stop) }

    /// Plays the next entry, or stays paused. Does nothing at the end.
    package func next() { handle(.next) }

    /// Restarts the current entry, or returns to the former one in the first seconds of an entry.
    package func previous() { handle(.previous) }

    /// Seeks to a position of the current entry.
    /// - Parameter seconds: limited to 0…duration; at the end the entry has ended.
    package func seek(to seconds: Double) { handle(.seek(seconds: seconds)) }

    /// Jumps to an entry, and keeps playing or paused.
    package func select(_ entry: EntryID) throws(PlayQueueError) {
        try replace(playing: nil) { contents throws(PlayQueueError) in try contents.select(entry) }
    }

    // MARK: The queue

    /// Replaces the queue.
    /// - Parameters:
    ///   - start: the index of the first product to play; nil for the first in the order of playing, a random one while
    ///     shuffled.
    ///   - playing: whether to play at once.
    package func set(
        _ products: [QueuedProduct], startingAt start: Int? = 0, playing: Bool
    ) throws(PlayQueueError) {
        try set(PackedProducts(products), startingAt: start, playing: playing)
    }

    /// Replaces the queue by packed products.
    package func set(
        _ products: PackedProducts, startingAt start: Int? = 0, playing: Bool
    ) throws(PlayQueueError) {
        let random = random
        try replace(playing: playing) { contents throws(PlayQueueError) in
            try contents.set(products, startingAt: start, random: random)
        }
    }

    /// Removes all entries and stops.
    package func clear() { change { $0.clear() } }

    package func setShuffled(_ shuffled: Bool) { change { [random] in $0.setShuffled(shuffled, random: random) } }

    package func setRepeatMode(_ mode: RepeatMode) { change { $0.repeatMode = mode } }

    /// Changes the queue by any operations, and updates the engine: another current entry is loaded, playing or paused
    /// as before, and the next entry is set.
    /// - Throws: the error of `change`; the changes before the error stay.
    package func edit(_ change: (inout PlayQueue) throws(PlayQueueError) -> Void) throws(PlayQueueError) {
        loop.assertOnLoop()
        if isOver { return }
        if gathered.isOn {
            gathered.note(current: machine.contents.current)
            return try change(&machine.contents)
        }
        settle()
        defer { carryOutDecided() }
        try machine.edit(change)
    }

    private func change(_ change: (inout PlayQueue) -> Void) {
        do throws(PlayQueueError) { try edit { (queue) throws(PlayQueueError) in change(&queue) } } catch {
            preconditionFailure("\(error)")
        }
    }

    private func replace(
        playing: Bool?, _ change: (inout PlayQueue) throws(PlayQueueError) -> Void
    ) throws(PlayQueueError) {
        loop.assertOnLoop()
        if isOver { return }
        settle()
        defer { carryOutDecided() }
        try machine.replace(playing: playing, change)
    }

    // MARK: Many edits that are one

    /// Runs `body`, and gathers its edits with those of other calls: thousands of edits become one change for the
    /// engine, the medium and the observers. Any other request, and any event, comes after the gathered edits
    /// (`settle`).
    package func gather<Value, Failure>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        loop.assertOnLoop()
        gathered.isOn = true
        defer { gathered.isOn = false }
        return try body()
    }

    /// Carries out the gathered edits.
    package func settle() {
        if isOver { return }
        guard let former = gathered.take() else { return }
        machine.follow(former.current)
        carryOutDecided()
    }

    /// Carries out the gathered edits if they have made another entry current. Call it before other parts run.
    /// Otherwise the engine's position would count for the new entry.
    package func settleCurrent() {
        if gathered.hasChanged(machine.contents.current) { settle() }
    }

    // MARK: The device

    /// Stops and frees the device for other programs, and remembers the position and whether it was playing. Until
    /// `regain`, all other requests still work, but without sound.
    package func release() { handle(.release) }

    /// Resumes after `release`, if it was playing.
    package func regain() { handle(.regain) }

    /// Retries at once if the queue waits for the content service, because another link is in use.
    package func linkChanged() { handle(.linkChanged) }

    // MARK: Decisions

    private func handle(_ event: QueueStateMachine.Event) {
        loop.assertOnLoop()
        if isOver { return }
        settle()
        let heard = QueueStateMachine.Heard(
            position: engine.assetPosition, duration: engine.playbackContext?.duration, time: clock.now())
        carryOut(machine.handle(event, heard), isAutomatic: !event.isOfUser)
    }

    private func carryOutDecided() { carryOut(machine.takeEffects(), isAutomatic: false) }

    private func carryOut(_ effects: [QueueStateMachine.Effect], isAutomatic: Bool) {
        for effect in effects {
            switch effect {
            case .load(let product): output.load(product)
            case .setNext(let product): output.setNext(product)
            case .play: output.play(isAutomatic: isAutomatic)
            case .pause: output.pause()
            case .reset: output.reset()
            case .seek(let seconds, let reportsEnd):
                output.seek(seconds)
                if reportsEnd { reportSeek() }
            case .wake(let nanoseconds): wake(after: nanoseconds)
            case .cancelWake: cancelTimer()
            case .notify(let message): observe(message)
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
        let timer = loop.schedule(after: nanoseconds) { [self] in
            wake = nil
            handle(.woken)
        }
        wake = (timer, clock.now() + nanoseconds)
    }

    private func cancelTimer() {
        if let wake { loop.cancel(wake.timer) }
        wake = nil
    }

    // MARK: Messages of the engine

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
            handle(.failed(request, error, EntryFailure(error, contents.media)))
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
