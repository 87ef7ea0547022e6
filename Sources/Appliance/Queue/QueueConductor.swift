import Platform
import Player

/// Plays the queue: tells the playback engine what to play and what follows, and follows what the engine says that it
/// does. Uses the engine's public interface alone.
///
/// Thread: that of `loop`, everything.
public final class QueueConductor: @unchecked Sendable {
    /// What happened, for those who keep, show or tell it.
    public enum Event: Equatable, Sendable {
        /// Entries, order, modes, the current entry or whether it is meant to play.
        case queueChanged
        /// The engine has begun with the current entry: its context is known.
        case currentAnnounced
        case stateChanged(PlaybackState)
        /// The position is another than time has made it.
        case positionJumped
        /// It was playing, and was paused, stopped or interrupted.
        case rested
        /// The entry could not be played, and was passed over.
        case failed(EntryID, PlayerError)
        /// The current entry's medium is not there, and is waited for; nil: it is there, or no longer wanted.
        case mediumMissing(PlayerError?)
        /// Nothing is left to play.
        case ended
        /// Another device plays with the same subscription; it was paused.
        case revoked(otherDevice: String?)
    }

    public private(set) var contents: PlayQueue
    /// Whether the user wants it to play. It may still be silent, for lack of data, of a device or of focus.
    public private(set) var wantsToPlay = false
    /// Whether others have the device.
    public private(set) var isReleased = false

    private let engine: PlaybackEngine
    let output: AmplifiedOutput
    private let loop: EventLoop
    private let random: any RandomSource
    /// Called on `loop`'s thread with everything that happens.
    var observe: (Event) -> Void
    private var subscription: Bus<PlaybackMessage>.Subscription?

    private var lastSerial: UInt64 = 0
    /// What the engine plays or will play; nil when it has nothing. What it says of earlier requests is out of date.
    private var loaded: PlaybackRequest?
    /// Whether the engine has said so.
    private(set) var isAnnounced = false
    /// What the engine was told to play next.
    private var planned: PlaybackRequest?
    /// Where the current entry begins, in seconds, as long as the engine does not know it better.
    private var startPosition = 0.0
    /// Seeks that the engine has not carried out yet.
    private var seeksUnderWay = 0
    /// Entries in a row that could not be played.
    private var failures = 0
    private var mediumWait: MediumWait?
    private var mediumTimer: TimerToken?

    /// - Parameter observe: called on `loop`'s thread with all that happens.
    public init(
        engine: PlaybackEngine, loop: EventLoop, queue: PlayQueue = PlayQueue(),
        random: any RandomSource = SystemRandomSource(), observe: @escaping (Event) -> Void = { _ in }
    ) {
        self.engine = engine
        output = AmplifiedOutput(engine: engine, loop: loop)
        self.loop = loop
        contents = queue
        self.random = random
        self.observe = observe
        subscription = engine.bus.subscribe { [self] message in
            loop.post { self.receive(message) }
        }
    }

    /// Listens to the engine no longer, and tells nobody of the messages that are still under way. Until then it lives
    /// as long as the engine does.
    public func shutDown() {
        if let subscription { engine.bus.cancel(subscription) }
        subscription = nil
        observe = { _ in }
        endMediumWait()
    }

    /// Where the current entry is heard, in seconds; 0 without one. After a seek that is where it goes to.
    public var position: Double {
        isAnnounced && seeksUnderWay == 0 ? engine.assetPosition ?? startPosition : startPosition
    }

    /// What a person would say that it does.
    public var playback: DaemonStatus.Playback {
        guard contents.current != nil else { return .stopped }
        guard wantsToPlay else { return .paused }
        return isReleased || waitsForMedium || engine.playbackState == .stalled ? .stalled : .playing
    }

    /// Calls `action` on the loop once the engine has carried out everything requested so far.
    public func whenCarriedOut(_ action: @escaping @Sendable () -> Void) {
        output.afterRequests { [loop] in loop.post(action) }
    }

    /// Whether it waits for the current entry's medium.
    public var waitsForMedium: Bool { mediumWait != nil }

    /// Remembers the position: the engine forgets it when it fails.
    public func notePosition() { startPosition = position }

    // MARK: Playback

    /// Makes the queue's current entry ready at a position, for a start with what was kept.
    public func resume(at position: Double, playing: Bool) {
        wantsToPlay = playing && contents.current != nil
        if let current = contents.current { load(current, at: position) }
        observe(.queueChanged)
    }

    /// Plays the current entry, or the first one where there is none.
    public func play() {
        guard !wantsToPlay, contents.current ?? contents.next() != nil else { return }
        wantsToPlay = true
        failures = 0
        if loaded == nil { loadCurrent(at: startPosition) } else { output.play() }
        observe(.queueChanged)
    }

    /// Falls silent and keeps the position.
    public func pause() {
        guard wantsToPlay else { return }
        wantsToPlay = false
        if loaded != nil { output.pause() }
        observe(.queueChanged)
        observe(.rested)
    }

    public func toggle() {
        if wantsToPlay { pause() } else { play() }
    }

    /// Falls silent and frees the device; the current entry will begin anew.
    public func stop() {
        wantsToPlay = false
        endMediumWait()
        unload()
        startPosition = 0
        observe(.queueChanged)
        observe(.rested)
    }

    /// Goes on to what is up next, playing or not as before. Does nothing at the end.
    public func next() { jump { $0.next() != nil } }

    /// Restarts the current entry, or goes back to the one before while it has hardly begun.
    public func previous() {
        if contents.current != nil, PreviousButton.pressed(at: position) == .restart {
            seek(to: 0)
        } else {
            jump { $0.previous() != nil }
        }
    }

    /// Jumps to an entry, playing or not as before.
    public func select(_ entry: EntryID) throws(PlayQueueError) {
        try contents.select(entry)
        jump { _ in true }
    }

    /// Goes to a position of the current entry.
    /// - Parameter seconds: limited to 0…duration; at the end the entry has ended.
    public func seek(to seconds: Double) {
        guard contents.current != nil, seconds.isFinite else { return }
        let end = isAnnounced ? engine.playbackContext?.duration ?? .infinity : .infinity
        startPosition = min(max(0, seconds), end)
        if loaded != nil {
            engine.seek(startPosition)
            seeksUnderWay += 1
            engine.afterRequests { [self, loop] in
                loop.post { self.seeksUnderWay -= 1 }
            }
        }
        observe(.positionJumped)
    }

    private func jump(_ change: (inout PlayQueue) -> Bool) {
        guard change(&contents) else { return }
        failures = 0
        endMediumWait()
        loadCurrent(at: 0)
        observe(.queueChanged)
        observe(.positionJumped)
    }

    // MARK: The queue

    /// Replaces the contents.
    /// - Parameters:
    ///   - start: the index of the first product to play; nil for any while shuffled.
    ///   - playing: whether to play at once.
    public func set(
        _ products: [QueuedProduct], startingAt start: Int? = 0, playing: Bool
    ) throws(PlayQueueError) {
        try contents.set(products, startingAt: start, random: random)
        wantsToPlay = playing && !contents.isEmpty
        jump { _ in true }
    }

    /// Removes all entries and stops.
    public func clear() {
        contents.clear()
        wantsToPlay = false
        jump { _ in true }
    }

    public func setShuffled(_ shuffled: Bool) {
        contents.setShuffled(shuffled, random: random)
        follow(contents.current)
    }

    public func setRepeatMode(_ mode: RepeatMode) {
        contents.repeatMode = mode
        follow(contents.current)
    }

    /// Changes the queue by whatever operations, and has the engine follow: another current entry is loaded, playing or
    /// not as before, and what is up next is set.
    /// - Throws: what `change` throws; what it had done before has been done.
    public func edit(
        _ change: (inout PlayQueue) throws(PlayQueueError) -> Void
    ) throws(PlayQueueError) {
        let before = contents.current
        defer { follow(before) }
        try change(&contents)
    }

    /// - Parameter before: the entry that was current before the queue changed.
    private func follow(_ before: EntryID?) {
        if contents.current == before {
            planNext()
        } else {
            endMediumWait()
            loadCurrent(at: 0)
            if contents.current == nil { wantsToPlay = false }
        }
        observe(.queueChanged)
    }

    // MARK: The device

    /// Stops and frees the device for others, and remembers where and whether it was playing. Until `regain` all else
    /// goes on, silently.
    public func release() {
        guard !isReleased else { return }
        startPosition = position
        isReleased = true
        unload()
        observe(.rested)
    }

    /// Goes on where `release` has stopped, if it was playing.
    public func regain() {
        guard isReleased else { return }
        isReleased = false
        loadCurrent(at: startPosition)
    }

    // MARK: The engine

    private func newRequest(_ entry: EntryID) -> PlaybackRequest {
        lastSerial += 1
        return PlaybackRequest(entry, serial: lastSerial)
    }

    private func unload() {
        if loaded != nil { output.reset() }
        forgetLoaded()
    }

    private func forgetLoaded() {
        loaded = nil
        planned = nil
        isAnnounced = false
    }

    private func loadCurrent(at position: Double) {
        startPosition = position
        if let current = contents.current { load(current, at: position) } else { unload() }
    }

    private func load(_ entry: EntryID, at position: Double) {
        startPosition = position
        guard !isReleased, let product = contents.product(entry) else { return }
        let request = newRequest(entry)
        loaded = request
        planned = nil
        isAnnounced = false
        output.load(product.mediaProduct(referenceId: request.referenceId))
        if position > 0 { engine.seek(position) }
        planNext()
        if wantsToPlay { output.play() }
    }

    /// Tells the engine what is up next, if that has changed.
    private func planNext() {
        guard loaded != nil, planned?.entry != contents.upNext else { return }
        guard let entry = contents.upNext, let product = contents.product(entry) else {
            planned = nil
            engine.setNext(nil)
            return
        }
        let request = newRequest(entry)
        planned = request
        engine.setNext(product.mediaProduct(referenceId: request.referenceId))
    }

    // MARK: What the engine says

    private func receive(_ message: PlaybackMessage) {
        switch message {
        case .mediaProductTransition(let transition):
            if let active = transition.active {
                if let request = PlaybackRequest(referenceId: active.referenceId) { began(request) }
            } else if let loaded, transition.previous?.referenceId == loaded.referenceId {
                // Nothing was up next; an entry may have come at the last moment, too late to be set.
                forgetLoaded()
                ended()
            }
        case .error(let error):
            if let product = error.mediaProduct, let request = PlaybackRequest(referenceId: product.referenceId) {
                failed(request, error)
            }
        case .playbackStateChanged(let state):
            if state == .playing {
                failures = 0
                endMediumWait()
            }
            output.engineIs(state)
            observe(.stateChanged(state))
        case .playbackQualityChanged:
            observe(.currentAnnounced)
        case .streamingPrivilegesRevoked(let otherDevice):
            wantsToPlay = false
            observe(.revoked(otherDevice: otherDevice))
            observe(.rested)
        }
    }

    private func began(_ request: PlaybackRequest) {
        guard let loaded, request.serial >= loaded.serial else { return }
        if request != loaded {
            // What was set as next is heard. Something else may have been set since, and follows it then.
            if planned == request { planned = nil }
            self.loaded = request
            startPosition = 0
            failures = 0
            // It may have been removed in the same moment.
            guard contents.product(request.entry) != nil else { return ended() }
            contents.advance(to: request.entry)
            planNext()
            observe(.queueChanged)
        }
        if mediumWait?.entry == request.entry { endMediumWait() }
        isAnnounced = true
        observe(.currentAnnounced)
    }

    /// The current entry was heard to its end.
    private func ended() {
        if contents.next() == nil { contents.finish() }
        goOn()
    }

    private func failed(_ request: PlaybackRequest, _ error: PlayerError) {
        guard let loaded, request.serial >= loaded.serial else { return }
        let position = position
        // The engine is idle now, whichever of the two it was.
        forgetLoaded()
        if request != loaded, request.entry == contents.upNext, MediumWait.isNeeded(after: error) {
            // The one before it was heard to its end.
            contents.advance(to: request.entry)
            observe(.queueChanged)
        }
        if request.entry == contents.current,
            waitForMedium(of: request.entry, at: request == loaded ? position : 0, error)
        {
            return
        }
        failures += 1
        mediumWait?.letOthersTry()
        if mediumWait?.entry != request.entry { observe(.failed(request.entry, error)) }
        if failures >= contents.count {
            // Without this a queue of nothing but broken files would go round for ever.
            contents.giveUp()
            goOn()
        } else if request.entry == contents.current || request.entry == contents.upNext {
            contents.pass(over: request.entry)
            goOn()
        } else {
            // Another entry has become the next one, too late to be set.
            ended()
        }
    }

    /// - Returns: false when it is the others' turn.
    private func waitForMedium(of entry: EntryID, at position: Double, _ error: PlayerError) -> Bool {
        if mediumWait == nil, MediumWait.isNeeded(after: error) {
            mediumWait = MediumWait(entry, at: position)
            startPosition = position
            observe(.failed(entry, error))
            observe(.mediumMissing(error))
            observe(.rested)
        }
        guard mediumWait?.entry == entry else { return false }
        // Somebody may have sought in it meanwhile.
        mediumWait?.position = position
        guard mediumWait?.isOn == true else { return false }
        tryAgainLater()
        return true
    }

    private func tryAgainLater() {
        guard let position = mediumWait?.position, let interval = mediumWait?.interval() else { return }
        startPosition = position
        // Who plays and pauses meanwhile tries at once, and must not have it tried twice from then on.
        if let mediumTimer { loop.cancel(mediumTimer) }
        mediumTimer = loop.schedule(after: interval) { [self] in
            mediumTimer = nil
            if loaded == nil { loadCurrent(at: startPosition) }
        }
    }

    private func endMediumWait() {
        if let mediumTimer { loop.cancel(mediumTimer) }
        mediumTimer = nil
        guard mediumWait != nil else { return }
        mediumWait = nil
        observe(.mediumMissing(nil))
    }

    private func goOn() {
        if contents.current == nil, let wait = mediumWait, contents.comeBack(to: wait.entry) {
            tryAgainLater()
            return observe(.queueChanged)
        }
        if contents.current == nil { wantsToPlay = false }
        loadCurrent(at: 0)
        observe(.queueChanged)
        if contents.current == nil { observe(.ended) }
    }
}
