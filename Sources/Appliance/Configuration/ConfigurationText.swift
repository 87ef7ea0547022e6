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
/// In quotes, \" and \\ stand for a quote and a backslash. Names of sections and keys have no case. A section line
/// whose name has a mistake still begins a section. The firmware image reads its own sections by the same rules:
/// firmware-image/root/usr/lib/tonearm/configuration-text.awk. Tests/Support/configuration-files.txt has files for
/// both.
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
    /// Used lines whose author may have meant something else.
    private(set) var notes: [ConfigurationProblem] = []
    private let file: String

    /// - Parameter file: its name, for messages.
    init(_ bytes: [UInt8], file: String) {
        self.file = file
        if ConfigurationBytes.isUTF16(bytes) {
            let remedy = "Save it again as UTF-8: in Notepad, Save as, Encoding: UTF-8"
            report(1, "the file is UTF-16; nothing of it is used. \(remedy)")
            return
        }
        for (index, line) in ConfigurationBytes.lines(bytes).enumerated() {
            read(ConfigurationBytes.trimmed(line), index + 1)
        }
    }

    private mutating func read(_ line: ArraySlice<UInt8>, _ number: Int) {
        guard let first = line.first, !ConfigurationBytes.isComment(first) else { return }
        if line.contains(where: { $0 < 0x20 && $0 != UInt8(ascii: "\t") || $0 == 0x7F }) {
            return report(number, "control characters are not allowed")
        }
        guard let whole = String(validating: line, as: UTF8.self) else {
            return report(number, "not valid UTF-8. Save the file as UTF-8")
        }
        if first == UInt8(ascii: "[") { return readSection(line, number) }
        guard let sign = line.firstIndex(of: UInt8(ascii: "=")) else {
            return report(number, "\"\(whole)\" is neither a [section] nor key = value")
        }
        let key = ConfigurationBytes.name(line[..<sign])
        guard !key.isEmpty else { return report(number, "there is no key before the =") }
        guard let section = sections.last else {
            return report(number, "\"\(key)\" comes before the first [section]")
        }
        let text = ConfigurationBytes.trimmed(line[(sign + 1)...])
        switch ConfigurationValue(text) {
        case .fault(let message): report(number, message)
        case .value(let value, let form):
            switch form {
            case .curlyQuotes:
                note(number, "the \(key) is used without the quotes around it. Write straight ones: \(key) = \"…\"")
            case .curlyInside:
                note(number, "the \(key) has a curly quote in it, and is used so. Is a straight one meant, or none?")
            case .plain, .cut: break
            }
            assignments.append(
                Assignment(section: section.name, key: key, value: value, line: number, isCut: form == .cut))
        }
    }

    private mutating func readSection(_ line: ArraySlice<UInt8>, _ number: Int) {
        let inside = line.dropFirst()
        let end = inside.firstIndex(of: UInt8(ascii: "]"))
        let name = ConfigurationBytes.name(end.map { inside[..<$0] } ?? ConfigurationBytes.withoutComment(inside))
        let isAlone = end.map { ConfigurationBytes.isRest(line[($0 + 1)...]) } ?? false
        var faults: [String] = []
        if !isAlone {
            faults.append("a section is written [name], alone on its line; this line only begins [\(name)]")
        }
        if let first = sections.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
            let remedy = "Move its lines there, or give it a name of its own"
            faults.append("[\(name)] begins in line \(first.line) already. \(remedy)")
        }
        if !faults.isEmpty { report(number, faults.joined(separator: ". ")) }
        sections.append(Section(name: name, line: number))
    }

    private mutating func report(_ line: Int, _ message: String) {
        problems.append(ConfigurationProblem(file: file, line: line, message: message))
    }

    private mutating func note(_ line: Int, _ message: String) {
        notes.append(ConfigurationProblem(file: file, line: line, message: message))
    }
}
