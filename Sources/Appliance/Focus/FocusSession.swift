/// How much of the speaker the player may have (seed 004, the states of the HMI). Given by whatever shares it: a
/// doorbell, a voice assistant.
public enum FocusLevel: UInt8, Comparable, CaseIterable, Sendable {
    /// It was sent away.
    case none
    /// Something else plays.
    case background
    /// It plays, and the user looks at something else.
    case limited
    case full

    public static func < (left: FocusLevel, right: FocusLevel) -> Bool { left.rawValue < right.rawValue }
}

/// What the board is doing (seed 004, the states of the phone).
public enum PowerState: CaseIterable, Sendable {
    case active
    /// It is about to sleep.
    case resigning
    case suspended
    /// It wakes up.
    case regaining
}

/// Whether the device is open (seed 004, "Streaming").
public enum StreamingState: CaseIterable, Sendable {
    case stopped
    /// It is being opened.
    case starting
    case ready
}

/// When the sound card is opened and closed (seed 004, "Streaming Media Manager", its audio half). A `hw:` device has
/// one owner: as long as it is open nobody else is heard.
///
/// The focus alone closes it. It is opened where the focus is limited or full and the board is awake: a phone plays on
/// in the background, a board that sleeps does not. A board that wakes up opens it anew, for what it was playing to may
/// have lost its state. That entering the full focus restarts what is ready is for video alone: the audio chart keeps
/// it open.
///
/// Whether anything plays is not asked here: `QueueConductor` goes on when it has the device again if it was playing.
public struct FocusSession: Equatable, Sendable {
    public enum Event: Equatable, Sendable {
        case focus(FocusLevel)
        case power(PowerState)
        /// What `openDevice` began is done.
        case started
    }

    public enum Effect: Equatable, Sendable {
        /// Take the device, go on where it was if it was playing, and report `started`.
        case openDevice
        /// Fall silent, remember where, and free the device.
        case closeDevice
    }

    public private(set) var focus: FocusLevel
    public private(set) var power: PowerState
    public private(set) var streaming = StreamingState.stopped

    /// The device is closed at first: `begin` opens it where it may be.
    public init(focus: FocusLevel = .full, power: PowerState = .active) {
        self.focus = focus
        self.power = power
    }

    /// Seed 004, "Audio Stream Lifecycle Chart".
    public static func canOpen(_ focus: FocusLevel) -> Bool { focus >= .limited }
    /// Seed 004, "Audio Stream Lifecycle Chart".
    public static func shouldClose(_ focus: FocusLevel) -> Bool { focus <= .background }

    private var mayStart: Bool {
        Self.canOpen(focus) && (power == .active || power == .regaining)
    }

    public mutating func begin() -> [Effect] { startIfPossible() }

    public mutating func handle(_ event: Event) -> [Effect] {
        switch event {
        case .focus(let level):
            focus = level
            return Self.shouldClose(level) ? stop() : startIfPossible()
        case .power(let state):
            let before = power
            power = state
            // Who is awake without a word of waking up has slept as well.
            let returns = state == .regaining && before != .regaining || state == .active && before == .suspended
            guard returns, streaming == .ready, Self.canOpen(focus) else { return startIfPossible() }
            return stop() + startIfPossible()
        case .started:
            guard streaming == .starting else { return [] }
            guard mayStart else { return stop() }
            streaming = .ready
            return []
        }
    }

    private mutating func startIfPossible() -> [Effect] {
        guard streaming == .stopped, mayStart else { return [] }
        streaming = .starting
        return [.openDevice]
    }

    private mutating func stop() -> [Effect] {
        guard streaming != .stopped else { return [] }
        streaming = .stopped
        return [.closeDevice]
    }
}
