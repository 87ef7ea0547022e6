import Player

/// All decisions about which entries the engine plays, without I/O: events in, effects out (docs/playback.md, 11 to
/// 13). `QueueConductor` carries the effects out in their order.
struct QueueStateMachine {
    var contents: PlayQueue
    /// Whether the user wants the queue to play. It may still be silent, because data, the device or the focus is
    /// missing.
    var wantsToPlay = false
    /// Whether other programs use the device.
    var isReleased = false

    /// After this number of entries in a row without content, the entries are not the cause.
    static let mostWithoutContent = 3

    let rules: QueueRules
    var requests = EngineRequests()
    var place = EntryPosition()
    var heardLength = HeardLength()
    var failures = FailureRun()
    var wait: EntryWait?
    /// The effects of the current event so far.
    var effects: [Effect] = []

    init(_ contents: PlayQueue = PlayQueue(), rules: QueueRules = .appliance) {
        self.contents = contents
        self.rules = rules
    }

    /// Whether the engine has the current entry.
    var isLoaded: Bool { requests.loaded != nil }

    /// Whether the engine has announced the current entry.
    var isAnnounced: Bool { place.isAnnounced }

    /// The reason why the current entry cannot be played yet; nil when it need not wait.
    var waitsFor: EntryWait.Cause? { wait?.cause }

    /// The position that is heard in the current entry, in seconds; 0 without one. After a seek, the target of the
    /// seek.
    func position(_ heard: Double?) -> Double { place.position(heard) }

    /// Remembers the position, because the engine loses it when it fails.
    mutating func notePosition(_ heard: Double?) { place.start = position(heard) }

    // MARK: The one switch

    mutating func handle(_ event: Event, _ heard: Heard = Heard()) -> [Effect] {
        switch event {
        case .resume(let position, let playing): resume(at: position, playing: playing)
        case .passOver(let entry):
            contents.pass(over: entry)
            notify(.queueChanged)
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
        case .contextChanged: notify(.currentAnnounced)
        case .revoked(let device):
            // Only the engine has paused so far. `pause` also stops the amplifier and changes the stored queue.
            notify(.revoked(otherDevice: device))
            pause()
        case .sought: place.seeksUnderWay -= 1
        case .linkChanged: linkChanged()
        case .woken: if requests.loaded == nil { loadCurrent(at: place.start) }
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
    /// - Parameter playing: whether to play it; nil for playing or paused as before.
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

    mutating func notify(_ message: QueueMessage) { effects.append(.notify(message)) }

    // MARK: Requests of the user

    mutating func resume(at position: Double, playing: Bool) {
        wantsToPlay = playing && contents.current != nil
        if let current = contents.current { load(current, at: position) }
        notify(.queueChanged)
    }

    mutating func play() {
        guard !wantsToPlay, contents.current ?? contents.next() != nil else { return }
        wantsToPlay = true
        failures = FailureRun()
        heardLength.beginRound()
        if requests.loaded == nil { loadCurrent(at: place.start) } else { effects.append(.play) }
        notify(.queueChanged)
    }

    mutating func pause() {
        guard wantsToPlay else { return }
        wantsToPlay = false
        if requests.loaded != nil { effects.append(.pause) }
        if wait?.cause == .service { effects.append(.cancelWake) }
        notify(.queueChanged)
        notify(.rested)
    }

    mutating func stop() {
        wantsToPlay = false
        endWait()
        unload()
        place.start = 0
        notify(.queueChanged)
        notify(.rested)
    }

    /// Restarts the current entry, or returns to the former one in the first seconds of an entry.
    mutating func previous(from position: Double) {
        if contents.current != nil, PreviousButton.pressed(at: position) == .restart {
            seek(to: 0, duration: nil)
        } else if contents.previous() != nil {
            jump()
        }
    }

    mutating func seek(to seconds: Double, duration: Double?) {
        guard contents.current != nil, seconds.isFinite else { return }
        let end = isAnnounced ? duration ?? .infinity : .infinity
        place.start = min(max(0, seconds), end)
        if requests.loaded != nil {
            place.seeksUnderWay += 1
            effects.append(.seek(seconds: place.start, reportsEnd: true))
        }
        notify(.positionJumped)
    }

    /// Loads another chosen entry, playing or paused as before.
    mutating func jump() {
        failures = FailureRun()
        heardLength.beginRound()
        endWait()
        loadCurrent(at: 0)
        notify(.queueChanged)
        notify(.positionJumped)
    }

    /// - Parameter before: the entry that was current before the queue changed.
    mutating func follow(_ before: EntryID?) {
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
        notify(.queueChanged)
    }

    // MARK: The device

    mutating func release(at position: Double) {
        guard !isReleased else { return }
        place.start = position
        isReleased = true
        unload()
        notify(.rested)
    }

    mutating func regain() {
        guard isReleased else { return }
        isReleased = false
        loadCurrent(at: place.start)
    }

    // MARK: Requests to the engine

    mutating func unload() {
        if requests.loaded != nil { effects.append(.reset) }
        forgetLoaded()
    }

    mutating func forgetLoaded() {
        requests.forget()
        place.isAnnounced = false
        heardLength.end()
    }

    mutating func loadCurrent(at position: Double) {
        place.start = position
        if let current = contents.current { load(current, at: position) } else { unload() }
    }

    mutating func load(_ entry: EntryID, at position: Double) {
        place.start = position
        guard !isReleased, let product = contents.product(entry) else { return }
        let request = requests.new(entry)
        forgetLoaded()
        requests.loaded = request
        effects.append(.load(product.mediaProduct(referenceId: request.referenceId)))
        if position > 0 { effects.append(.seek(seconds: position, reportsEnd: false)) }
        planNext()
        if wantsToPlay { effects.append(.play) }
    }

    /// Passes the next entry to the engine, if it has changed.
    mutating func planNext() {
        guard requests.loaded != nil, requests.planned?.entry != contents.upNext else { return }
        guard let entry = contents.upNext, let product = contents.product(entry) else {
            requests.planned = nil
            effects.append(.setNext(nil))
            return
        }
        let request = requests.new(entry)
        requests.planned = request
        effects.append(.setNext(product.mediaProduct(referenceId: request.referenceId)))
    }
}
