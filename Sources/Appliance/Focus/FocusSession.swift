/// How much of the speaker the player may use (docs/playback.md, 14). A program that shares the speaker sets it, such
/// as a doorbell or a voice assistant.
public enum FocusLevel: UInt8, Comparable, CaseIterable, Sendable {
    /// The player may not play.
    case none
    /// Another program plays.
    case background
    /// The player may play, while the user does something else.
    case limited
    case full

    public static func < (left: FocusLevel, right: FocusLevel) -> Bool { left.rawValue < right.rawValue }
}

/// The power state of the board (docs/playback.md, 14).
public enum PowerState: CaseIterable, Sendable {
    case active
    /// The board is about to sleep.
    case resigning
    case suspended
    /// The board wakes up.
    case regaining
}

/// Whether the device is open (docs/playback.md, 14).
public enum StreamingState: CaseIterable, Sendable {
    case stopped
    /// The device is being opened.
    case starting
    case ready
}

/// Decides when the sound card is opened and closed (docs/playback.md, 14). A `hw:` device has one user: while the
/// player has it open, no other program can play.
///
/// Only the focus closes it. It is opened when the focus is limited or full and the board is awake. After the board
/// wakes up the device is reopened, because it may have lost its state. A change between limited and full focus leaves
/// it open.
///
/// Playback is not considered: `QueueConductor` resumes after the device is back, if it was playing.
public struct FocusSession: Equatable, Sendable {
    public enum Event: Equatable, Sendable {
        case focus(FocusLevel)
        case power(PowerState)
        /// The device that `openDevice` asked for is open.
        case started
    }

    public enum Effect: Equatable, Sendable {
        /// Take the device, resume if it was playing, and report `started`.
        case openDevice
        /// Stop, remember the position, and free the device.
        case closeDevice
    }

    public private(set) var focus: FocusLevel
    public private(set) var power: PowerState
    public private(set) var streaming = StreamingState.stopped

    /// The device is closed at first: `begin` opens it when that is allowed.
    public init(focus: FocusLevel = .full, power: PowerState = .active) {
        self.focus = focus
        self.power = power
    }

    /// docs/playback.md, 14.1.
    public static func canOpen(_ focus: FocusLevel) -> Bool { focus >= .limited }
    /// docs/playback.md, 14.1.
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
            // `suspended → active` without `regaining` counts as a resume.
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
