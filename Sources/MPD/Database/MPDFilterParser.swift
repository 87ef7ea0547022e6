import Appliance

extension MPDFilter {
    /// Parses the arguments of a command: `TYPE VALUE` pairs and expressions, all of which must hold.
    /// - Parameter isSearch: whether case is ignored, and pairs test parts of texts.
    init(parsing arguments: [String], isSearch: Bool) throws(MPDFailure) {
        var filters: [MPDFilter] = []
        var rest = arguments[...]
        repeat {
            guard let first = rest.popFirst() else { throw MPDFilterParser.mistake(MPDFilterParser.wrongCount) }
            if first.utf8.first == UInt8(ascii: "(") {
                var parser = MPDFilterParser(first, ignoresCase: isSearch)
                filters.append(try parser.expression(depth: 0))
                if !parser.isAtEnd { throw MPDFilterParser.mistake("Unparsed garbage after expression") }
            } else {
                guard let value = rest.popFirst() else { throw MPDFilterParser.mistake(MPDFilterParser.wrongCount) }
                filters.append(try MPDFilterParser.pair(first, value, ignoresCase: isSearch))
            }
        } while !rest.isEmpty
        self = filters.count == 1 ? filters[0] : .all(filters)
    }
}

/// Parses one expression: `((Artist == 'Nico') AND (!(Genre contains "pop")))`.
struct MPDFilterParser {
    fileprivate static let wrongCount = "Incorrect number of filter arguments"
    private static let longest = 4096
    /// The maximum depth of nested expressions.
    private static let deepest = 32

    private var rest: ArraySlice<UInt8>
    private let ignoresCase: Bool

    init(_ text: String, ignoresCase: Bool) {
        rest = Array(text.utf8)[...]
        self.ignoresCase = ignoresCase
    }

    var isAtEnd: Bool { rest.isEmpty }

    fileprivate static func mistake(_ text: String) -> MPDFailure { MPDFailure(.argument, text) }

    // MARK: Pairs

    fileprivate static func pair(_ type: String, _ value: String, ignoresCase: Bool) throws(MPDFailure) -> MPDFilter {
        guard let subject = Subject(named: type) else { throw mistake("Unknown filter type") }
        // The pairs of MPD before 0.21 have no operators.
        let test = MPDTextTest(ignoresCase ? .contains : .equals, Array(value.utf8), ignoresCase: ignoresCase)
        switch subject {
        case .file: return .file(test)
        case .any: return .tag(nil, test)
        case .tag(let tag): return .tag(tag, test)
        case .base:
            guard MusicURIs.isSafe(value) else { throw mistake("Bad URI") }
            return .base(Array(value.utf8))
        case .modifiedSince: return .modifiedSince(try MPDTimeStamp.seconds(value))
        case .format: return .format(try MPDAudioFormat(parsing: value, allowsAny: false))
        case .priority: throw mistake("Unknown filter type")
        }
    }

    // MARK: Expressions

    private enum Subject {
        case file, any, base, modifiedSince, format, priority
        case tag(MPDTag)

        init?(named name: String) {
            if MPDWord.isEqual(name, "file") || MPDWord.isEqual(name, "filename") {
                self = .file
            } else if MPDWord.isEqual(name, "any") {
                self = .any
            } else if MPDWord.isSame(name, "base") {
                self = .base
            } else if MPDWord.isSame(name, "modified-since") {
                self = .modifiedSince
            } else if MPDWord.isEqual(name, "AudioFormat") {
                self = .format
            } else if MPDWord.isSame(name, "prio") {
                self = .priority
            } else if let tag = MPDTag(named: name) {
                self = .tag(tag)
            } else {
                return nil
            }
        }
    }

    /// Takes an expression with its parentheses.
    mutating func expression(depth: Int) throws(MPDFailure) -> MPDFilter {
        if depth > Self.deepest { throw Self.mistake("Too many nested expressions") }
        guard take("(") else { throw Self.mistake("'(' expected") }
        skipBlanks()
        if rest.first == UInt8(ascii: "(") {
            var filters = [try expression(depth: depth + 1)]
            while !take(")") {
                guard try word().utf8.elementsEqual("AND".utf8) else { throw Self.mistake("'AND' expected") }
                filters.append(try expression(depth: depth + 1))
            }
            skipBlanks()
            return filters.count == 1 ? filters[0] : .all(filters)
        }
        let filter: MPDFilter
        if take("!") {
            skipBlanks()
            filter = .not(try expression(depth: depth + 1))
        } else {
            let name = try word()
            guard let subject = Subject(named: name) else { throw Self.mistake("Unknown filter type: \(name)") }
            filter = try condition(subject)
        }
        guard take(")") else { throw Self.mistake("')' expected") }
        skipBlanks()
        return filter
    }

    private mutating func condition(_ subject: Subject) throws(MPDFailure) -> MPDFilter {
        switch subject {
        case .modifiedSince:
            let value = try quoted()
            // As in MPD, a missing `)` is reported before other mistakes.
            guard rest.first == UInt8(ascii: ")") else { throw Self.mistake("')' expected") }
            return .modifiedSince(try MPDTimeStamp.seconds(String(decoding: value, as: UTF8.self)))
        case .base: return .base(try quoted())
        case .format:
            let isPattern = rest.starts(with: "=~".utf8)
            guard isPattern || rest.starts(with: "==".utf8) else { throw Self.mistake("'==' or '=~' expected") }
            skip(2)
            let value = String(decoding: try quoted(), as: UTF8.self)
            return .format(try MPDAudioFormat(parsing: value, allowsAny: isPattern))
        case .priority:
            guard rest.starts(with: ">=".utf8) else { throw Self.mistake("'>=' expected") }
            skip(2)
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            guard !digits.isEmpty, digits.count <= 3 else { throw Self.mistake("Number expected") }
            skip(digits.count)
            return .priority(digits.reduce(0) { $0 * 10 + Int($1 - 0x30) })
        case .file: return .file(try test())
        case .any: return .tag(nil, try test())
        case .tag(let tag): return .tag(tag, try test())
        }
    }

    private mutating func test() throws(MPDFailure) -> MPDTextTest {
        for (name, isNegated) in [("contains " as StaticString, false), ("!contains ", true)] {
            if rest.count >= name.utf8CodeUnitCount,
                MPDWord.isEqual(String(decoding: rest.prefix(name.utf8CodeUnitCount), as: UTF8.self), name)
            {
                skip(name.utf8CodeUnitCount)
                return MPDTextTest(.contains, try quoted(), ignoresCase: ignoresCase, isNegated: isNegated)
            }
        }
        let isNegated = rest.first == UInt8(ascii: "!")
        let second = rest.dropFirst().first
        guard isNegated || rest.first == UInt8(ascii: "="),
            second == UInt8(ascii: "~") || second == UInt8(ascii: "=")
        else { throw Self.mistake("'==' or '!=' expected") }
        skip(2)
        let value = try quoted()
        if second == UInt8(ascii: "=") {
            return MPDTextTest(.equals, value, ignoresCase: ignoresCase, isNegated: isNegated)
        }
        let pattern = try MPDPattern(String(decoding: value, as: UTF8.self), ignoresCase: ignoresCase)
        return MPDTextTest(.matches(pattern), value, ignoresCase: ignoresCase, isNegated: isNegated)
    }

    // MARK: Words

    private mutating func take(_ letter: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: letter) else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func skip(_ count: Int) {
        rest.removeFirst(count)
        skipBlanks()
    }

    private mutating func skipBlanks() { rest = rest.drop { $0 <= 0x20 } }

    private mutating func word() throws(MPDFailure) -> String {
        let word = rest.prefix {
            (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_")
                || $0 == UInt8(ascii: "-")
        }
        if word.isEmpty { throw Self.mistake("Word expected") }
        skip(word.count)
        return String(decoding: word, as: UTF8.self)
    }

    private mutating func quoted() throws(MPDFailure) -> [UInt8] {
        guard let quote = rest.first, quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"") else {
            throw Self.mistake("Quoted string expected")
        }
        rest.removeFirst()
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == quote {
                skipBlanks()
                return value
            }
            if byte == UInt8(ascii: "\\") {
                guard let next = rest.popFirst() else { break }
                value.append(next)
            } else {
                value.append(byte)
            }
            if value.count >= Self.longest { throw Self.mistake("Quoted value is too long") }
        }
        throw Self.mistake("Closing quote not found")
    }
}
