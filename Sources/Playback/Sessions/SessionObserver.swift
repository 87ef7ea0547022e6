import Events

/// The playback engine at a moment, as far as sessions need it.
struct PlaybackMoment: Equatable {
    var current: ItemID?
    /// Whether frames of the current item are heard.
    var isSounding: Bool
    /// Whether the user wants it to play.
    var wantsToPlay: Bool
    var state: PlaybackState
    /// The position that is heard, in seconds; nil while none is known.
    var position: Double?
    /// The stream that is or will be heard, and the position of its first frame in seconds.
    var stream: UInt64?
    var streamStart: Double?
    /// Whether the content service streams the current item.
    var isStreamed: Bool

    /// - Parameters:
    ///   - position: the position that is heard.
    ///   - stream: the stream that is or will be heard.
    ///   - streamStart: the position of its first frame.
    ///   - isStreamed: whether the content service streams the current item.
    init(
        _ machine: PlaybackStateMachine, position: Double?, stream: UInt64?, streamStart: Double?, isStreamed: Bool
    ) {
        self.isStreamed = isStreamed
        self.stream = stream
        self.streamStart = streamStart
        current = machine.currentItem
        isSounding = machine.isSounding
        wantsToPlay = machine.wantsToPlay
        state = machine.playbackState
        self.position = position
    }
}

/// Derives the facts of playback sessions from what the playback engine does, without I/O (docs/playback.md, 19).
///
///     let ends = observer.ends(event, effects, before)
///     carryOut(effects)
///     let facts = observer.facts(event, effects, before, after)
struct SessionObserver {
    typealias Fact = (item: ItemID, kind: SessionFact.Kind)

    private var failures: [ItemID: PlayerError] = [:]
    private var encodings: [ItemID: AudioEncoding] = [:]
    /// Where the sound stopped last. The same stream continues there.
    private var stop: (stream: UInt64?, position: Double)?

    /// Returns the ends of the items that the effects close. They belong before the effects: a new session begins after
    /// the former one has ended.
    mutating func ends(
        _ event: PlaybackStateMachine.Event, _ effects: [PlaybackStateMachine.Effect], _ before: PlaybackMoment
    ) -> [Fact] {
        if case .failed(let id, let error, _) = event { failures[id] = error }
        var facts: [Fact] = []
        for effect in effects {
            guard case .close(let id) = effect else { continue }
            let end = end(of: id, event)
            facts.append((id, .ended(position: id == before.current ? before.position : nil, end)))
            failures[id] = nil
            encodings[id] = nil
        }
        // The next item has failed: its session ends now, and the error waits until the item would be heard.
        if facts.isEmpty, case .failed(let id, let error, hasFrames: false) = event, id != before.current {
            facts.append((id, .ended(position: nil, SessionEnd(error))))
        }
        return facts
    }

    private func end(of id: ItemID, _ event: PlaybackStateMachine.Event) -> SessionEnd {
        if let error = failures[id] { return SessionEnd(error) }
        switch event {
        case .ended(let ended) where ended == id: return .complete
        // The next item is heard, so the current one has been heard to its end.
        case .heard(let next) where next != id: return .complete
        default: return .other
        }
    }

    /// Returns the other facts. They belong after the effects, which may have opened an item.
    mutating func facts(
        _ event: PlaybackStateMachine.Event, _ effects: [PlaybackStateMachine.Effect], _ before: PlaybackMoment,
        _ after: PlaybackMoment
    ) -> [Fact] {
        var facts: [Fact] = []
        switch event {
        case .opened(let id, let context):
            encodings[id] = context.encoding
            facts.append((id, .opened(SessionContent(context))))
        case .qualityChanged(let id, let context):
            guard let encoding = context.encoding, let known = encodings[id], encoding != known else { break }
            encodings[id] = encoding
            facts.append((id, .changed(position: after.position ?? 0, SessionRepresentation(encoding))))
        // A seek makes frames readable again that could not be decoded.
        case .seek: if let current = before.current { failures[current] = nil }
        default: break
        }
        guard let current = after.current else { return facts }
        let isNew = before.current != current
        if after.wantsToPlay, isNew || !before.wantsToPlay { facts.append((current, .requested)) }
        if let kind = sound(event, effects, before, after, isNew: isNew) { facts.append((current, kind)) }
        return facts
    }

    private mutating func sound(
        _ event: PlaybackStateMachine.Event, _ effects: [PlaybackStateMachine.Effect], _ before: PlaybackMoment,
        _ after: PlaybackMoment, isNew: Bool
    ) -> SessionFact.Kind? {
        if isNew { stop = nil }
        if after.isSounding {
            if before.isSounding, !isNew { return nil }
            // The device may have played on since it began: its position is too late.
            let isSameStream = stop != nil && stop?.stream == after.stream
            return .started(position: (isSameStream ? stop?.position : after.streamStart) ?? 0)
        }
        guard !isNew, let reason = reason(event, effects, before, after) else { return nil }
        let position = before.position ?? 0
        stop = (before.stream, position)
        return .stopped(position: position, reason)
    }

    private func reason(
        _ event: PlaybackStateMachine.Event, _ effects: [PlaybackStateMachine.Effect], _ before: PlaybackMoment,
        _ after: PlaybackMoment
    ) -> StopReason? {
        switch event {
        case .pause where before.wantsToPlay: return .pause
        case .privilegesRevoked where before.wantsToPlay: return .pause
        case .seek where !effects.isEmpty: return .seek
        default: return before.isSounding || after.state == .stalled && before.state != .stalled ? .stall : nil
        }
    }
}

extension SessionEnd {
    package init(_ error: PlayerError) { self = .failed(code: error.code, message: error.reportedMessage) }
}

extension SessionRepresentation {
    init(_ encoding: AudioEncoding) {
        self.init(quality: encoding.quality?.serviceName, codec: encoding.codec, bandwidth: encoding.bitRate)
    }
}

extension SessionContent {
    /// The content of a product of the service, by its context.
    init(_ context: PlaybackContext) {
        self.init(
            productId: ServiceAddress(context.productId)?.id ?? context.productId,
            streamType: context.streamType == .live ? "LIVE" : "ON_DEMAND",
            assetPresentation: context.assetPresentation.serviceName, audioMode: context.audioMode?.serviceName,
            quality: context.audioQuality?.serviceName, duration: context.duration)
    }
}
