// Points for and against each character set, from the bytes beyond ASCII and what is beside them.

extension TextEncoding {
    /// The most bytes that are looked at.
    private static let mostBytes = 65_536

    /// Recognises the character set of a text: UTF-8 where it is valid. Else the text is read in each other one. The
    /// most plausible one counts, and Windows-1252 if none is plausible.
    init(of bytes: [UInt8]) {
        self = .utf8
        if Self.isUTF8(bytes) { return }
        // Lines of UTF-8 prove nothing about the others. More of them are a text in UTF-8 with damage.
        var sample: [UInt8] = []
        var plainCount = 0
        for line in bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) where sample.count < Self.mostBytes {
            let line = Array(line.prefix(Self.mostBytes))
            if Self.isUTF8(line) { plainCount += line.count { $0 >= 0x80 } } else { sample += line + [0x0A] }
        }
        if plainCount > sample.count(where: { $0 >= 0x80 }) { return }
        var best = max(3, Self.westernPoints(sample))
        for encoding in Self.allCases where encoding != .utf8 {
            let points = encoding.isWide ? encoding.widePoints(sample) : encoding.cyrillicPoints(sample)
            if points > best { (self, best) = (encoding, points) }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    // MARK: Windows-1252

    /// Letters with accents are single, in words of ASCII.
    private static func westernPoints(_ text: [UInt8]) -> Int {
        var points = 0
        for (index, byte) in text.enumerated() where byte >= 0x80 {
            let (before, after) = (index > 0 ? text[index - 1] : 0, index + 1 < text.count ? text[index + 1] : 0)
            let isBeside = isLetter(before) || isLetter(after)
            switch byte {
            case 0xC0...0xD6, 0xD8...0xF6, 0xF8...0xFF, 0x8A, 0x8C, 0x8E, 0x9A, 0x9C, 0x9E, 0x9F:
                if before < 0x80, after < 0x80 {
                    points += isBeside ? 2 : 1
                } else if !isBeside {
                    points -= 2
                }
            case 0x92: points += isLetter(before) && isLetter(after) ? 3 : 1
            case 0x85, 0x91, 0x93...0x97, 0xA0...0xBF: if before < 0x80, after < 0x80 { points += 1 }
            default: points -= 1
            }
        }
        return points
    }

    // MARK: Cyrillic

    /// How frequent the letters from а to я are in Russian: 3 is usual.
    private static let frequencies: StaticString = "63434613614445635553010100033003"

    /// Words have small letters after the first one. Their letters are frequent ones.
    private func cyrillicPoints(_ text: [UInt8]) -> Int {
        var points = 0
        var place = 0
        let characters = text.map { byte in
            var place = 0
            return character(in: [byte], at: &place)
        }
        while place < text.count {
            defer { place += 1 }
            let character = characters[place]
            if character < 0x80 { continue }
            let (before, after) = (
                place > 0 ? characters[place - 1] : 0, place + 1 < text.count ? characters[place + 1] : 0
            )
            guard Self.isCyrillic(character) else {
                // Quotation marks, dashes, № and blanks.
                let isMark =
                    (0x2013...0x2026).contains(character) || character == 0x2116 || character == 0xAB
                    || character == 0xBB || character == 0xA0
                points -= isMark ? 0 : 2
                continue
            }
            for other in [before, after] where other < 0x80 && Self.isLetter(UInt8(other)) { points -= 3 }
            guard Self.isCyrillic(before) || Self.isCyrillic(after) else { continue }
            if Self.isSmall(character) || !Self.isCyrillic(before) {
                points += 1
            } else if Self.isSmall(before) {
                points -= 3
            }
            let letter = Int(character) - (Self.isSmall(character) ? 0x430 : 0x410)
            points += Self.frequencies.withUTF8Buffer { (0..<32).contains(letter) ? Int($0[letter]) - 0x33 : -1 }
        }
        return points
    }

    private static func isCyrillic(_ character: UInt32) -> Bool { (0x400...0x4FF).contains(character) }
    private static func isSmall(_ character: UInt32) -> Bool {
        (0x430...0x45F).contains(character) || character == 0x491
    }

    // MARK: Two bytes

    /// Characters are frequent ones, beside each other.
    private func widePoints(_ text: [UInt8]) -> Int {
        var (points, count, lowTrails, lowBytes) = (0, 0, 0, 0)
        var place = 0
        // The points of a character whose right neighbour is not known yet, if it has no left one.
        var lonely = 0
        var wasWide = false
        while place < text.count {
            let lead = text[place]
            let start = place
            let character = character(in: text, at: &place)
            guard lead >= 0x80 else {
                // A single one proves nothing.
                lonely = 0
                wasWide = false
                continue
            }
            if place == start + 1 {
                // Katakana of half the width, in words.
                let isKatakana = self == .shiftJIS && character != Self.noCharacter
                points += isKatakana ? (wasWide ? 1 : -1) : -4
                wasWide = isKatakana
                continue
            }
            let trail = text[start + 1]
            count += 1
            if trail < 0x80 { lowTrails += 1 }
            if lead < 0xC0 || trail < 0xC0 { lowBytes += 1 }
            let own = widePoints(lead, trail, character)
            points += lonely
            lonely = wasWide || own < 0 ? 0 : own
            if wasWide || own < 0 { points += own }
            wasWide = true
        }
        if self == .eucKR { points += count >= 8 ? 1 : -count }
        // Cyrillic has high bytes alone.
        if self != .shiftJIS, count >= 3, lowBytes == 0 { points /= 2 }
        return self == .big5 && lowTrails == 0 ? points / 2 : points
    }

    /// The points of one character.
    private func widePoints(_ lead: UInt8, _ trail: UInt8, _ character: UInt32) -> Int {
        switch self {
        case .shiftJIS:
            guard character != Self.noCharacter else { return -4 }
            switch Self.jisPlace(lead, trail).row {
            case 4, 5, 16...47: return 4
            case 1, 3, 13: return 2
            case 48...84: return -1
            default: return -2
            }
        case .gbk:
            guard character != Self.noCharacter else { return -4 }
            guard lead > 0xA0, trail > 0xA0 else { return -2 }
            switch lead {
            case 0xB0...0xD7: return 4
            case 0xA1, 0xA3: return 2
            case 0xA4, 0xA5: return 1
            default: return -1
            }
        case .big5:
            guard trail < 0x7F || trail > 0xA0 else { return -4 }
            switch lead {
            case 0xA4...0xC6: return 4
            case 0xA1...0xA3: return 2
            case 0xC9...0xF9: return -1
            default: return -4
            }
        default:
            guard trail > 0xA0 else { return -4 }
            switch lead {
            case 0xB0...0xC8: return 4
            case 0xA1...0xA3: return 1
            default: return -2
            }
        }
    }
}
