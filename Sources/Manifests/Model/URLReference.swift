import Media
import Platform

/// A URL, or a reference relative to one (RFC 3986).
public struct URLReference: Equatable, Sendable {
    private var scheme: String?
    private var authority: String?
    private var path: String
    private var query: String?
    private var fragment: String?

    /// Divides any text into the components of a reference (RFC 3986, appendix B). White space around it is not part
    /// of it, nor are line breaks and tabs inside (appendix C).
    public init(_ text: String) {
        var rest = Array(Self.trimmed(Array(text.utf8)))[...]
        if let hash = rest.firstIndex(of: UInt8(ascii: "#")) {
            fragment = String(decoding: rest[(hash + 1)...], as: UTF8.self)
            rest = rest[..<hash]
        }
        if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
            query = String(decoding: rest[(mark + 1)...], as: UTF8.self)
            rest = rest[..<mark]
        }
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(rest[..<colon]) {
            scheme = String(decoding: rest[..<colon].map { $0.lowercased }, as: UTF8.self)
            rest = rest[(colon + 1)...]
        }
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = String(decoding: rest[..<end], as: UTF8.self)
            rest = rest[end...]
        }
        path = String(decoding: rest, as: UTF8.self)
    }

    /// The scheme in lower case: `https`.
    public var schemeName: String? { scheme }

    /// The reference as text (RFC 3986, 5.3), without its fragment, which never reaches a server.
    public var url: String {
        var text = ""
        if let scheme { text += scheme + ":" }
        if let authority { text += "//" + authority }
        text += path
        if let query { text += "?" + query }
        return Self.encoded(text)
    }

    /// Percent-encodes characters that a URL cannot have (RFC 3986, 2): blanks, control characters, letters outside of
    /// ASCII, and a percent sign that begins no octet. Encoded characters stay, so that encoding twice changes nothing.
    private static func encoded(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard !bytes.indices.allSatisfy({ isAllowed(at: $0, in: bytes) }) else { return text }
        var result: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if isAllowed(at: index, in: bytes) {
                result.append(byte)
            } else {
                result += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func isAllowed(at index: Int, in bytes: [UInt8]) -> Bool {
        switch bytes[index] {
        case UInt8(ascii: "%"):
            index + 2 < bytes.count && isDigit(bytes[index + 1]) && isDigit(bytes[index + 2])
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
            UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            false
        default: (0x21...0x7E).contains(bytes[index])
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x41 + value - 10 }

    /// The target of this reference in a document at `base` (RFC 3986, 5.2.2).
    public func resolved(against base: URLReference) -> URLReference {
        var target = self
        if scheme != nil {
            target.path = Self.withoutDots(path)
            return target
        }
        target.scheme = base.scheme
        if authority != nil {
            target.path = Self.withoutDots(path)
            return target
        }
        target.authority = base.authority
        if path.isEmpty {
            target.path = base.path
            if query == nil { target.query = base.query }
        } else if path.utf8.first == UInt8(ascii: "/") {
            target.path = Self.withoutDots(path)
        } else {
            target.path = Self.withoutDots(Self.merged(path, base))
        }
        return target
    }

    /// (RFC 3986, 5.2.3)
    private static func merged(_ path: String, _ base: URLReference) -> String {
        if base.authority != nil, base.path.isEmpty { return "/" + path }
        let directory = Array(base.path.utf8)
        guard let slash = directory.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return String(decoding: directory[...slash], as: UTF8.self) + path
    }

    /// Removes the segments `.` and `..` (RFC 3986, 5.2.4).
    private static func withoutDots(_ path: String) -> String {
        // A path that does not begin with a slash is opaque (data:) or has no directory to leave.
        guard path.utf8.first == UInt8(ascii: "/") else { return path }
        var kept: [ArraySlice<UInt8>] = []
        let segments = Array(path.utf8).dropFirst().split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isUp = segment.elementsEqual("..".utf8)
            if isUp { _ = kept.popLast() }
            if isUp || segment.elementsEqual(".".utf8) {
                if index == segments.count - 1 { kept.append([]) }
            } else {
                kept.append(segment)
            }
        }
        var bytes: [UInt8] = []
        for segment in kept {
            bytes.append(UInt8(ascii: "/"))
            bytes += segment
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isScheme(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, isLetter(first) else { return false }
        return bytes.allSatisfy {
            isLetter($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-")
                || $0 == UInt8(ascii: ".")
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    private static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        let start = bytes.firstIndex { !TagText.isBlank($0) } ?? bytes.endIndex
        let text = TagText.trimmed(bytes[start...])
        return text.contains(where: isBreak) ? text.filter { !isBreak($0) }[...] : text
    }

    private static func isBreak(_ byte: UInt8) -> Bool { byte == 0x09 || byte == 0x0A || byte == 0x0D }
}
