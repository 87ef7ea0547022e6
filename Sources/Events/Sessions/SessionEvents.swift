import Platform

/// Derives the events about a session from its facts. It has no clock and no I/O: the same facts give the same events,
/// and facts that are added later only append events (docs/playback.md, 19).
///
///     var session = SessionEvents(start, device, newID: { random.uuid() })
///     send(session.begin())
///     for fact in facts { send(session.add(fact)) }
package struct SessionEvents {
    package private(set) var start: SessionStart
    private let device: EventDevice
    private let newID: @Sendable () -> String
    private var heard = HeardStretches()
    private var content: SessionContent?
    private var requested: EventTime?
    private var clock: Clock
    /// Whether the session has ended. Later facts are ignored.
    package private(set) var isEnded = false

    /// The clock of the times so far.
    private enum Clock {
        case proved
        /// No time is proved. All refer to one start of the system, and have the same error.
        case unproved(SystemStart)
        /// Some times are not proved, and their errors differ or cannot be known.
        case mixed
    }

    /// The longest time from the request to the first frame that is not a failure, in milliseconds.
    private static let startLimit: Int64 = 5_000

    package init(_ start: SessionStart, _ device: EventDevice, newID: @escaping @Sendable () -> String) {
        self.start = start
        self.device = device
        self.newID = newID
        clock =
            if start.time.isProved { .proved } else { start.time.systemStart.map { .unproved($0) } ?? .mixed }
    }

    /// Returns the events of the beginning.
    package func begin() -> [PlayerEvent] {
        [statistics("streaming_session_start", start.time, device.sessionStart(start))]
    }

    /// Appends a fact.
    /// - Returns: the events that follow from it.
    package mutating func add(_ fact: SessionFact) -> [PlayerEvent] {
        guard !isEnded else { return [] }
        take(fact.time)
        switch fact.kind {
        case .fetched(let fetch): return [event(of: fetch, fact.time)]
        case .opened(let content): self.content = content
        case .requested: if !heard.hasStarted { requested = fact.time }
        case .started(let position): heard.start(at: position, fact.time)
        case .stopped(let position, let reason): heard.stop(at: position, reason, fact.time)
        case .changed(let position, let representation):
            if let quality = representation.quality { content?.quality = quality }
            heard.change(to: representation, at: position, fact.time)
        case .reached(let position): heard.reach(position)
        case .ended(let position, let end):
            isEnded = true
            return events(of: end, position, fact.time)
        }
        return []
    }

    /// The first proved time shows how wrong the earlier ones were. Events that were sent before stay as they are; the
    /// outbox corrects them.
    private mutating func take(_ time: EventTime) {
        switch (clock, time.isProved) {
        case (.proved, true), (.mixed, _): break
        case (.proved, false): clock = .mixed
        case (.unproved(let start), false): if !start.isSame(as: time.systemStart) { clock = .mixed }
        case (.unproved(let systemStart), true):
            guard let error = systemStart.error(by: time.systemStart) else {
                clock = .mixed
                return
            }
            start.time.correct(error)
            requested?.correct(error)
            heard.correct(error)
            clock = .proved
        }
    }

    /// The end of a session whose program was cut off: the last position that was heard counts.
    package var cutOffPosition: Double? { heard.lastPosition }

    // MARK: Events

    private func event(of fetch: SessionFetch, _ end: EventTime) -> PlayerEvent {
        let name =
            switch fetch.resource {
            case .playbackInfo: "playback_info_fetch"
            case .license: "drm_license_fetch"
            }
        let payload: JSONValue = [
            "streamingSessionId": .string(start.id), "startTimestamp": .integer(end.milliseconds - fetch.milliseconds),
            "endTimestamp": .integer(end.milliseconds),
        ]
        return statistics(name, end, payload.adding(fetch.end.members))
    }

    /// The play log comes first, because it must not wait for statistics if a batch is full.
    private mutating func events(of end: SessionEnd, _ position: Double?, _ time: EventTime) -> [PlayerEvent] {
        let end = outcome(end, time)
        heard.end(at: position, isComplete: end == .complete, time)
        var events: [PlayerEvent] = []
        if let content, start.kind == .playback, let first = heard.first, let last = heard.lastPosition {
            events.append(playLog(content, first, last, time))
            if let progress = progress(content, last, time) { events.append(progress) }
        }
        if let content { events += summary(content, end, time) }
        let payload: JSONValue = [
            "streamingSessionId": .string(start.id), "timestamp": .integer(time.milliseconds),
        ]
        return events + [statistics("streaming_session_end", time, payload)]
    }

    /// A session that was ended from outside counts as failed if nothing was heard when it should have been.
    private func outcome(_ end: SessionEnd, _ time: EventTime) -> SessionEnd {
        guard end == .other, start.kind == .playback else { return end }
        if heard.isStalled { return .failed(code: "", message: "Ended while stalled") }
        guard !heard.hasStarted, let requested, content != nil, requested.isProved == time.isProved,
            time.milliseconds - requested.milliseconds > Self.startLimit
        else { return end }
        return .failed(code: "", message: "Ended and playback failed to start within 5 seconds")
    }

    private func summary(_ content: SessionContent, _ end: SessionEnd, _ time: EventTime) -> [PlayerEvent] {
        let actual: JSONValue = [
            "streamingSessionId": .string(start.id), "productType": .string(start.typeName),
            "actualProductId": .string(content.productId),
            "actualAssetPresentation": .string(content.assetPresentation),
            "actualAudioMode": JSONValue(content.audioMode), "actualQuality": JSONValue(content.quality),
        ]
        switch start.kind {
        case .download:
            let payload = actual.adding([.init("startTimestamp", .integer(start.time.milliseconds))])
            return [statistics("download_statistics", time, payload.adding(end.members).adding(endTime(time)))]
        case .playback:
            // A product that was loaded and never asked to play has no statistics, unless it failed.
            if requested == nil, !heard.hasStarted, !end.isFailure { return [] }
            let members: [JSONValue.Member] = [
                .init("idealStartTimestamp", JSONValue(milliseconds: requested)),
                .init("actualStartTimestamp", JSONValue(milliseconds: heard.first?.time)),
                .init("hasAds", false), .init("actualStreamType", .string(content.streamType)),
                .init("mediaStorage", content.isOfflineCopy ? "DEVICE_INTERNAL" : "INTERNET"), .init("cdm", "NONE"),
                .init("stalls", .array(heard.stalls.map { $0.json })),
                .init("adaptations", .array(heard.adaptations.map { $0.json })),
                .init("startReason", .string(start.reasonName)),
            ]
            let payload = actual.adding(members).adding(end.members).adding(endTime(time))
            return [statistics("playback_statistics", time, payload)]
        }
    }

    private func endTime(_ time: EventTime) -> [JSONValue.Member] {
        [.init("endTimestamp", .integer(time.milliseconds))]
    }

    private func playLog(
        _ content: SessionContent, _ first: HeardStretches.First, _ last: Double, _ time: EventTime
    ) -> PlayerEvent {
        let payload: JSONValue = [
            "playbackSessionId": .string(start.id), "startTimestamp": .integer(first.time.milliseconds),
            "startAssetPosition": JSONValue(seconds: first.position), "isPostPaywall": true,
            "productType": .string(start.typeName), "requestedProductId": .string(start.productId),
            "actualProductId": .string(content.productId),
            "actualAssetPresentation": .string(content.assetPresentation),
            "actualAudioMode": JSONValue(content.audioMode), "actualQuality": JSONValue(content.quality),
            "sourceType": JSONValue(start.source?.type), "sourceId": JSONValue(start.source?.id),
            "actions": .array(heard.actions.map { $0.json }), "endTimestamp": .integer(time.milliseconds),
            "endAssetPosition": JSONValue(seconds: last),
        ]
        return event("playback_session", .playLog, "play_log", 2, time, payload)
    }

    private func progress(_ content: SessionContent, _ last: Double, _ time: EventTime) -> PlayerEvent? {
        guard content.streamType.utf8.elementsEqual("ON_DEMAND".utf8), let duration = content.duration else {
            return nil
        }
        var playback: JSONValue = [
            "id": .string(content.productId), "playedMS": JSONValue(wholeMilliseconds: last),
            "durationMS": JSONValue(wholeMilliseconds: duration), "type": start.isVideo ? "video" : "track",
        ]
        if let source = start.source, let type = source.type, let id = source.id {
            playback["source"] = ["type": .string(type), "id": .string(id)]
        }
        return event("progress", .playLog, "playback", 1, time, ["playback": playback])
    }

    private func statistics(_ name: String, _ time: EventTime, _ payload: JSONValue) -> PlayerEvent {
        event(name, .statistics, "streaming_metrics", 2, time, payload)
    }

    private func event(
        _ name: String, _ category: EventCategory, _ group: String, _ version: Int, _ time: EventTime,
        _ payload: JSONValue
    ) -> PlayerEvent {
        var event = PlayerEvent(
            id: newID(), name: name, category: category, group: group, version: version, time: time.milliseconds,
            isTimeEstimated: true, payload: payload, extras: category == .playLog ? start.extras : [:])
        switch clock {
        case .proved: event.isTimeEstimated = false
        case .unproved(let start): event.systemStart = start
        case .mixed: break
        }
        return event
    }
}

extension SessionStart {
    var typeName: String { isVideo ? "VIDEO" : "TRACK" }
    var reasonName: String {
        switch reason {
        case .explicit: "EXPLICIT"
        case .implicit: "IMPLICIT"
        }
    }
}

extension SessionEnd {
    var isFailure: Bool { if case .failed = self { true } else { false } }

    fileprivate var members: [JSONValue.Member] {
        switch self {
        case .complete: [.init("endReason", "COMPLETE")]
        case .other: [.init("endReason", "OTHER")]
        case .failed(let code, let message):
            [
                .init("endReason", "ERROR"), .init("errorMessage", .string(message)),
                .init("errorCode", code.isEmpty ? .null : .string(code)),
            ]
        }
    }
}

extension JSONValue {
    fileprivate init(milliseconds time: EventTime?) {
        if let time { self = .integer(time.milliseconds) } else { self = .null }
    }

    /// Whole milliseconds of a time in seconds; null when it is not a number that fits.
    fileprivate init(wholeMilliseconds seconds: Double) {
        let value = (seconds * 1000).rounded()
        if value.isFinite, abs(value) < 9e15 { self = .integer(Int64(value)) } else { self = .null }
    }

    fileprivate func adding(_ members: [Member]) -> JSONValue { .object((self.members ?? []) + members) }
}
