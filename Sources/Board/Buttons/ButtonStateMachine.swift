/// A gesture of the user with a button.
public enum ButtonGesture: Equatable, Sendable {
    case press
    case longPress
    case doublePress
    /// The button is still held, and repeats.
    case repetition
    /// The button was held for longer than a person would hold it, or from the start. It is ignored until `freed`.
    case stuck
    /// The button makes more presses than a person can: a broken contact. It is ignored until `freed`.
    case chattering
    case freed
}

/// Turns the edges of one contact into gestures. Times are nanoseconds of one clock, which the kernel's time stamps use
/// too (docs/decisions/debouncing.md).
///
/// The first edge of a press counts at once. Later bounces are ignored until the contact was quiet for the debounce
/// time. A press therefore has no delay, with two exceptions. A button with a long press reports a press at its
/// release. A button with a double press reports it when the time for a second press has passed.
public struct ButtonStateMachine: Sendable {
    /// The gestures to distinguish.
    public struct Gestures: OptionSet, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        public static let longPress = Gestures(rawValue: 1)
        public static let doublePress = Gestures(rawValue: 2)
        /// Ignored with a long press.
        public static let repetition = Gestures(rawValue: 4)
    }

    private enum State {
        case released
        /// Pressed; no gesture was reported yet.
        case pressed(at: Int64)
        /// The gesture was reported; `repeatAt` is set when it repeats.
        case held(since: Int64, repeatAt: Int64?)
        /// A press that may become a double press.
        case awaitingSecond(until: Int64)
        case stuck
        /// Each edge moves the end.
        case chattering(until: Int64)
    }

    /// `ButtonTiming` in nanoseconds.
    private struct Times {
        let debounce: Int64
        let longPress: Int64
        let doublePress: Int64
        let repeatDelay: Int64
        let repeatInterval: Int64
        let stuck: Int64

        init(_ timing: ButtonTiming) {
            func nanoseconds(_ milliseconds: Int) -> Int64 { Int64(milliseconds) * 1_000_000 }
            debounce = nanoseconds(timing.debounce)
            longPress = nanoseconds(timing.longPress)
            doublePress = nanoseconds(timing.doublePress)
            repeatDelay = nanoseconds(timing.repeatDelay)
            repeatInterval = nanoseconds(timing.repeatInterval)
            stuck = nanoseconds(timing.stuck)
        }
    }

    /// A person presses 8 times a second, for a short time. A broken contact presses as often as `debounce` allows.
    static let pressLimit = 20
    /// The limit counts presses within this time. A contact that was quiet for this long works again.
    static let chatterTime: Int64 = 2_000_000_000

    private let gestures: Gestures
    private let times: Times
    private var state = State.released
    /// The contact after the last edge, and the debounced contact.
    private var raw = false
    private var settled = false
    /// The end of the debounce time; nil when the contact is quiet.
    private var quietAt: Int64?
    /// The times of the latest presses, within `chatterTime`.
    private var presses: [Int64] = []

    public init(_ gestures: Gestures, timing: ButtonTiming) {
        self.gestures = gestures
        times = Times(timing)
    }

    /// When to call `advance`; nil when no time is awaited.
    public var deadline: Int64? {
        switch (quietAt, timeout) {
        case (let quiet?, let timeout?): min(quiet, timeout)
        case (let either?, nil), (nil, let either?): either
        case (nil, nil): nil
        }
    }

    /// Sets the state of the contact when watching begins.
    /// - Returns: `.stuck` when it is pressed already.
    public mutating func begin(active: Bool) -> [ButtonGesture] {
        raw = active
        settled = active
        quietAt = nil
        presses = []
        state = active ? .stuck : .released
        return active ? [.stuck] : []
    }

    /// Handles an edge of the contact.
    public mutating func edge(active: Bool, at time: Int64) -> [ButtonGesture] {
        let time = Self.bounded(time)
        var recognized = advance(to: time, active: nil)
        raw = active
        let mayCount = quietAt == nil
        quietAt = time + times.debounce
        if case .stuck = state { return recognized }
        if case .chattering = state {
            state = .chattering(until: time + Self.chatterTime)
            return recognized
        }
        if mayCount, raw != settled { settle(at: time, &recognized) }
        return recognized
    }

    /// Handles the passing of time.
    /// - Parameter active: the contact at `time`, if the caller can read it. The kernel drops edges when there are too
    ///   many, so the last edge received may not be the last one that happened.
    public mutating func advance(to time: Int64, active: Bool?) -> [ButtonGesture] {
        let time = Self.bounded(time)
        var recognized: [ButtonGesture] = []
        while let due = deadline, due <= time {
            if due == quietAt {
                quietAt = nil
                raw = active ?? raw
                if raw != settled { settle(at: due, &recognized) }
            } else {
                expire(at: due, now: time, &recognized)
            }
        }
        return recognized
    }

    /// Limits `time` to a range in which adding a duration cannot overflow: 0 to 73 years after the start of the
    /// system. Times come from the kernel.
    private static func bounded(_ time: Int64) -> Int64 { max(0, min(time, .max / 4)) }

    private mutating func settle(at time: Int64, _ recognized: inout [ButtonGesture]) {
        settled = raw
        if settled { press(at: time, &recognized) } else { release(at: time, &recognized) }
    }

    private mutating func press(at time: Int64, _ recognized: inout [ButtonGesture]) {
        if case .chattering = state { return }
        presses.removeAll { time - $0 >= Self.chatterTime }
        presses.append(time)
        if presses.count > Self.pressLimit {
            presses = []
            recognized.append(.chattering)
            state = .chattering(until: time + Self.chatterTime)
            return
        }
        if case .awaitingSecond = state {
            recognized.append(.doublePress)
            state = .held(since: time, repeatAt: nil)
        } else if gestures.isDisjoint(with: [.longPress, .doublePress]) {
            recognized.append(.press)
            state = .held(since: time, repeatAt: gestures.contains(.repetition) ? time + times.repeatDelay : nil)
        } else {
            state = .pressed(at: time)
        }
    }

    private mutating func release(at time: Int64, _ recognized: inout [ButtonGesture]) {
        switch state {
        case .pressed where gestures.contains(.doublePress):
            state = .awaitingSecond(until: time + times.doublePress)
        case .pressed:
            recognized.append(.press)
            state = .released
        case .stuck:
            recognized.append(.freed)
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
        case .pressed(let time): time + (gestures.contains(.longPress) ? times.longPress : times.stuck)
        case .held(let since, let repeatAt): min(repeatAt ?? .max, since + times.stuck)
        case .awaitingSecond(let end), .chattering(let end): end
        }
    }

    private mutating func expire(at time: Int64, now: Int64, _ recognized: inout [ButtonGesture]) {
        switch state {
        case .pressed(let since) where gestures.contains(.longPress):
            recognized.append(.longPress)
            state = .held(since: since, repeatAt: nil)
        case .held(let since, let repeatAt?) where repeatAt == time && repeatAt < since + times.stuck:
            recognized.append(.repetition)
            // A late call does not catch up on missed repetitions: the volume would jump.
            state = .held(since: since, repeatAt: max(repeatAt, now) + times.repeatInterval)
        case .awaitingSecond:
            recognized.append(.press)
            state = .released
        case .pressed, .held:
            recognized.append(.stuck)
            state = .stuck
        case .chattering:
            recognized.append(settled ? .stuck : .freed)
            state = settled ? .stuck : .released
        case .released, .stuck:
            break
        }
    }
}
