/// The parts of a board and their wiring: `board/NAME/board.conf`. `board/README.md` explains the file for its authors.
public struct BoardProfile: Equatable, Sendable {
    /// The name for users.
    public var name: String
    /// The chip of lines that name none.
    public var chip: String?
    /// The lines that a part without a section uses: the buses of a DAC.
    public var reservedLines: [LineReference]
    /// The sound card; nil where the profile is a wiring alone.
    public var sound: BoardSound?
    public var amplifier: BoardAmplifier?
    /// Whether the sound card is that of a DAC on the header: other cards may be preferred to it.
    public var isSoundOfDAC = false
    /// The parts whose lines the DAC's own driver may have already, as on Raspberry Pi OS: then it does their work.
    public var partsOfDAC: [String] = []
    /// Lines that keep one level as long as the daemon runs.
    public var heldLines: [HeldLine] = []
    public var buttons: [BoardButton]
    public var encoders: [BoardEncoder]
    public var lights: [BoardLight]
    /// Network interfaces that are cellular although the kernel does not report it.
    public var cellularInterfaces: [String]
    /// Network interfaces that are not metered, although they look like a modem, a phone or a tunnel.
    public var unmeteredInterfaces: [String] = []
    /// Old forms that the file uses, one line each for the log.
    public var notices: [String] = []
}

/// The sound card and its properties. Times are in milliseconds.
public struct BoardSound: Equatable, Sendable {
    /// Any card, of a profile that names none. Many USB DACs swallow the first moments after a start.
    public static let ofAnyCard = BoardSound(cards: [], settleAtStart: 200, settleAtRateChange: 300)

    /// The ids that the ALSA card may have, as in /proc/asound/cards: different kernels give it different ones. Empty
    /// for any card.
    public var cards: [String]
    /// The mixer control that sets the volume; nil leaves the choice to the player.
    public var mixer: String?
    /// The part of the control's range to use, in hundredths of a decibel; nil is all of it.
    public var mixerRange: ClosedRange<Int>?
    /// The mixer's switches that are put on, and its volumes that are set to 0 dB, at each start.
    public var switches: [String] = []
    public var levels: [String] = []
    /// The time of silence before the music after the device was opened, for DACs that cut off the beginning.
    public var settleAtStart: Int
    /// The time of silence when only the sample rate changed.
    public var settleAtRateChange: Int
}

/// The line that mutes an amplifier, or switches it on. Times are in milliseconds.
public struct BoardAmplifier: Equatable, Sendable {
    public enum Role: String, CaseIterable, Sendable {
        /// The active level mutes the amplifier.
        case mute
        /// The active level makes the amplifier audible.
        case enable
    }

    public var line: LineReference
    public var active: ActiveLevel
    public var role: Role
    /// Time from muting to the start of the device.
    public var muteBeforeStart: Int
    /// Time from the start of the device to unmuting.
    public var unmuteAfterStart: Int
    /// Time from muting to the stop of the device.
    public var muteBeforeStop: Int
}

/// A push button. Times are in milliseconds.
public struct BoardButton: Equatable, Sendable {
    public var name: String
    public var line: LineReference
    public var active: ActiveLevel
    public var bias: LineBias
    public var press: ButtonAction?
    public var longPress: ButtonAction?
    public var doublePress: ButtonAction?
    public var timing: ButtonTiming
}

/// A rotary encoder with quadrature outputs. Its push switch is a separate button.
public struct BoardEncoder: Equatable, Sendable {
    public var name: String
    public var lineA: LineReference
    public var lineB: LineReference
    public var active: ActiveLevel
    public var bias: LineBias
    /// The number of edges of one click of the knob: 1, 2 or 4.
    public var stepsPerDetent: Int
    /// The action when A leads B.
    public var clockwise: ButtonAction
    public var counterClockwise: ButtonAction
}

/// A light and its patterns.
public struct BoardLight: Equatable, Sendable {
    public var name: String
    public var line: LineReference
    public var active: ActiveLevel
    /// The patterns by condition; the light ignores conditions without an entry.
    public var patterns: [LightCondition: LightPattern]

    /// The light's section in the profile.
    var subject: String { "light \(name)" }
}
