/// What a person did with a button.
public enum ButtonGesture: Equatable, Sendable {
    case press
    case longPress
    case doublePress
    /// It is still held, and repeats.
    case repetition
    /// It is held for longer than a person holds it, or was held from the start. It is ignored until `freed`.
    case stuck
    /// It makes more presses than a person can: a broken contact. It is ignored until `freed`.
    case chattering
    case freed
}

/// One contact's edges in, gestures out. Times are nanoseconds of one clock, the kernel's timestamps among them.
///
/// The first edge of a press counts at once and the bouncing that follows is ignored until the contact was quiet for
/// the debounce time: nothing is delayed that is only a press. A button that also has a long press tells the press at
/// its release, one that has a double press when it is too late for a second one.
public struct ButtonStateMachine: Sendable {
    /// The gestures to tell apart.
    public struct Gestures: OptionSet, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        public static let longPress = Gestures(rawValue: 1)
        public static let doublePress = Gestures(rawValue: 2)
        /// Ignored where there is a long press.
        public static let repetition = Gestures(rawValue: 4)
    }

    private enum State {
        case released
        /// No gesture yet.
        case pressed(at: Int64)
        /// Its gesture is out; `repeatAt` when it repeats.
        case held(since: Int64, repeatAt: Int64?)
        /// A press that may become a double press.
        case awaitingSecond(until: Int64)
        case stuck
        /// Each edge moves the end.
        case chattering(until: Int64)
    }

    /// A person presses 8 times a second for a short while. A contact that fails presses as often as `debounce` lets
    /// it.
    static let pressLimit = 20
    /// The limit holds for presses within this time; a contact that was quiet for as long works again.
    static let chatterTime: Int64 = 2_000_000_000

    private let gestures: Gestures
    private let debounce: Int64
    private let longPress: Int64
    private let doublePress: Int64
    private let repeatDelay: Int64
    private let repeatInterval: Int64
    private let stuck: Int64

    private var state = State.released
    /// The contact as the last edge left it, and as it counts.
    private var raw = false
    private var settled = false
    /// While it may still bounce.
    private var quietAt: Int64?
    /// When the latest presses were, within `chatterTime`.
    private var presses: [Int64] = []

    public init(_ gestures: Gestures, timing: ButtonTiming) {
        func nanoseconds(_ milliseconds: Int) -> Int64 { Int64(milliseconds) * 1_000_000 }
        self.gestures = gestures
        debounce = nanoseconds(timing.debounce)
        longPress = nanoseconds(timing.longPress)
        doublePress = nanoseconds(timing.doublePress)
        repeatDelay = nanoseconds(timing.repeatDelay)
        repeatInterval = nanoseconds(timing.repeatInterval)
        stuck = nanoseconds(timing.stuck)
    }

    /// When `advance` has something to do; nil while there is nothing to wait for.
    public var deadline: Int64? {
        switch (quietAt, timeout) {
        case (let quiet?, let timeout?): min(quiet, timeout)
        case (let either?, nil), (nil, let either?): either
        case (nil, nil): nil
        }
    }

    /// The contact when watching begins.
    /// - Returns: `.stuck` when it is pressed already.
    public mutating func begin(active: Bool) -> [ButtonGesture] {
        raw = active
        settled = active
        quietAt = nil
        presses = []
        state = active ? .stuck : .released
        return active ? [.stuck] : []
    }

    /// The contact changed, or said so.
    public mutating func edge(active: Bool, at time: Int64) -> [ButtonGesture] {
        let time = Self.bounded(time)
        var told = advance(to: time, active: nil)
        raw = active
        let mayCount = quietAt == nil
        quietAt = time + debounce
        if case .stuck = state { return told }
        if case .chattering = state {
            state = .chattering(until: time + Self.chatterTime)
            return told
        }
        if mayCount, raw != settled { settle(at: time, &told) }
        return told
    }

    /// Time passed.
    /// - Parameter active: what the contact is at `time`, where the caller can look. The kernel drops edges when there
    ///   are too many, and then the last one heard of is not the last one there was.
    public mutating func advance(to time: Int64, active: Bool?) -> [ButtonGesture] {
        let time = Self.bounded(time)
        var told: [ButtonGesture] = []
        while let due = deadline, due <= time {
            if due == quietAt {
                quietAt = nil
                raw = active ?? raw
                if raw != settled { settle(at: due, &told) }
            } else {
                expire(at: due, now: time, &told)
            }
        }
        return told
    }

    /// `time` in a range in which no sum with a duration overflows: 0 to 73 years after the start of the system. Times
    /// come from the kernel.
    private static func bounded(_ time: Int64) -> Int64 { max(0, min(time, .max / 4)) }

    private mutating func settle(at time: Int64, _ told: inout [ButtonGesture]) {
        settled = raw
        if settled { press(at: time, &told) } else { release(at: time, &told) }
    }

    private mutating func press(at time: Int64, _ told: inout [ButtonGesture]) {
        if case .chattering = state { return }
        presses.removeAll { time - $0 >= Self.chatterTime }
        presses.append(time)
        if presses.count > Self.pressLimit {
            presses = []
            told.append(.chattering)
            state = .chattering(until: time + Self.chatterTime)
            return
        }
        if case .awaitingSecond = state {
            told.append(.doublePress)
            state = .held(since: time, repeatAt: nil)
        } else if gestures.isDisjoint(with: [.longPress, .doublePress]) {
            told.append(.press)
            state = .held(since: time, repeatAt: gestures.contains(.repetition) ? time + repeatDelay : nil)
        } else {
            state = .pressed(at: time)
        }
    }

    private mutating func release(at time: Int64, _ told: inout [ButtonGesture]) {
        switch state {
        case .pressed where gestures.contains(.doublePress):
            state = .awaitingSecond(until: time + doublePress)
        case .pressed:
            told.append(.press)
            state = .released
        case .stuck:
            told.append(.freed)
            state = .released
        case .chattering:
            break
        case .released, .held, .awaitingSecond:
            state = .released
        }
    }

    /// When the state ends by itself.
    private var timeout: Int64? {
        switch state {
        case .released, .stuck: nil
        case .pressed(let time): time + (gestures.contains(.longPress) ? longPress : stuck)
        case .held(let since, let repeatAt): min(repeatAt ?? .max, since + stuck)
        case .awaitingSecond(let end), .chattering(let end): end
        }
    }

    private mutating func expire(at time: Int64, now: Int64, _ told: inout [ButtonGesture]) {
        switch state {
        case .pressed(let since) where gestures.contains(.longPress):
            told.append(.longPress)
            state = .held(since: since, repeatAt: nil)
        case .held(let since, let repeatAt?) where repeatAt == time && repeatAt < since + stuck:
            told.append(.repetition)
            // A late call does not make up for what was missed: the volume would jump.
            state = .held(since: since, repeatAt: max(repeatAt, now) + repeatInterval)
        case .awaitingSecond:
            told.append(.press)
            state = .released
        case .pressed, .held:
            told.append(.stuck)
            state = .stuck
        case .chattering:
            told.append(settled ? .stuck : .freed)
            state = settled ? .stuck : .released
        case .released, .stuck:
            break
        }
    }
}
