/// The lines of a text file of any system.
struct TextLines {
    /// The lines without blanks at their ends; empty lines are left out. Those of UTF-16 are UTF-8 here.
    let lines: [ArraySlice<UInt8>]
    let encoding: TextEncoding

    init(_ bytes: [UInt8]) {
        let text = WideText.utf8(of: bytes) ?? bytes
        encoding = TextEncoding(of: text)
        let hasMark = text.starts(with: [0xEF, 0xBB, 0xBF])
        // Old files of other systems end lines with CR alone.
        lines = text.dropFirst(hasMark ? 3 : 0).split { $0 == 0x0A || $0 == 0x0D }
            .compactMap { line in
                let text = Self.trimmed(line)
                return text.isEmpty ? nil : text
            }
    }

    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        let rest = bytes.drop(while: isBlank)
        guard let last = rest.lastIndex(where: { !isBlank($0) }) else { return [] }
        return rest[...last]
    }
}

/// UTF-16, with a byte-order mark or without.
enum WideText {
    /// The text in UTF-8; nil for bytes that are not UTF-16.
    static func utf8(of bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= 2 else { return nil }
        let isLittle: Bool
        switch (bytes[0], bytes[1]) {
        case (0xFF, 0xFE): isLittle = true
        case (0xFE, 0xFF): isLittle = false
        // Without a mark: a list begins with a character of ASCII, and a line has no byte 0.
        case (let first, 0) where first != 0: isLittle = true
        case (0, let second) where second != 0: isLittle = false
        default: return nil
        }
        func unit(_ place: Int) -> UInt32 {
            let (first, second) = (UInt32(bytes[place]), UInt32(bytes[place + 1]))
            return isLittle ? second << 8 | first : first << 8 | second
        }
        var text = String.UnicodeScalarView()
        var place = 0
        while place + 1 < bytes.count {
            var value = unit(place)
            place += 2
            if value & 0xFC00 == 0xD800, place + 1 < bytes.count, unit(place) & 0xFC00 == 0xDC00 {
                value = 0x1_0000 + ((value & 0x3FF) << 10 | unit(place) & 0x3FF)
                place += 2
            }
            text.append(Unicode.Scalar(value) ?? "\u{FFFD}")
        }
        return Array(String(text).utf8)
    }
}
