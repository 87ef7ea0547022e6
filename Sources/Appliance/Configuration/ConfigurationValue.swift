/// A value in a line of a configuration file, without its quotes, and without a comment after it.
enum ConfigurationValue: Equatable {
    enum Form: Equatable {
        case plain
        /// A value without quotes, followed by a comment. The comment may belong to the value.
        case cut
        /// A value in the quotes of a word processor or in single quotes. They count as straight quotes.
        case curlyQuotes
        /// A value that contains such a quote.
        case curlyInside
    }

    case value(String, Form)
    /// The reason why the value cannot be read.
    case fault(String)

    private static let straight = UInt8(ascii: "\"")
    private static let single = UInt8(ascii: "'")
    /// “ ” „ ‟ « » ″ ＂
    private static let double: [[UInt8]] = [
        [0xE2, 0x80, 0x9C], [0xE2, 0x80, 0x9D], [0xE2, 0x80, 0x9E], [0xE2, 0x80, 0x9F], [0xC2, 0xAB], [0xC2, 0xBB],
        [0xE2, 0x80, 0xB3], [0xEF, 0xBC, 0x82],
    ]
    /// ‘ ’ ‚ ‛ ‹ ›. Inside of a text, ’ is an apostrophe.
    private static let apostrophes: [[UInt8]] = [
        [0xE2, 0x80, 0x98], [0xE2, 0x80, 0x99], [0xE2, 0x80, 0x9A], [0xE2, 0x80, 0x9B], [0xE2, 0x80, 0xB9],
        [0xE2, 0x80, 0xBA],
    ]

    /// - Parameter text: the text after the sign =, without blanks at its ends.
    init(_ text: ArraySlice<UInt8>) {
        if text.first == Self.straight {
            self = Self.quoted(text)
        } else if let inside = Self.insideOfCurlyQuotes(text) {
            self = .value(ConfigurationBytes.text(inside), .curlyQuotes)
        } else {
            let value = ConfigurationBytes.withoutComment(text)
            let isCut = value.count < text.count
            let isCurly = value.indices.contains { Self.quote(at: $0, of: value, among: Self.double) != nil }
            self = .value(ConfigurationBytes.text(value), isCut ? .cut : isCurly ? .curlyInside : .plain)
        }
    }

    private static func quoted(_ text: ArraySlice<UInt8>) -> ConfigurationValue {
        var value: [UInt8] = []
        var index = text.startIndex + 1
        while index < text.endIndex {
            switch text[index] {
            case straight:
                if !ConfigurationBytes.isRest(text[(index + 1)...]) {
                    return .fault("there is something after the closing quote")
                }
                return .value(ConfigurationBytes.text(value[...]), .plain)
            case UInt8(ascii: "\\") where index + 1 < text.endIndex && isEscaped(text[index + 1]):
                index += 1
                value.append(text[index])
            default:
                value.append(text[index])
            }
            index += 1
        }
        return .fault("the closing quote is missing")
    }

    private static func isEscaped(_ byte: UInt8) -> Bool { byte == straight || byte == UInt8(ascii: "\\") }

    /// Returns the text between quotes of another kind that surround the whole value; nil without such quotes.
    private static func insideOfCurlyQuotes(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        if text.first == single {
            let inside = text.dropFirst()
            guard let end = inside.firstIndex(of: single), ConfigurationBytes.isRest(text[(end + 1)...]) else {
                return nil
            }
            return inside[..<end]
        }
        guard let opening = quote(at: text.startIndex, of: text, among: double + apostrophes) else { return nil }
        let inside = text.dropFirst(opening)
        for index in inside.indices {
            let closing = quote(at: index, of: inside, among: double + apostrophes)
            if let closing, ConfigurationBytes.isRest(inside[(index + closing)...]) { return inside[..<index] }
        }
        for index in inside.indices where inside[index] == straight {
            if ConfigurationBytes.isRest(inside[(index + 1)...]) { return inside[..<index] }
        }
        return nil
    }

    /// Returns the length of the quote that begins at `index`; nil if none begins there.
    private static func quote(at index: Int, of text: ArraySlice<UInt8>, among quotes: [[UInt8]]) -> Int? {
        quotes.first { text[index...].starts(with: $0) }?.count
    }
}
