import Platform

/// A line of a GPIO chip.
public struct LineReference: Equatable, Sendable {
    public enum Line: Equatable, Sendable {
        /// Its number on the chip, from 0.
        case offset(Int)
        /// The kernel's name of the line.
        case name(String)
    }

    /// The word for the chip of the 40-pin header of any Raspberry Pi.
    public static let headerChip = "header"
    /// Its labels: of Raspberry Pi 0 to 3, of 4, of 5.
    private static let headerLabels = ["pinctrl-bcm2835", "pinctrl-bcm2711", "pinctrl-rp1"]

    /// The chip's label (`pinctrl-bcm2711`), its name (`gpiochip0`), or `headerChip`. Names depend on the kernel's
    /// order.
    public var chip: String
    public var line: Line

    public init(chip: String, line: Line) {
        self.chip = chip
        self.line = line
    }

    /// Reads a line as a profile writes it: a number is an offset, any other text a name.
    init(chip: String, text: String) {
        let isNumber = text.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        if isNumber, let offset = Int(text) {
            self.init(chip: chip, line: .offset(offset))
        } else {
            self.init(chip: chip, line: .name(text))
        }
    }

    /// The line as a profile writes it.
    var text: String {
        switch line {
        case .offset(let offset): "\(offset)"
        case .name(let name): name
        }
    }

    /// Whether its chip is the one with `label`.
    func isOnChip(labelled label: String) -> Bool {
        if chip.hasSameBytes(as: Self.headerChip) { return Self.headerLabels.contains { $0.hasSameBytes(as: label) } }
        return chip.hasSameBytes(as: label)
    }

    public static func == (left: LineReference, right: LineReference) -> Bool {
        left.chip.hasSameBytes(as: right.chip) && left.line == right.line
    }
}

extension LineReference: CustomStringConvertible {
    /// `line 17 of pinctrl-bcm2711`
    public var description: String {
        switch line {
        case .offset(let offset): "line \(offset) of \(chip)"
        case .name(let name): "line `\(name)` of \(chip)"
        }
    }
}

/// The voltage that means "pressed", "lit" or "on".
public enum ActiveLevel: String, CaseIterable, Sendable {
    case low, high
}

/// The chip's own resistor at an input.
public enum LineBias: String, CaseIterable, Sendable {
    /// The setting of the kernel or the device tree.
    case asIs = "as-is"
    case none
    case pullUp = "pull-up"
    case pullDown = "pull-down"
}
