/// Reads the values of one section of a `SectionedText`, strictly: a value that is unknown, out of range or has the
/// wrong unit becomes a problem that names the allowed ones. All values are checked, so that the author of the file
/// sees all problems at once.
///
/// Read every key once, then call `finish`.
public struct SectionReader {
    public let section: SectionedText.Section
    /// The problems so far, in the order in which the keys were read.
    public private(set) var problems: [SectionedText.Problem] = []
    /// The keys that were read, which are those that the section may have.
    private var asked: [String] = []

    public init(_ section: SectionedText.Section) { self.section = section }

    /// Adds a problem with the section as a whole.
    public mutating func refuse(_ message: String) {
        problems.append(SectionedText.Problem(line: section.line, message: "[\(section.title)] \(message)"))
    }

    /// Adds a problem with the value of `key`.
    public mutating func refuse(_ key: String, _ message: String) {
        let line = section.entries.first { $0.key.hasSameBytes(as: key) }?.line ?? section.line
        problems.append(SectionedText.Problem(line: line, message: "`\(key)` \(message)"))
    }

    /// Returns the text of the value; nil when the section does not have the key.
    public mutating func text(_ key: String) -> String? {
        if !asked.contains(where: { $0.hasSameBytes(as: key) }) { asked.append(key) }
        return section.entries.first { $0.key.hasSameBytes(as: key) }?.value
    }

    /// Returns the text of the value; adds a problem when it is missing.
    public mutating func requiredText(_ key: String) -> String? {
        let value = text(key)
        if value == nil { refuse("needs `\(key)`") }
        return value
    }

    /// Returns the values between the commas; empty when the section does not have the key.
    public mutating func list(_ key: String) -> [String] {
        guard let value = text(key) else { return [] }
        let parts = value.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        let items = parts.map { Self.trimmed($0) }
        if items.contains(where: { $0.utf8.isEmpty }) {
            refuse(key, "has nothing between two commas, or after the last")
        }
        return items
    }

    /// Returns one of the names of an enumeration.
    public mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, of type: Choice.Type = Choice.self
    ) -> Choice? where Choice.RawValue == String {
        guard let value = text(key) else { return nil }
        if let choice = Choice.allCases.first(where: { $0.rawValue.hasSameBytes(as: value) }) { return choice }
        let allowed = Choice.allCases.map { $0.rawValue }.joined(separator: ", ")
        refuse(key, "cannot be `\(value)`. Allowed: \(allowed).")
        return nil
    }

    /// Returns a whole number without a unit.
    public mutating func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
        guard let value = text(key) else { return nil }
        if let number = Int(value), range.contains(number) { return number }
        refuse(key, "cannot be `\(value)`. Allowed: \(range.lowerBound) to \(range.upperBound).")
        return nil
    }

    /// Returns a time in milliseconds from a whole number with a unit: `20 ms` or `3 s`.
    public mutating func milliseconds(_ key: String, in range: ClosedRange<Int>) -> Int? {
        guard let value = text(key) else { return nil }
        if let time = Self.milliseconds(value), range.contains(time) { return time }
        let allowed = "\(range.lowerBound) ms to \(range.upperBound) ms, as a whole number with the unit ms or s"
        refuse(key, "cannot be `\(value)`. Allowed: \(allowed).")
        return nil
    }

    /// Returns a level in hundredths of a decibel from a number with its unit: `-51.5 dB`.
    public mutating func hundredthsOfDecibels(_ key: String, in range: ClosedRange<Int>) -> Int? {
        guard let value = text(key) else { return nil }
        if let number = Self.number(of: value, unit: "dB"), let level = Double(decimal: number) {
            let hundredths = Int((min(max(level, -10_000), 10_000) * 100).rounded())
            if range.contains(hundredths) { return hundredths }
        }
        refuse(key, "cannot be `\(value)`. Allowed: \(range.lowerBound / 100) dB to \(range.upperBound / 100) dB.")
        return nil
    }

    /// Reports the keys that were not read.
    public mutating func finish() {
        for entry in section.entries where !asked.contains(where: { $0.hasSameBytes(as: entry.key) }) {
            let allowed = asked.joined(separator: ", ")
            let message = "[\(section.title)] has no `\(entry.key)`. Allowed: \(allowed)."
            problems.append(SectionedText.Problem(line: entry.line, message: message))
        }
    }

    // MARK: Units

    private static func milliseconds(_ value: String) -> Int? {
        if let number = number(of: value, unit: "ms") { return Int(number) }
        guard let number = number(of: value, unit: "s"), let seconds = Int(number) else { return nil }
        let (time, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return overflow ? nil : time
    }

    /// Returns the trimmed text before the unit; nil when `value` has another unit.
    private static func number(of value: String, unit: String) -> String? {
        let bytes = value.utf8
        guard bytes.count > unit.utf8.count, bytes.suffix(unit.utf8.count).elementsEqual(unit.utf8) else { return nil }
        return trimmed(bytes.dropLast(unit.utf8.count))
    }

    /// Returns the text without blanks around it.
    public static func trimmed(_ bytes: Substring.UTF8View) -> String {
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        let rest = bytes.drop(while: isBlank)
        guard let last = rest.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(Substring(rest[...last]))
    }
}
