import Platform

/// The stretches of a product that were heard, and the reasons for the gaps between them. Positions are those of the
/// device's clock, in seconds.
struct HeardStretches {
    struct First: Equatable {
        var position: Double
        var time: EventTime
    }

    struct Action: Equatable {
        var isStart: Bool
        var position: Double
        var time: EventTime

        var json: JSONValue {
            [
                "actionType": isStart ? "PLAYBACK_START" : "PLAYBACK_STOP",
                "assetPosition": JSONValue(seconds: position),
                "timestamp": .integer(time.milliseconds),
            ]
        }
    }

    struct Stall: Equatable {
        var isSeek: Bool
        var position: Double
        var began: EventTime
        var ended: EventTime

        var json: JSONValue {
            [
                "reason": isSeek ? "SEEK" : "UNEXPECTED", "assetPosition": JSONValue(seconds: position),
                "startTimestamp": .integer(began.milliseconds), "endTimestamp": .integer(ended.milliseconds),
            ]
        }
    }

    struct Adaptation: Equatable {
        var position: Double
        var time: EventTime
        var representation: SessionRepresentation

        var json: JSONValue {
            [
                "assetPosition": JSONValue(seconds: position), "timestamp": .integer(time.milliseconds),
                "codecs": .string(representation.codec), "bandwidth": JSONValue(representation.bandwidth),
            ]
        }
    }

    private enum Sound: Equatable {
        case notStarted
        case sounding
        /// Nothing is heard since this position.
        case stopped(StopReason, position: Double)
        /// Data or the device is missing.
        case stalled(isSeek: Bool, position: Double, since: EventTime)
    }

    /// The largest numbers of actions, stalls and adaptations that an event of 20 KiB has room for. Later ones are not
    /// recorded.
    static let actionLimit = 150
    static let stallLimit = 80
    static let adaptationLimit = 50

    private var sound = Sound.notStarted
    /// The first frame that was heard; nil before it.
    private(set) var first: First?
    /// The position that was heard last.
    private(set) var lastPosition: Double?
    private(set) var actions: [Action] = []
    private(set) var stalls: [Stall] = []
    private(set) var adaptations: [Adaptation] = []

    var hasStarted: Bool { first != nil }
    var isStalled: Bool { if case .stalled = sound { true } else { false } }

    mutating func start(at position: Double, _ time: EventTime) {
        switch sound {
        case .notStarted: first = First(position: position, time: time)
        case .sounding: return
        case .stopped: append(isStart: true, position, time)
        case .stalled:
            endStall(time)
            append(isStart: true, position, time)
        }
        sound = .sounding
        lastPosition = position
    }

    mutating func stop(at position: Double, _ reason: StopReason, _ time: EventTime) {
        switch (sound, reason) {
        // Before the first frame every wait belongs to the start.
        case (.notStarted, _): return
        case (.sounding, .stall):
            append(isStart: false, position, time)
            sound = .stalled(isSeek: false, position: position, since: time)
            lastPosition = position
        case (.sounding, _):
            append(isStart: false, position, time)
            sound = .stopped(reason, position: position)
            lastPosition = position
        case (.stopped(let former, let from), .stall):
            sound = .stalled(isSeek: former == .seek, position: from, since: time)
        case (.stopped(.pause, let from), .seek):
            sound = .stopped(.seek, position: from)
        case (.stopped, _): return
        case (.stalled(_, let from, _), .pause):
            endStall(time)
            sound = .stopped(.pause, position: from)
        case (.stalled, _): return
        }
    }

    mutating func change(to representation: SessionRepresentation, at position: Double, _ time: EventTime) {
        guard adaptations.count < Self.adaptationLimit else { return }
        adaptations.append(Adaptation(position: position, time: time, representation: representation))
    }

    mutating func reach(_ position: Double) {
        if sound == .sounding { lastPosition = position }
    }

    /// Ends the last stretch. A seek to the end is heard as a start there.
    /// - Parameter position: the position after the last frame; nil keeps the one that is known.
    mutating func end(at position: Double?, isComplete: Bool, _ time: EventTime) {
        if isStalled { endStall(time) }
        guard hasStarted else { return }
        switch sound {
        case .sounding: if let position { lastPosition = position }
        case .stopped(.seek, _), .stalled(isSeek: true, _, _):
            guard isComplete, let position else { return }
            append(isStart: true, position, time)
            lastPosition = position
        case .stopped, .stalled, .notStarted: break
        }
    }

    /// Corrects all times by the same error.
    mutating func correct(_ error: Int64) {
        first?.time.correct(error)
        for index in actions.indices { actions[index].time.correct(error) }
        for index in stalls.indices {
            stalls[index].began.correct(error)
            stalls[index].ended.correct(error)
        }
        for index in adaptations.indices { adaptations[index].time.correct(error) }
        if case .stalled(let isSeek, let position, var since) = sound {
            since.correct(error)
            sound = .stalled(isSeek: isSeek, position: position, since: since)
        }
    }

    private mutating func endStall(_ time: EventTime) {
        guard case .stalled(let isSeek, let position, let began) = sound, stalls.count < Self.stallLimit else { return }
        stalls.append(Stall(isSeek: isSeek, position: position, began: began, ended: time))
    }

    private mutating func append(isStart: Bool, _ position: Double, _ time: EventTime) {
        guard actions.count < Self.actionLimit else { return }
        actions.append(Action(isStart: isStart, position: position, time: time))
    }
}
