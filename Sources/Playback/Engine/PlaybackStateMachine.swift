import PCM

/// Every decision of the playback engine, without I/O: events in, effects out (docs/playback.md, 1 to 6).
/// `PlaybackConductor` carries the effects out in order.
package struct PlaybackStateMachine {
    private enum State {
        case idle
        case active(Active)
    }

    private struct Active {
        var current: PlaybackItem
        var next: PlaybackItem?
        /// Whether the user wants the active product to play.
        var wantsToPlay = false
        var output = Output.silent

        func product(of id: ItemID) -> MediaProduct? {
            if current.id == id { current.product } else if next?.id == id { next?.product } else { nil }
        }
    }

    /// The state of the output, compared with the wish to play.
    private enum Output {
        /// Nothing is heard yet, but the sound may start at any moment.
        case silent
        case sounding
        /// Data or the device is missing.
        case stalled
    }

    private var state = State.idle
    /// The state of the last message.
    private(set) var playbackState = PlaybackState.idle
    /// The active product of the last transition message.
    private(set) var announced: MediaProduct?
    /// The context of the last transition or quality message.
    private(set) var context: PlaybackContext?
    /// Counts the starts of the output, so that a late report about an earlier start is recognised.
    private var generation: UInt64 = 0

    /// The item that plays or will play.
    var currentItem: ItemID? {
        if case .active(let active) = state { active.current.id } else { nil }
    }

    /// The item that follows.
    var nextItem: ItemID? {
        if case .active(let active) = state { active.next?.id } else { nil }
    }

    /// Whether the user wants the current item to play.
    var wantsToPlay: Bool {
        if case .active(let active) = state { active.wantsToPlay } else { false }
    }

    /// Whether frames of the current item are heard.
    var isSounding: Bool {
        if case .active(let active) = state { active.wantsToPlay && active.output == .sounding } else { false }
    }

    /// - Parameter heard: the position that is heard before the event, in seconds, in the current item; nil while none
    ///   is known.
    mutating func handle(_ event: Event, heard: Double? = nil) -> [Effect] {
        switch (state, event) {
        case (_, .load(let product, let id)):
            return load(product, id)
        case (_, .reset):
            return becomeIdle()
        case (.idle, _):
            return []
        case (.active(var active), _):
            var effects: [Effect] = []
            switch event {
            case .load, .reset:
                break
            case .setNext(let product, let id):
                effects = setNext(product, id, &active)
            case .play:
                effects = play(&active)
            case .pause:
                guard active.wantsToPlay else { return [] }
                active.wantsToPlay = false
                active.output = .silent
                effects = [.hold]
            case .privilegesRevoked(let otherDevice):
                guard active.wantsToPlay else { return [] }
                active.wantsToPlay = false
                active.output = .silent
                effects = [.hold, .send(.streamingPrivilegesRevoked(otherDevice: otherDevice))]
            case .seek(let seconds):
                effects = seek(seconds, &active)
            case .repositioned(let id):
                effects = repositioned(id, &active)
            case .skipToNext:
                guard let next = active.next else { return [] }
                effects = [.close(active.current.id)]
                if case .failed(let error) = next.phase, !error.isLossOfPrivileges { return fail(error, effects) }
                effects += becomeActive(next, &active)
            case .opened(let id, let context):
                effects = opened(id, context, &active)
            case .failed(let id, var error, let hasFrames):
                // The device's errors do not contain the product.
                if error.mediaProduct == nil { error.mediaProduct = active.product(of: id) }
                arrived(id, &active)
                guard let recorded = record(error, of: id, hasFrames, &active, heard) else { return fail(error) }
                effects = recorded
            case .sessionRenewed(let id, let session):
                if active.next?.id == id { active.next?.context?.playbackSessionId = session }
                guard active.current.id == id, active.current.context != nil, var changed = context else { break }
                changed.playbackSessionId = session
                effects = changeQuality(changed, &active)
            case .fetched(let id):
                arrived(id, &active)
            case .running(generation):
                active.output = .sounding
            case .starved(generation), .deviceLost(generation):
                active.output = .stalled
            case .startIsLate(generation):
                if active.output == .silent { active.output = .stalled }
            case .running, .starved, .deviceLost, .startIsLate:
                return []
            case .heard(let id):
                guard let next = active.next, next.id == id else { return [] }
                effects = [.close(active.current.id)]
                active.current = next
                active.next = nil
                effects += announce(active.current)
            case .ended(let id):
                guard active.current.id == id else { return [] }
                return ended(active, heard)
            case .qualityChanged(let id, let changed):
                guard active.current.id == id else { return [] }
                effects = changeQuality(changed, &active)
            case .decodedAgain(let id, let decoded):
                guard active.next?.id == id, let changed = active.next?.context?.changed(as: decoded) else { break }
                active.next?.context = changed
            case .adapted(let id, let adaptation):
                if active.next?.id == id { active.next?.context?.adaptation = adaptation }
                guard active.current.id == id, var changed = context, changed.adaptation != adaptation else { break }
                changed.adaptation = adaptation
                effects = changeQuality(changed, &active)
            }
            effects += openNext(&active)
            state = .active(active)
            return effects + reportState()
        }
    }

    // MARK: Requests

    private mutating func load(_ product: MediaProduct, _ id: ItemID) -> [Effect] {
        var effects = closeItems()
        if case .active = state { effects.append(.silence(releaseDevice: false)) }
        state = .active(Active(current: PlaybackItem(id: id, product: product)))
        effects.append(.open(id, product))
        return effects + reportState()
    }

    private func setNext(_ product: MediaProduct?, _ id: ItemID, _ active: inout Active) -> [Effect] {
        guard active.next?.product != product else { return [] }
        var effects: [Effect] = []
        if let replaced = active.next { effects = [.follow(nil)] + replaced.closing }
        active.next = product.map { PlaybackItem(id: id, product: $0, phase: .waiting) }
        return effects
    }

    private mutating func play(_ active: inout Active) -> [Effect] {
        guard !active.wantsToPlay else { return [] }
        active.wantsToPlay = true
        active.output = .silent
        guard active.current.phase == .revoked else { return start(&active) }
        active.current.phase = .loading
        active.current.isFetched = false
        return [.open(active.current.id, active.current.product)] + seekToStart(active.current) + start(&active)
    }

    /// Starts the output, which is silent until then.
    private mutating func start(_ active: inout Active) -> [Effect] {
        guard active.wantsToPlay else { return [] }
        generation += 1
        if active.output == .sounding { active.output = .silent }
        return runIfPlayable(active) + [.watchStart(generation: generation)]
    }

    private func runIfPlayable(_ active: Active) -> [Effect] {
        active.wantsToPlay && active.current.isPlayable ? [.run(generation: generation)] : []
    }

    /// Stops the output until there is audio from the new position. Drops the old frames; otherwise the next item would
    /// begin after them.
    private mutating func seek(_ seconds: Double, _ active: inout Active) -> [Effect] {
        guard !seconds.isNaN else { return [] }
        let end = active.current.context?.duration ?? .infinity
        let seek = Effect.seek(active.current.id, seconds: max(0, min(seconds, end)))
        guard active.current.context != nil else {
            active.current.start = max(0, seconds)
            return [seek]
        }
        active.current.isRepositioning = true
        var effects = [.hold, seek] + start(&active)
        // The seek may skip the frames that could not be decoded, or they may be readable now.
        if active.current.failureAtEnd != nil {
            active.current.failureAtEnd = nil
            if active.next?.context != nil { effects.append(.follow(active.next?.id)) }
        }
        return effects
    }

    /// Seeks to the position at which the product was closed.
    private func seekToStart(_ item: PlaybackItem) -> [Effect] {
        item.start.map { [.seek(item.id, seconds: $0)] } ?? []
    }

    // MARK: Items

    private func arrived(_ id: ItemID, _ active: inout Active) {
        if active.current.id == id { active.current.isFetched = true }
        if active.next?.id == id { active.next?.isFetched = true }
    }

    /// Opens the next item once the current one is fully fetched (docs/playback.md, 5.4).
    private func openNext(_ active: inout Active) -> [Effect] {
        guard active.current.isFetched, let next = active.next, next.phase == .waiting else { return [] }
        active.next?.phase = .loading
        return [.open(next.id, next.product, isNext: true)]
    }

    /// Makes the next item the current one before it is heard.
    private mutating func becomeActive(_ next: PlaybackItem, _ active: inout Active) -> [Effect] {
        active.current = next
        active.next = nil
        if case .failed(let error) = next.phase, error.isLossOfPrivileges {
            return [.silence(releaseDevice: false)] + revoke(&active, heard: nil)
        }
        guard next.context != nil else {
            active.output = .stalled
            // Later reports of the output are about the former product.
            if active.wantsToPlay { generation += 1 }
            guard next.phase == .waiting else { return [.silence(releaseDevice: false)] }
            active.current.phase = .loading
            return [.silence(releaseDevice: false), .open(next.id, next.product, isNext: true)]
        }
        return [.follow(nil), .begin(next.id)] + start(&active) + announce(next)
    }

    private mutating func opened(_ id: ItemID, _ context: PlaybackContext, _ active: inout Active) -> [Effect] {
        if active.current.id == id {
            active.current.phase = .ready(context)
            active.current.start = nil
            let follow: [Effect] = active.next?.context == nil ? [] : [.follow(active.next?.id)]
            return [.begin(id)] + follow + runIfPlayable(active) + announce(active.current)
        }
        guard active.next?.id == id else { return [] }
        active.next?.phase = .ready(context)
        return follow(active)
    }

    private func repositioned(_ id: ItemID, _ active: inout Active) -> [Effect] {
        guard active.current.id == id else { return active.next?.id == id ? follow(active) : [] }
        active.current.isRepositioning = false
        return [.begin(id)] + runIfPlayable(active)
    }

    private func follow(_ active: Active) -> [Effect] {
        active.current.context == nil || active.current.failureAtEnd != nil ? [] : [.follow(active.next?.id)]
    }

    /// - Returns: nil when the error has to be sent now.
    private func record(
        _ error: PlayerError, of id: ItemID, _ hasFrames: Bool, _ active: inout Active, _ heard: Double?
    ) -> [Effect]? {
        if active.current.id == id {
            if error.isLossOfPrivileges, !hasFrames { return revoke(&active, heard: heard) }
            guard hasFrames, active.current.context != nil else { return nil }
            active.current.failureAtEnd = error
            return [.follow(nil), .finish(id)]
        }
        guard active.next?.id == id else { return [] }
        if hasFrames, active.next?.context != nil {
            active.next?.failureAtEnd = error
            return [.finish(id)]
        }
        active.next?.phase = .failed(error)
        return [.follow(nil)]
    }

    /// Handles the loss of the right to play to another device: the next `play` opens the product again at the position
    /// that was heard.
    private func revoke(_ active: inout Active, heard: Double?) -> [Effect] {
        // While the product is not open, `heard` is a position in the product before it.
        if active.current.context != nil { active.current.start = heard }
        let silence: [Effect] = active.current.context == nil ? [] : [.silence(releaseDevice: false)]
        active.current.failureAtEnd = nil
        active.current.isRepositioning = false
        active.current.phase = .revoked
        active.current.isFetched = true
        active.wantsToPlay = false
        active.output = .silent
        return [.close(active.current.id)] + silence + [.send(.streamingPrivilegesRevoked(otherDevice: nil))]
    }

    private mutating func ended(_ active: Active, _ heard: Double?) -> [Effect] {
        if let error = active.current.failureAtEnd {
            guard error.isLossOfPrivileges else { return fail(error) }
            var active = active
            let effects = revoke(&active, heard: heard) + openNext(&active)
            state = .active(active)
            return effects + reportState()
        }
        guard let next = active.next else {
            let transition = MediaProductTransition(previous: announced, active: nil, context: nil)
            return [.send(.mediaProductTransition(transition))] + becomeIdle()
        }
        if case .failed(let error) = next.phase, !error.isLossOfPrivileges { return fail(error) }
        var active = active
        let effects = [.close(active.current.id)] + becomeActive(next, &active)
        state = .active(active)
        return effects + reportState()
    }

    private mutating func changeQuality(_ changed: PlaybackContext, _ active: inout Active) -> [Effect] {
        active.current.context = changed
        context = changed
        return [.send(.playbackQualityChanged(changed))]
    }

    private mutating func announce(_ item: PlaybackItem) -> [Effect] {
        let transition = MediaProductTransition(previous: announced, active: item.product, context: item.context)
        announced = item.product
        context = item.context
        return [.send(.mediaProductTransition(transition))]
    }

    // MARK: Ends

    private mutating func fail(_ error: PlayerError, _ effects: [Effect] = []) -> [Effect] {
        effects + [.send(.error(error))] + becomeIdle(alreadyClosed: effects)
    }

    private mutating func becomeIdle(alreadyClosed: [Effect] = []) -> [Effect] {
        let effects = closeItems().filter { !alreadyClosed.contains($0) }
        state = .idle
        announced = nil
        context = nil
        return effects + [.silence(releaseDevice: true)] + reportState()
    }

    private func closeItems() -> [Effect] {
        guard case .active(let active) = state else { return [] }
        return active.current.closing + (active.next?.closing ?? [])
    }

    /// Changes the public state. Only this function does so.
    private mutating func reportState() -> [Effect] {
        let now: PlaybackState
        switch state {
        case .idle: now = .idle
        case .active(let active) where !active.wantsToPlay: now = .notPlaying
        case .active(let active):
            switch active.output {
            case .silent: return []
            case .sounding: now = .playing
            case .stalled: now = .stalled
            }
        }
        guard now != playbackState else { return [] }
        playbackState = now
        return [.send(.playbackStateChanged(now))]
    }
}
