/// A mistake in a configuration file, for the user: `tonearm.conf:12: unknown key "bufer" in [audio]; …`.
public struct ConfigurationProblem: Error, Equatable, Sendable, CustomStringConvertible {
    public let file: String
    /// The number of the line, from 1.
    public let line: Int
    public let message: String

    public init(file: String, line: Int, message: String) {
        self.file = file
        self.line = line
        self.message = message
    }

    public var description: String { "\(file):\(line): \(message)" }
}

/// The text of a configuration file: sections, keys and values with their line numbers. The values are not interpreted
/// yet.
///
///     # A comment. Text after a blank and a # or ; is a comment too, also after a value.
///     [section]
///     key = value
///     other = "a value with # or blanks at its end "
///
/// In quotes, \" and \\ stand for a quote and a backslash. The firmware image reads its own sections by the same rules
/// (firmware-image/root/usr/lib/tonearm/configuration.awk).
struct ConfigurationText: Equatable {
    struct Assignment: Equatable {
        let section: String
        let key: String
        let value: String
        let line: Int
        /// Whether the value has no quotes and a comment follows it. The comment may belong to the value.
        let isCut: Bool
    }

    struct Section: Equatable {
        let name: String
        let line: Int
    }

    private(set) var sections: [Section] = []
    private(set) var assignments: [Assignment] = []
    private(set) var problems: [ConfigurationProblem] = []
    private let file: String

    /// - Parameter file: its name, for messages.
    init(_ bytes: [UInt8], file: String) {
        self.file = file
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: mark) ? bytes[3...] : bytes[...]
        for (index, line) in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            read(Self.trimmed(line), index + 1)
        }
    }

    private mutating func read(_ line: ArraySlice<UInt8>, _ number: Int) {
        guard let first = line.first, !Self.isComment(first) else { return }
        if line.contains(where: { $0 < 0x20 && $0 != UInt8(ascii: "\t") || $0 == 0x7F }) {
            return report(number, "control characters are not allowed")
        }
        guard let whole = String(validating: line, as: UTF8.self) else { return report(number, "not valid UTF-8") }
        if first == UInt8(ascii: "[") { return readSection(line, number) }
        guard let sign = line.firstIndex(of: UInt8(ascii: "=")) else {
            return report(number, "\"\(whole)\" is neither a [section] nor key = value")
        }
        let key = Self.trimmed(line[..<sign])
        guard !key.isEmpty else { return report(number, "there is no key before the =") }
        guard let section = sections.last else {
            return report(number, "\"\(Self.text(key))\" comes before the first [section]")
        }
        guard let (value, isCut) = value(Self.trimmed(line[(sign + 1)...]), number) else { return }
        assignments.append(
            Assignment(section: section.name, key: Self.text(key), value: value, line: number, isCut: isCut))
    }

    private mutating func readSection(_ line: ArraySlice<UInt8>, _ number: Int) {
        guard let end = line.firstIndex(of: UInt8(ascii: "]")), Self.isRest(line[(end + 1)...]) else {
            return report(number, "a section is written [name], alone on its line")
        }
        sections.append(Section(name: Self.text(Self.trimmed(line[(line.startIndex + 1)..<end])), line: number))
    }

    /// Returns the value without quotes and comment, and `isCut`; nil when the line is not valid.
    private mutating func value(_ text: ArraySlice<UInt8>, _ number: Int) -> (String, isCut: Bool)? {
        guard text.first == UInt8(ascii: "\"") else {
            var end = text.startIndex
            while end < text.endIndex {
                let isAfterBlank = end == text.startIndex || Self.isBlank(text[end - 1])
                if isAfterBlank, Self.isComment(text[end]) { break }
                end += 1
            }
            return (Self.text(Self.trimmed(text[..<end])), end < text.endIndex)
        }
        var value: [UInt8] = []
        var index = text.startIndex + 1
        while index < text.endIndex {
            switch text[index] {
            case UInt8(ascii: "\""):
                if Self.isRest(text[(index + 1)...]) { return (Self.text(value[...]), false) }
                report(number, "there is something after the closing quote")
                return nil
            case UInt8(ascii: "\\") where index + 1 < text.endIndex && Self.isEscaped(text[index + 1]):
                index += 1
                value.append(text[index])
            default:
                value.append(text[index])
            }
            index += 1
        }
        report(number, "the closing quote is missing")
        return nil
    }

    private mutating func report(_ line: Int, _ message: String) {
        problems.append(ConfigurationProblem(file: file, line: line, message: message))
    }

    // MARK: Bytes

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }

    private static func isComment(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "#") || byte == UInt8(ascii: ";") }

    private static func isEscaped(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") }

    /// Whether only blanks or a comment follow.
    private static func isRest(_ text: ArraySlice<UInt8>) -> Bool {
        guard let first = trimmed(text).first else { return true }
        return isComment(first) && isBlank(text[text.startIndex])
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = text.drop { isBlank($0) }
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
