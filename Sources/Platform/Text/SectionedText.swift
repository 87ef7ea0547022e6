/// A configuration text: sections, and in each of them lines of `key = value`.
///
/// ```
/// # A comment: a line that begins with #, or the text after a blank and #.
/// [button play]
/// line = 17
/// ```
///
/// `[button play]` is a section of the kind `button` with the name `play`. Blanks around keys and values are ignored.
/// All lines that cannot be read are in `problems`, and the other lines are available.
public struct SectionedText: Sendable {
    public struct Entry: Equatable, Sendable {
        public var key: String
        /// Never empty.
        public var value: String
        /// The number of the line, from 1.
        public var line: Int
    }

    public struct Section: Equatable, Sendable {
        /// The first word between the brackets.
        public var kind: String
        /// The rest of the text between the brackets; nil for a section that has only a kind.
        public var name: String?
        /// The number of the line, from 1.
        public var line: Int
        public var entries: [Entry]

        /// The section as its file writes it, without the brackets.
        public var title: String { if let name { "\(kind) \(name)" } else { kind } }
    }

    /// A problem with a line, for the author of the file.
    public struct Problem: Error, Equatable, Sendable {
        /// The number of the line, from 1; 0 when something is missing from the whole text.
        public var line: Int
        public var message: String

        public init(line: Int, message: String) {
            self.line = line
            self.message = message
        }
    }

    /// The sections in the order of the text.
    public private(set) var sections: [Section] = []
    /// The problems in the order of the text.
    public private(set) var problems: [Problem] = []

    /// Reads UTF-8 text; lines end with LF or CR LF.
    public init(parsing text: [UInt8]) {
        var number = 0
        // The current section. It is also set for a rejected section, so that its keys do not belong to the section
        // before it.
        var section: Section?
        for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            let content = Self.withoutComment(line)
            guard let first = content.first else { continue }
            guard let checked = Self.text(content) else {
                problems.append(Problem(line: number, message: "this line is not UTF-8 text"))
                continue
            }
            if first == UInt8(ascii: "[") {
                close(section)
                section = openSection(content, number)
            } else if section == nil {
                problems.append(Problem(line: number, message: "`\(checked)` stands before the first section"))
            } else {
                addEntry(content, checked, number, &section!)
            }
        }
        close(section)
    }

    /// Adds a section, unless it was rejected: rejected sections have no kind.
    private mutating func close(_ section: Section?) {
        if let section, !section.kind.utf8.isEmpty { sections.append(section) }
    }

    private mutating func openSection(_ content: ArraySlice<UInt8>, _ line: Int) -> Section {
        var section = Section(kind: "", name: nil, line: line, entries: [])
        let title = Self.trimmed(content.dropFirst().dropLast())
        let kind = title.prefix { !Self.isBlank($0) }
        let name = Self.trimmed(title.dropFirst(kind.count))
        guard content.last == UInt8(ascii: "]"), !kind.isEmpty else {
            problems.append(Problem(line: line, message: "a section is written `[kind]` or `[kind name]`"))
            return section
        }
        section.kind = String(decoding: kind, as: UTF8.self)
        if !name.isEmpty { section.name = String(decoding: name, as: UTF8.self) }
        if let former = sections.first(where: { $0.title.hasSameBytes(as: section.title) }) {
            let message = "[\(section.title)] was there before, at line \(former.line)"
            problems.append(Problem(line: line, message: message))
            section.kind = ""
        }
        return section
    }

    private mutating func addEntry(
        _ content: ArraySlice<UInt8>, _ text: String, _ line: Int, _ section: inout Section
    ) {
        guard let sign = content.firstIndex(of: UInt8(ascii: "=")) else {
            problems.append(Problem(line: line, message: "`\(text)` is not `key = value`"))
            return
        }
        let key = String(decoding: Self.trimmed(content[..<sign]), as: UTF8.self)
        let value = String(decoding: Self.trimmed(content[(sign + 1)...]), as: UTF8.self)
        if key.utf8.isEmpty {
            problems.append(Problem(line: line, message: "there is no key before `=`"))
        } else if value.utf8.isEmpty {
            problems.append(Problem(line: line, message: "`\(key)` has no value"))
        } else if let former = section.entries.first(where: { $0.key.hasSameBytes(as: key) }) {
            problems.append(Problem(line: line, message: "`\(key)` was given before, at line \(former.line)"))
        } else {
            section.entries.append(Entry(key: key, value: value, line: line))
        }
    }

    // MARK: Characters

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let rest = bytes.drop(while: isBlank)
        guard let last = rest.lastIndex(where: { !isBlank($0) }) else { return [] }
        return rest[...last]
    }

    /// Returns the line up to a `#` at its beginning or after a blank, trimmed. Elsewhere `#` is an ordinary character,
    /// because file names contain it.
    private static func withoutComment(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let comment = line.indices.first {
            line[$0] == UInt8(ascii: "#") && ($0 == line.startIndex || isBlank(line[$0 - 1]))
        }
        return trimmed(line[..<(comment ?? line.endIndex)])
    }

    /// Returns nil when the bytes are not UTF-8 or contain control characters.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        guard !bytes.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension String {
    /// Equality byte by byte, for names in configuration. `==` uses Unicode's equivalences and their tables, which
    /// Embedded Swift would have to link.
    public func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
