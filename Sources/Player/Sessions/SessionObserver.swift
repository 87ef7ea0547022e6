import Events
import Playback

/// Derives the facts of playback sessions from what the playback engine does, without I/O (docs/playback.md, 19).
///
///     let ends = observer.ends(event, effects, before)
///     carryOut(effects)
///     let facts = observer.facts(event, effects, before, after)
struct SessionObserver {
    typealias Fact = (item: ItemID, kind: SessionFact.Kind)

    private var failures: [ItemID: PlayerError] = [:]
    private var representations: [ItemID: AudioRepresentation] = [:]
    /// The items of which at least one frame was heard.
    private var heard: Set<ItemID> = []
    /// The stream and the position at which the sound last stopped. The same stream continues there.
    private var stop: (stream: UInt64?, position: Double)?

    /// Returns the ends of the items that the effects close. The start of an item comes first if the item was heard and
    /// no fact says so yet. Record these facts before the effects: a new session begins after the former one has ended.
    mutating func ends(
        _ event: PlaybackStateMachine.Event, _ effects: [PlaybackStateMachine.Effect], _ before: PlaybackMoment
    ) -> [Fact] {
        if case .failed(let id, let error, _) = event { failures[id] = error }
        var facts: [Fact] = []
        for effect in effects {
            guard case .close(let id) = effect else { continue }
            let end = end(of: id, event)
            // A short item may end before the device is known to run.
            let start = before.streamStart ?? 0
            if end == .complete, id == before.current, !heard.contains(id), let position = before.position,
                position > start
            {
                facts.append((id, .started(position: start)))
            }
            facts.append((id, .ended(position: id == before.current ? before.position : nil, end)))
            failures[id] = nil
            representations[id] = nil
            heard.remove(id)
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

    /// Returns all facts except ends. Record them after the effects, which may have opened an item.
    mutating func facts(
        _ event: PlaybackStateMachine.Event, _ effects: [PlaybackStateMachine.Effect], _ before: PlaybackMoment,
        _ after: PlaybackMoment
    ) -> [Fact] {
        var facts: [Fact] = []
        switch event {
        case .opened(let id, let context):
            representations[id] = context.representation
            facts.append((id, .opened(SessionContent(context))))
        case .qualityChanged(let id, let context):
            guard let representation = context.representation, let known = representations[id], representation != known
            else { break }
            representations[id] = representation
            facts.append((id, .changed(position: after.position ?? 0, SessionRepresentation(representation))))
        // After a seek, frames that could not be decoded may be readable again.
        case .seek: if let current = before.current { failures[current] = nil }
        default: break
        }
        guard let current = after.current else { return facts }
        let isNew = before.current != current
        if after.wantsToPlay, isNew || !before.wantsToPlay { facts.append((current, .requested)) }
        if let kind = sound(event, effects, before, after, isNew: isNew) { facts.append((current, kind)) }
        if after.isSounding { heard.insert(current) }
        return facts
    }

    private mutating func sound(
        _ event: PlaybackStateMachine.Event, _ effects: [PlaybackStateMachine.Effect], _ before: PlaybackMoment,
        _ after: PlaybackMoment, isNew: Bool
    ) -> SessionFact.Kind? {
        if isNew { stop = nil }
        if after.isSounding {
            if before.isSounding, !isNew { return nil }
            // The device may have played since the start of the sound, so its position is later than the start.
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

extension SessionRepresentation {
    init(_ representation: AudioRepresentation) {
        self.init(
            quality: representation.quality?.serviceName, codec: representation.codec, bandwidth: representation.bitRate
        )
    }
}

extension SessionContent {
    /// Takes the content of a product of the service from the playback context.
    init(_ context: PlaybackContext) {
        self.init(
            productId: ServiceAddress(context.productId)?.id ?? context.productId,
            streamType: context.streamType == .live ? "LIVE" : "ON_DEMAND",
            assetPresentation: context.assetPresentation.serviceName, audioMode: context.audioMode?.serviceName,
            quality: context.audioQuality?.serviceName, duration: context.duration)
    }
}
