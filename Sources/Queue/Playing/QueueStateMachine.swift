import Player

/// All decisions about which entries the engine plays, without I/O: events in, effects out (docs/playback.md, 11 to
/// 13). `QueueConductor` carries the effects out in their order.
struct QueueStateMachine {
    private(set) var contents: PlayQueue
    /// Whether the user wants it to play. It may still be silent, because data, the device or the focus is missing.
    private(set) var wantsToPlay = false
    /// Whether other programs use the device.
    private(set) var isReleased = false
    /// Whether the engine has announced the current entry.
    private(set) var isAnnounced = false

    /// After this number of entries in a row without content, the entries are not the cause.
    private static let mostWithoutContent = 3

    private let rules: QueueRules
    private var lastSerial: UInt64 = 0
    /// The request that the engine plays or will play; nil without one. Messages about earlier requests are outdated.
    private var loaded: PlaybackRequest?
    var isLoaded: Bool { loaded != nil }
    /// The request that the engine has as its next one.
    private var planned: PlaybackRequest?
    /// The position at which the current entry begins, in seconds, while the engine does not report one.
    private var startPosition = 0.0
    /// The length of the entry that is heard in seconds, nil when unknown, and the time when it began.
    private var length: (seconds: Double?, began: Int64)?
    /// Seeks that the engine has not carried out yet.
    private var seeksUnderWay = 0
    private var failures = FailureRun()
    private var shortRound = ShortRound()
    private var wait: EntryWait?
    /// The effects of the current event so far.
    private var effects: [Effect] = []

    init(_ contents: PlayQueue = PlayQueue(), rules: QueueRules = .appliance) {
        self.contents = contents
        self.rules = rules
    }

    /// The reason why the current entry cannot be played yet; nil when there is none.
    var waitsFor: EntryWait.Cause? { wait?.cause }

    /// The position that is heard in the current entry, in seconds; 0 without one. After a seek, the target of the
    /// seek.
    func position(_ heard: Double?) -> Double {
        isAnnounced && seeksUnderWay == 0 ? heard ?? startPosition : startPosition
    }

    /// Remembers the position: the engine forgets it when it fails.
    mutating func notePosition(_ heard: Double?) { startPosition = position(heard) }

    // MARK: The one switch

    mutating func handle(_ event: Event, _ heard: Heard = Heard()) -> [Effect] {
        switch event {
        case .resume(let position, let playing): resume(at: position, playing: playing)
        case .passOver(let entry):
            contents.pass(over: entry)
            tell(.queueChanged)
        case .play: play()
        case .pause: pause()
        case .toggle: if wantsToPlay { pause() } else { play() }
        case .stop: stop()
        case .next: if contents.next() != nil { jump() }
        case .previous: previous(from: position(heard.position))
        case .seek(let seconds): seek(to: seconds, duration: heard.duration)
        case .release: release(at: position(heard.position))
        case .regain: regain()
        case .began(let request, let duration): began(request, duration: duration, at: heard.time)
        case .finished(let request): finished(request, at: heard.time)
        case .failed(let request, let error, let failure):
            failed(request, error, rules.failure(failure), at: position(heard.position), heard.time)
        case .engineIs(let state): engineIs(state)
        case .contextChanged: tell(.currentAnnounced)
        case .revoked(let device):
            // The engine has paused; the amplifier, and the stored queue, have not.
            tell(.revoked(otherDevice: device))
            pause()
        case .sought: seeksUnderWay -= 1
        case .linkChanged: linkChanged()
        case .woken: if loaded == nil { loadCurrent(at: startPosition) }
        }
        return takeEffects()
    }

    /// Changes the queue by any operations, and updates the engine: another current entry is loaded, playing or paused
    /// as before, and the next entry is set.
    /// - Throws: the error of `change`. The changes before the error stay, and the effects are in `takeEffects`.
    mutating func edit(_ change: (inout PlayQueue) throws(PlayQueueError) -> Void) throws(PlayQueueError) {
        let before = contents.current
        defer { follow(before) }
        try change(&contents)
    }

    /// Makes a change that chooses the current entry: it is loaded even if it already plays.
    /// - Parameter playing: whether to play it; nil: as before.
    mutating func replace(
        playing: Bool?, _ change: (inout PlayQueue) throws(PlayQueueError) -> Void
    ) throws(PlayQueueError) {
        try change(&contents)
        if let playing { wantsToPlay = playing && !contents.isEmpty }
        jump()
    }

    /// The effects since the last call, in order.
    mutating func takeEffects() -> [Effect] {
        defer { effects = [] }
        return effects
    }

    private mutating func tell(_ message: QueueMessage) { effects.append(.tell(message)) }

    // MARK: Requests of the user

    private mutating func resume(at position: Double, playing: Bool) {
        wantsToPlay = playing && contents.current != nil
        if let current = contents.current { load(current, at: position) }
        tell(.queueChanged)
    }

    private mutating func play() {
        guard !wantsToPlay, contents.current ?? contents.next() != nil else { return }
        wantsToPlay = true
        failures = FailureRun()
        shortRound = ShortRound()
        if loaded == nil { loadCurrent(at: startPosition) } else { effects.append(.play) }
        tell(.queueChanged)
    }

    private mutating func pause() {
        guard wantsToPlay else { return }
        wantsToPlay = false
        if loaded != nil { effects.append(.pause) }
        if wait?.cause == .service { effects.append(.cancelWake) }
        tell(.queueChanged)
        tell(.rested)
    }

    private mutating func stop() {
        wantsToPlay = false
        endWait()
        unload()
        startPosition = 0
        tell(.queueChanged)
        tell(.rested)
    }

    /// Restarts the current entry, or returns to the former one in the first seconds of an entry.
    private mutating func previous(from position: Double) {
        if contents.current != nil, PreviousButton.pressed(at: position) == .restart {
            seek(to: 0, duration: nil)
        } else if contents.previous() != nil {
            jump()
        }
    }

    private mutating func seek(to seconds: Double, duration: Double?) {
        guard contents.current != nil, seconds.isFinite else { return }
        let end = isAnnounced ? duration ?? .infinity : .infinity
        startPosition = min(max(0, seconds), end)
        if loaded != nil {
            seeksUnderWay += 1
            effects.append(.seek(seconds: startPosition, reportsEnd: true))
        }
        tell(.positionJumped)
    }

    /// Loads another chosen entry, playing or paused as before.
    private mutating func jump() {
        failures = FailureRun()
        shortRound = ShortRound()
        endWait()
        loadCurrent(at: 0)
        tell(.queueChanged)
        tell(.positionJumped)
    }

    /// - Parameter before: the entry that was current before the queue changed.
    private mutating func follow(_ before: EntryID?) {
        // The wait for a removed entry ends, and its failures do not count for the others.
        if let wait, contents.product(wait.entry) == nil {
            endWait()
            failures = FailureRun()
        }
        if contents.current == before {
            planNext()
        } else {
            endWait()
            loadCurrent(at: 0)
            if contents.current == nil { wantsToPlay = false }
        }
        tell(.queueChanged)
    }

    // MARK: The device

    private mutating func release(at position: Double) {
        guard !isReleased else { return }
        startPosition = position
        isReleased = true
        unload()
        tell(.rested)
    }

    private mutating func regain() {
        guard isReleased else { return }
        isReleased = false
        loadCurrent(at: startPosition)
    }

    // MARK: Requests to the engine

    private mutating func newRequest(_ entry: EntryID) -> PlaybackRequest {
        lastSerial += 1
        return PlaybackRequest(entry, serial: lastSerial)
    }

    private mutating func unload() {
        if loaded != nil { effects.append(.reset) }
        forgetLoaded()
    }

    private mutating func forgetLoaded() {
        loaded = nil
        planned = nil
        isAnnounced = false
        length = nil
    }

    private mutating func loadCurrent(at position: Double) {
        startPosition = position
        if let current = contents.current { load(current, at: position) } else { unload() }
    }

    private mutating func load(_ entry: EntryID, at position: Double) {
        startPosition = position
        guard !isReleased, let product = contents.product(entry) else { return }
        let request = newRequest(entry)
        forgetLoaded()
        loaded = request
        effects.append(.load(product.mediaProduct(referenceId: request.referenceId)))
        if position > 0 { effects.append(.seek(seconds: position, reportsEnd: false)) }
        planNext()
        if wantsToPlay { effects.append(.play) }
    }

    /// Passes the next entry to the engine, if it has changed.
    private mutating func planNext() {
        guard loaded != nil, planned?.entry != contents.upNext else { return }
        guard let entry = contents.upNext, let product = contents.product(entry) else {
            planned = nil
            effects.append(.setNext(nil))
            return
        }
        let request = newRequest(entry)
        planned = request
        effects.append(.setNext(product.mediaProduct(referenceId: request.referenceId)))
    }
}

// MARK: - Messages of the engine

extension QueueStateMachine {
    private mutating func began(_ request: PlaybackRequest, duration: Double?, at time: Int64) {
        guard let loaded, request.serial >= loaded.serial else { return }
        if request != loaded {
            let yield = yield(at: time)
            // The planned entry is heard. Another one may have been set since; it then follows.
            if planned == request { planned = nil }
            self.loaded = request
            startPosition = 0
            failures = FailureRun()
            // The entry may have been removed at the same moment.
            guard contents.product(request.entry) != nil else { return ended() }
            contents.advance(to: request.entry)
            if isTooShort(yield) { return }
            planNext()
            tell(.advanced)
        }
        length = (duration, time)
        if wait?.entry == request.entry { endWait() }
        isAnnounced = true
        tell(.currentAnnounced)
    }

    /// Returns how much of the ended entry was heard, in seconds. When its length is unknown, the time that it took.
    private func yield(at time: Int64) -> Double {
        guard let length else { return .infinity }
        return length.seconds ?? Double(time - length.began) / 1e9
    }

    /// - Parameter seconds: the length of the last entry that was heard.
    /// - Returns: whether a whole round was too short to be heard. The queue has stopped then.
    private mutating func isTooShort(_ seconds: Double, hasFailed: Bool = false) -> Bool {
        // A failed entry does not repeat: the next one follows.
        let round = contents.repeatMode == .one && !hasFailed ? 1 : contents.count
        guard contents.repeatMode != .off, shortRound.ended(after: seconds, of: round) else { return false }
        contents.giveUp()
        tell(.nothingToHear)
        goOn()
        return true
    }

    /// Handles the end of playback: the engine had no next entry. An entry may have been added too late for the engine.
    private mutating func finished(_ request: PlaybackRequest, at time: Int64) {
        guard request == loaded else { return }
        let yield = yield(at: time)
        forgetLoaded()
        if !isTooShort(yield) { ended() }
    }

    /// Handles the end of the current entry, which was heard completely.
    private mutating func ended() {
        if contents.next() == nil { contents.finish() }
        goOn()
    }

    private mutating func failed(
        _ request: PlaybackRequest, _ error: PlayerError, _ failure: EntryFailure, at position: Double, _ time: Int64
    ) {
        guard let loaded, request.serial >= loaded.serial else { return }
        let yield = yield(at: time)
        let start = request == loaded ? position : 0
        // The engine is idle now, whether the current or the next entry failed.
        forgetLoaded()
        if request != loaded, request.entry == contents.upNext, failure == .ofMedium || failure == .ofService {
            // The former entry was heard to its end.
            contents.advance(to: request.entry)
            tell(.advanced)
        }
        if request.entry == contents.current, waits(for: request.entry, at: start, error, failure) { return }
        if failure == .ofService, let entry = wait?.entry, wait?.cause == .service, entry != request.entry,
            contents.comeBack(to: entry)
        {
            failures = FailureRun()
            wait?.comesBack()
            retryLater()
            return tell(.advanced)
        }
        failures.add(request.entry, at: start, error, failure)
        wait?.letOthersTry(request.entry, failure)
        if wait?.entry != request.entry { tell(.failed(request.entry, error)) }
        if failures.countWithoutContent >= Self.mostWithoutContent, wait == nil {
            // The entries are not the cause.
            contents.giveUp()
            goOn()
        } else if failures.count >= contents.count || rules.deviceErrorEnds && error.isOfDevice {
            // Without this, a queue in which all files are damaged would repeat for ever.
            contents.giveUp()
            goOn()
        } else if request.entry == contents.current || request.entry == contents.upNext {
            // It may be among entries without frames, and would repeat with them for ever.
            if request != loaded, isTooShort(yield) { return }
            if isTooShort(start, hasFailed: true) { return }
            contents.pass(over: request.entry)
            goOn()
        } else {
            // Another entry was set as the next one, too late for the engine.
            ended()
        }
    }

    private mutating func engineIs(_ state: PlaybackState) {
        if state == .playing {
            failures = FailureRun()
            endWait()
        }
        tell(.stateChanged(state))
    }

    // MARK: Waiting

    /// - Returns: false when the other entries are tried.
    private mutating func waits(
        for entry: EntryID, at position: Double, _ error: PlayerError, _ failure: EntryFailure
    ) -> Bool {
        let isFirst = wait == nil
        switch failure {
        case .ofMedium where isFirst: wait = EntryWait(for: .medium, entry, at: position)
        case .ofService where isFirst: wait = EntryWait(for: .service, entry, at: position)
        // The service is back, so the entry is the cause.
        case .ofEntry where wait?.entry == entry && wait?.cause == .service: endWait()
        default: break
        }
        guard let wait, wait.entry == entry else { return false }
        if isFirst {
            startPosition = position
            tell(.failed(entry, error))
            tellWait(error)
            tell(.rested)
        } else if wait.cause == .service {
            tellWait(error)
        }
        // A seek may have changed the position meanwhile.
        self.wait?.position = position
        guard wait.isOn else { return false }
        retryLater()
        return true
    }

    /// - Parameter error: nil at the end of the wait.
    private mutating func tellWait(_ error: PlayerError?) {
        switch wait?.cause {
        case .medium: tell(.mediumMissing(error))
        case .service: tell(.serviceAway(error))
        case nil: break
        }
    }

    private mutating func retryLater() {
        guard let position = wait?.position, let interval = wait?.interval() else { return }
        startPosition = position
        // Do not retry while paused: `play` asks the service again.
        if wait?.cause == .service, !wantsToPlay { return }
        effects.append(.wake(after: interval))
    }

    private mutating func endWait() {
        guard wait != nil else { return }
        effects.append(.cancelWake)
        tellWait(nil)
        wait = nil
    }

    /// Retries over another link, which may work where the former one failed.
    private mutating func linkChanged() {
        guard wait?.cause == .service else { return }
        wait?.linkChanged()
        guard loaded == nil, wantsToPlay else { return }
        effects.append(.cancelWake)
        loadCurrent(at: startPosition)
    }

    /// Waits for the first entry without content if several in a row, or the last ones, have none: the entries are not
    /// the cause.
    private mutating func waitForContent() {
        guard wait == nil, contents.current == nil, failures.count > 1, let first = failures.withoutContent else {
            return
        }
        wait = EntryWait(for: .service, first.entry, at: first.position)
        tellWait(first.error)
        tell(.rested)
    }

    private mutating func goOn() {
        waitForContent()
        if contents.current == nil, let wait, contents.comeBack(to: wait.entry) {
            failures = FailureRun()
            self.wait?.comesBack()
            retryLater()
            return tell(.advanced)
        }
        if contents.current == nil { wantsToPlay = false }
        loadCurrent(at: 0)
        tell(.advanced)
        if contents.current == nil { tell(.ended) }
    }
}
