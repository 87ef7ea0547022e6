import Platform

/// The bytes of a configuration file: its encoding, lines, blanks and comments.
enum ConfigurationBytes {
    /// Returns whether a file is UTF-16, which some editors call "Unicode".
    static func isUTF16(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 2 else { return false }
        let (first, second) = (bytes[0], bytes[1])
        return first == 0xFF && second == 0xFE || first == 0xFE && second == 0xFF || first == 0 || second == 0
    }

    /// The lines without a byte order mark. CR, LF and CR LF end a line.
    static func lines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        var rest = bytes.starts(with: mark) ? bytes[3...] : bytes[...]
        var lines: [ArraySlice<UInt8>] = []
        while let end = rest.firstIndex(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            lines.append(rest[..<end])
            let isPair = rest[end] == UInt8(ascii: "\r") && rest[(end + 1)...].first == UInt8(ascii: "\n")
            rest = rest[(end + (isPair ? 2 : 1))...]
        }
        lines.append(rest)
        return lines
    }

    static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    static func isComment(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "#") || byte == UInt8(ascii: ";") }

    /// Returns whether `text` has only blanks and a comment.
    static func isRest(_ text: ArraySlice<UInt8>) -> Bool {
        guard let first = trimmed(text).first else { return true }
        return isComment(first) && isBlank(text[text.startIndex])
    }

    static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = text.drop { isBlank($0) }
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }

    /// The text before a # or ; that follows a blank, without blanks at its ends.
    static func withoutComment(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var end = text.startIndex
        while end < text.endIndex {
            let isAfterBlank = end == text.startIndex || isBlank(text[end - 1])
            if isAfterBlank, isComment(text[end]) { break }
            end += 1
        }
        return trimmed(text[..<end])
    }

    /// The name of a section or key: in small letters, with one blank between words.
    static func name(_ text: ArraySlice<UInt8>) -> String {
        let words = text.split(whereSeparator: { isBlank($0) })
        let name = Array(words.joined(separator: [UInt8(ascii: " ")]))
        return String(decoding: name.map { $0.lowercased }, as: UTF8.self)
    }

    static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
