import Platform

/// The kind of a playback device. `auto` plays on the first kind that can play, in this order
/// (docs/decisions/choice-of-output.md).
public enum OutputKind: Int, CaseIterable, Sendable {
    case usb
    /// A card of the board's own: a DAC on the header (I2S).
    case board
    case other
    case hdmiWithDisplay
    /// The headphone jack of a Raspberry Pi, which is noisy.
    case jack
    case hdmiWithoutDisplay
    /// A loopback, a dummy or the board as a USB device: chosen only if it is named.
    case notForPeople

    /// The facts that tell the kind of a device.
    struct Facts: Equatable {
        /// The name of the card's driver.
        var driver: String
        /// Whether the card is a USB device.
        var isUSB = false
        /// Whether the card is a part of the board: a platform device of the kernel.
        var isOfBoard = false
        /// The name of the playback device.
        var deviceName = ""
        /// Whether a display is connected; nil where the card does not know.
        var hasDisplay: Bool?
    }

    init(_ facts: Facts) {
        func isDriver(_ names: String...) -> Bool { names.contains { $0.utf8.elementsEqual(facts.driver.utf8) } }
        if isDriver("Loopback", "Dummy", "UAC1_Gadget", "UAC2_Gadget") {
            self = .notForPeople
        } else if facts.isUSB {
            self = .usb
        } else if isDriver("vc4-hdmi") || facts.deviceName.utf8.starts(with: "HDMI".utf8) {
            self = facts.hasDisplay ?? false ? .hdmiWithDisplay : .hdmiWithoutDisplay
        } else if isDriver("bcm2835_headphones", "bcm2835_alsa") {
            self = .jack
        } else {
            self = facts.isOfBoard ? .board : .other
        }
    }

    /// Its position in the order of `auto`, from 1; nil if `auto` never chooses it.
    public var rank: Int? { self == .notForPeople ? nil : rawValue + 1 }

    /// The kind and the reason for its position in the order, for users.
    public var text: String {
        switch self {
        case .usb: "USB"
        case .board: "on the board"
        case .other: "another card"
        case .hdmiWithDisplay: "HDMI with a display"
        case .jack: "headphone jack"
        case .hdmiWithoutDisplay: "HDMI without a display"
        case .notForPeople: "not chosen by auto"
        }
    }
}

/// A playback device that `auto` may choose.
struct OutputCandidate: Equatable {
    /// `hw:CARD=…,DEV=…`
    var device: String
    var kind: OutputKind
}
