import Platform

/// A DAC, an amplifier or a digital output on the header of a Raspberry Pi: a row of `board/dacs`.
public struct HeaderDAC: Equatable, Sendable {
    /// The parts that make it sound.
    public struct Sound: Equatable, Sendable {
        /// The device tree overlay of the images that makes its card.
        public var overlay: String
        public var sound: BoardSound
        /// The line that mutes its amplifier; its chip is the profile's.
        public var amplifier: BoardAmplifier?
        /// Lines that have a constant level as long as the daemon runs: resets and enables.
        public var held: [HeldLine]
    }

    public enum Support: Equatable, Sendable {
        case supported(Sound)
        /// The reason, with the way out.
        case unsupported(String)
    }

    /// The name, as in Raspberry Pi OS.
    public var name: String
    /// The names of the products, for people.
    public var title: String
    /// Other names that are accepted.
    public var otherNames: [String]
    /// The product names that its EEPROM may have.
    public var products: [String]
    /// The UUIDs that its EEPROM may have.
    public var identifiers: [String]
    /// The readings of I2C that tell it: one of the alternatives, all readings of it.
    public var readings: [[RegisterReading]]
    /// Lines that it uses by itself, so that nothing else may take them.
    public var ownLines: [String]
    /// Its limits, in a sentence for people.
    public var note: String?
    public var support: Support

    /// Whether a person or a profile may call it `name`.
    func isCalled(_ name: String) -> Bool {
        name.hasSameBytes(as: self.name) || otherNames.contains { $0.hasSameBytes(as: name) }
    }
}

/// An output line that keeps one level.
public struct HeldLine: Equatable, Sendable {
    public var line: LineReference
    public var level: ActiveLevel

    /// The name for messages.
    var subject: String { "output \(line.text)" }
}

/// A register of a chip on the I2C bus, and what it must or must not read.
///
/// A reading is written `4d/28=02`: address, register and value as hexadecimal numbers. Without `=` any answer will do.
/// After `!` the reading must not be so.
public struct RegisterReading: Equatable, Sendable {
    public var address: UInt8
    public var register: UInt8
    /// nil: any.
    public var value: UInt8?
    public var isExcluded = false

    /// - Returns: nil for a text that is no reading.
    init?(_ text: String) {
        var rest = text.utf8[...]
        if rest.first == UInt8(ascii: "!") {
            isExcluded = true
            rest = rest.dropFirst()
        }
        guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        let equals = rest.firstIndex(of: UInt8(ascii: "="))
        let end = equals ?? rest.endIndex
        guard slash < end, let address = Self.byte(rest[..<slash]), address < 0x80,
            let register = Self.byte(rest[rest.index(after: slash)..<end])
        else { return nil }
        self.address = address
        self.register = register
        guard let equals else { return }
        guard let value = Self.byte(rest[rest.index(after: equals)...]) else { return nil }
        self.value = value
    }

    private static func byte(_ digits: Substring.UTF8View) -> UInt8? {
        digits.count == 2 ? UInt8(String(Substring(digits)), radix: 16) : nil
    }

    /// Whether it holds.
    /// - Parameter answer: what the register has; nil without an answer.
    func holds(_ answer: UInt8?) -> Bool {
        let isSo = answer.map { value == nil || value == $0 } ?? false
        return isSo != isExcluded
    }
}
