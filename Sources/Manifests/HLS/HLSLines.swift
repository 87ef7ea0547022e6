import Media
import Platform

/// The significant lines of a playlist: tags and URIs (RFC 8216, 4.1).
struct HLSLines {
    enum Line {
        /// The name without `#`, and the text after the colon.
        case tag(name: String, value: String)
        case uri(String)
    }

    private var rest: ArraySlice<UInt8>
    /// The number of the last line, from 1.
    private(set) var number = 0
    /// Whether the last line has no line end, as in a text that was cut off.
    private(set) var isOpen = false

    /// - Throws: `.malformed` when the bytes do not begin with `#EXTM3U`.
    init(_ bytes: [UInt8]) throws(ManifestError) {
        rest = bytes[...]
        guard let first = nextText(), first.elementsEqual("#EXTM3U".utf8) else {
            throw .malformed(what: "HLS, line 1: a playlist begins with #EXTM3U")
        }
    }

    /// The next line that is not empty and not a comment; nil at the end.
    mutating func next() throws(ManifestError) -> Line? {
        while let text = nextText() {
            guard let first = text.first else { continue }
            guard text.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw malformed("a control character")
            }
            if first != UInt8(ascii: "#") { return .uri(String(decoding: text, as: UTF8.self)) }
            guard text.starts(with: "#EXT".utf8) else { continue }
            let name = text.dropFirst().prefix { $0 != UInt8(ascii: ":") }
            let value = text.dropFirst(name.count + 2)
            return .tag(name: String(decoding: name, as: UTF8.self), value: String(decoding: value, as: UTF8.self))
        }
        return nil
    }

    func malformed(_ what: String) -> ManifestError { .malformed(what: "HLS, line \(number): \(what)") }

    private mutating func nextText() -> ArraySlice<UInt8>? {
        guard !rest.isEmpty else { return nil }
        number += 1
        var line = rest.prefix { $0 != 0x0A }
        isOpen = line.count == rest.count
        rest = rest.dropFirst(line.count + 1)
        if line.last == 0x0D { line = line.dropLast() }
        return TagText.trimmed(Array(line))
    }
}

extension HLSLines.Line {
    /// Whether this is the tag.
    func `is`(_ name: StaticString) -> Bool {
        guard case .tag(let own, _) = self else { return false }
        return name.withUTF8Buffer { own.utf8.elementsEqual($0) }
    }
}

/// The attributes of a tag (RFC 8216, 4.2).
struct HLSAttributes {
    private var attributes: [(name: String, value: String, isQuoted: Bool)] = []

    private static let mostAttributes = 100

    /// - Returns: nil for text that is not a list of attributes, also when a name comes twice.
    init?(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            rest = rest.drop(while: TagText.isBlank)
            let name = rest.prefix {
                (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
            }
            rest = rest.dropFirst(name.count)
            guard !name.isEmpty, rest.popFirst() == UInt8(ascii: "="), attributes.count < Self.mostAttributes else {
                return nil
            }
            let isQuoted = rest.first == UInt8(ascii: "\"")
            if isQuoted { rest = rest.dropFirst() }
            let value = rest.prefix { $0 != UInt8(ascii: isQuoted ? "\"" : ",") }
            rest = rest.dropFirst(value.count)
            if isQuoted {
                guard rest.popFirst() == UInt8(ascii: "\"") else { return nil }
                rest = rest.drop(while: TagText.isBlank)
            }
            guard rest.isEmpty || rest.popFirst() == UInt8(ascii: ",") else { return nil }
            let text = String(decoding: name, as: UTF8.self)
            guard !attributes.contains(where: { $0.name.utf8.elementsEqual(name) }) else { return nil }
            attributes.append(
                (text, String(decoding: isQuoted ? value : TagText.trimmed(Array(value)), as: UTF8.self), isQuoted))
        }
    }

    /// Returns any value, without its quotes.
    func text(_ name: StaticString) -> String? {
        attributes.first { known in name.withUTF8Buffer { known.name.utf8.elementsEqual($0) } }?.value
    }

    /// Whether the value is that word.
    func has(_ name: StaticString, _ word: StaticString) -> Bool {
        text(name).map { value in word.withUTF8Buffer { value.utf8.elementsEqual($0) } } ?? false
    }

    func integer(_ name: StaticString) -> Int? {
        text(name).flatMap { XMLValue.integer($0) }.flatMap { Int(exactly: $0) }
    }

    /// The bytes of hexadecimal digits after `0x`.
    func bytes(_ name: StaticString) -> [UInt8]? {
        guard let text = text(name), text.utf8.starts(with: "0x".utf8) || text.utf8.starts(with: "0X".utf8) else {
            return nil
        }
        return Hexadecimal.bytes(String(decoding: Array(text.utf8.dropFirst(2)), as: UTF8.self))
    }
}
