/// Text without case and accents, for comparisons: Latin, Greek and Cyrillic letters. Full-width letters and ligatures
/// become plain letters. All other letters are unchanged.
///
///     FoldedText.words("Don't Stop – Beyoncé")      // "dont stop beyonce"
///     FoldedText.searched("AC/DC")                  // "ac dc", 1, "acdc"
///
/// Any thread.
package enum FoldedText {
    /// Returns the words of a text with one blank between them. Apostrophes and full stops are left out, and other
    /// punctuation separates words.
    package static func words(_ text: String) -> [UInt8] {
        var words: [UInt8] = []
        words.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            let ligature = ligature(scalar.value)
            if !ligature.isEmpty {
                words += ligature
                continue
            }
            let scalar = narrow(scalar.value)
            switch kind(of: scalar) {
            case .dropped: break
            case .separator: if let last = words.last, last != blank { words.append(blank) }
            case .letter: append(letter(of: scalar), to: &words)
            }
        }
        if words.last == blank { words.removeLast() }
        return words
    }

    /// The byte between the words of a searched text and their other spellings.
    package static let otherSpellings: UInt8 = 1

    /// Returns the words of a text, then `otherSpellings`, then further words by which a search finds the text: a name
    /// without its punctuation (`acdc`), German and Danish letters as two (`mueller`), and names of punctuation alone
    /// (`!!!`).
    package static func searched(_ text: String) -> [UInt8] {
        var found = words(text)
        var isFirst = true
        for word in text.unicodeScalars.split(whereSeparator: { isSpace($0.value) }) {
            let word = String(String.UnicodeScalarView(word))
            let plain = words(word)
            for other in [joined(word, plain), plain.isEmpty ? punctuation(word) : [], expanded(word, plain)]
            where !other.isEmpty {
                found.append(isFirst ? otherSpellings : blank)
                found += other
                isFirst = false
            }
        }
        return found
    }

    /// Returns the other spelling of a word with umlauts; empty for a word without them.
    static func expanded(_ text: String, _ plain: [UInt8]) -> [UInt8] {
        var spelled = ""
        for scalar in ComposedText.of(text).unicodeScalars {
            switch scalar.value {
            case 0xC4, 0xE4, 0xC6, 0xE6: spelled += "ae"
            case 0xD6, 0xF6, 0xD8, 0xF8: spelled += "oe"
            case 0xDC, 0xFC: spelled += "ue"
            case 0xC5, 0xE5: spelled += "aa"
            default: spelled.unicodeScalars.append(scalar)
            }
        }
        let words = words(spelled)
        return words.elementsEqual(plain) ? [] : words
    }

    /// Returns a word without the punctuation in it; empty for a word without punctuation.
    private static func joined(_ word: String, _ plain: [UInt8]) -> [UInt8] {
        plain.contains(blank) ? plain.filter { $0 != blank } : []
    }

    /// Returns a word of punctuation unchanged, but in narrow characters.
    static func punctuation(_ word: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for scalar in word.unicodeScalars where !isSpace(scalar.value) {
            append(scalar: narrow(scalar.value), to: &bytes)
        }
        return bytes.filter { $0 > blank }
    }

    static func isSpace(_ scalar: UInt32) -> Bool {
        scalar <= 0x20 || scalar == 0xA0 || scalar == 0x3000 || (0x2000...0x200B).contains(scalar)
    }

    /// Returns the plain form of a full-width character.
    private static func narrow(_ scalar: UInt32) -> UInt32 {
        (0xFF01...0xFF5E).contains(scalar) ? scalar - 0xFEE0 : scalar
    }

    /// Returns the letters of a ligature; empty for another character.
    private static func ligature(_ scalar: UInt32) -> [UInt8] {
        switch scalar {
        case 0xFB00: Array("ff".utf8)
        case 0xFB01: Array("fi".utf8)
        case 0xFB02: Array("fl".utf8)
        case 0xFB03: Array("ffi".utf8)
        case 0xFB04: Array("ffl".utf8)
        case 0xFB05, 0xFB06: Array("st".utf8)
        default: []
        }
    }

    /// Returns the same spelling for all cases and normal forms of a name in the file system. A letter with an accent
    /// differs from the same letter without one.
    package static func name(_ text: String) -> [UInt8] {
        var name: [UInt8] = []
        name.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            let isMark = combiningMarks.contains(scalar.value)
            let folded = isMark ? nil : letter(of: scalar.value)
            if let folded { append(folded, to: &name) }
            // Several marks of one letter count as one.
            if isMark || folded?.hasMark == true, name.last != mark { name.append(mark) }
        }
        return name
    }

    /// Appends the letters of a text without case and accents. All other characters are unchanged, and so are control
    /// characters and bytes that are not UTF-8.
    package static func append(_ text: ArraySlice<UInt8>, to letters: inout [UInt8]) {
        var place = text.startIndex
        while place < text.endIndex {
            let byte = text[place]
            if byte < 0x80 {
                let end = text[place...].firstIndex { $0 >= 0x80 } ?? text.endIndex
                appendASCII(text[place..<end], to: &letters)
                place = end
                continue
            }
            let count = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
            let end = min(place + count, text.endIndex)
            var scalar = UInt32(byte) & (0xFF >> UInt32(count + 1))
            for next in text[(place + 1)..<end] { scalar = scalar << 6 | UInt32(next & 0x3F) }
            if byte < 0xC0 || end - place < count {
                letters.append(byte)
                place += 1
                continue
            }
            if !combiningMarks.contains(scalar) { append(letter(of: scalar), to: &letters) }
            place = end
        }
    }

    /// Nearly all text is ASCII. The loop has no branch, so that the compiler can vectorise it.
    private static func appendASCII(_ text: ArraySlice<UInt8>, to letters: inout [UInt8]) {
        let start = letters.count
        // Raw bytes are copied in one call.
        text.withUnsafeBytes { letters.append(contentsOf: $0) }
        letters.withUnsafeMutableBufferPointer { letters in
            for place in start..<letters.count {
                let byte = letters[place]
                letters[place] = byte | (byte &- 0x41 < 26 ? 0x20 : 0)
            }
        }
    }

    private static let blank = UInt8(ascii: " ")
    /// The byte that stands for any accent.
    private static let mark: UInt8 = 1
    private static let combiningMarks: ClosedRange<UInt32> = 0x300...0x36F

    private enum Kind { case letter, separator, dropped }

    private static func kind(of scalar: UInt32) -> Kind {
        switch scalar {
        // The apostrophe, the full stop, the soft hyphen, and typographic apostrophes.
        case 0x27, 0x2E, 0xAD, 0x2018, 0x2019, 0x2BC, combiningMarks: .dropped
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: .letter
        case 0..<0x80, 0x80...0xA9, 0xAB...0xB1, 0xB4, 0xB6...0xB8, 0xBB, 0xBF, 0xD7, 0xF7: .separator
        case 0x2000...0x206F, 0x3000...0x3004, 0x3008...0x3020, 0xFF01...0xFF0F: .separator
        default: .letter
        }
    }

    // MARK: Letters

    private struct Letter {
        var scalar: UInt32
        /// The second letter of a ligature.
        var second: UInt8?
        var hasMark = false
    }

    /// The letters from U+00C0, U+0180 and U+1E00 on, without accents. A capital in the table marks a letter with an
    /// accent. A star marks a letter that stays unchanged.
    private static let latin: StaticString =
        """
        AAAAAA*CEEEEIIIIdNOOOOO*oUUUUY**AAAAAA*CEEEEIIIIdNOOOOO*oUUUUY*YAAAAAACCCCCCCCDDddEEEEEEEEEEGGGG\
        GGGGHHhhIIIIIIIIIi**JJKKkLLLLLL**llNNNNNNnnnOOOOOO**RRRRRRSSSSSSSSTTTTttUUUUUUUUUUUUWWYYYZZZZZZs
        """
    private static let moreLatin: StaticString =
        """
        ********************************OO*************UU****************************AAIIOOUUUUUUUUUU*AAA\
        A****GGKKOOOO**J***GG**NNAA**OOAAAAEEEEIIIIOOOORRRRUUUUSSTT**HH******AAEEOOOOOOOOYY**************\
        **************
        """
    private static let additionalLatin: StaticString =
        """
        AABBBBBBCCDDDDDDDDDDEEEEEEEEEEFFGGHHHHHHHHHHIIIIKKKKKKLLLLLLLLMMMMMMNNNNNNNNOOOOOOOOPPPPRRRRRRRR\
        SSSSSSSSSSTTTTTTTTUUUUUUUUUUVVVVWWWWWWWWWWXXXXYYZZZZZZHTWY*S****AAAAAAAAAAAAAAAAAAAAAAAAEEEEEEEEE\
        EEEEEEEIIIIOOOOOOOOOOOOOOOOOOOOOOOOUUUUUUUUUUUUUUYYYYYYYY******
        """
    /// The letters from U+0370 and U+1F00 on: `a` is alpha, `b` beta, up to `y` for omega.
    private static let greek: StaticString =
        """
        **********************A*EGI*O*UYIabcdefghijklmnopq*stuvwxyIUAEGIUabcdefghijklmnopqsstuvwxyIUOUY*\
        ************************************h***********
        """
    private static let extendedGreek: StaticString =
        """
        AAAAAAAAAAAAAAAAEEEEEE**EEEEEE**GGGGGGGGGGGGGGGGIIIIIIIIIIIIIIIIOOOOOO**OOOOOO**UUUUUUUU*U*U*U*U\
        YYYYYYYYYYYYYYYYAAEEGGIIOOUUYY**AAAAAAAAAAAAAAAAGGGGGGGGGGGGGGGGYYYYYYYYYYYYYYYYAAAAA*AAAAAAA*i**\
        *GGG*GGEEGGG***IIII**IIIIII****UUUUQQUUUUUUQ*****YYY*YYOOYYY***
        """

    private static func letter(of scalar: UInt32) -> Letter {
        switch scalar {
        case 0x41...0x5A: Letter(scalar: scalar + 0x20)
        case 0..<0xC0: Letter(scalar: scalar)
        case 0xC6, 0xE6: Letter(scalar: 0x61, second: UInt8(ascii: "e"))
        case 0x1E2, 0x1E3, 0x1FC, 0x1FD: Letter(scalar: 0x61, second: UInt8(ascii: "e"), hasMark: true)
        case 0x13F, 0x140: Letter(scalar: 0x6C)
        case 0x152, 0x153: Letter(scalar: 0x6F, second: UInt8(ascii: "e"))
        case 0xDF, 0x1E9E: Letter(scalar: 0x73, second: UInt8(ascii: "s"))
        case 0xDE, 0xFE: Letter(scalar: 0x74, second: UInt8(ascii: "h"))
        case 0x132, 0x133: Letter(scalar: 0x69, second: UInt8(ascii: "j"))
        case 0x14A, 0x14B: Letter(scalar: 0x6E)
        case 0xC0..<0x180: letter(scalar, in: latin, from: 0xC0)
        case 0x180..<0x250: letter(scalar, in: moreLatin, from: 0x180)
        case 0x370..<0x400: letter(scalar, in: greek, from: 0x370, letterA: 0x3B1)
        case 0x400..<0x530: cyrillic(scalar)
        case 0x1E00..<0x1F00: letter(scalar, in: additionalLatin, from: 0x1E00)
        case 0x1F00..<0x2000: letter(scalar, in: extendedGreek, from: 0x1F00, letterA: 0x3B1)
        default: Letter(scalar: scalar)
        }
    }

    /// - Parameter letterA: the scalar for which `a` in the table stands.
    private static func letter(
        _ scalar: UInt32, in table: StaticString, from first: UInt32, letterA: UInt32 = 0x61
    ) -> Letter {
        let place = Int(scalar - first)
        let entry = table.withUTF8Buffer { place < $0.count ? $0[place] : UInt8(ascii: "*") }
        switch entry {
        case 0x41...0x5A: return Letter(scalar: letterA + UInt32(entry - 0x41), hasMark: true)
        case 0x61...0x7A: return Letter(scalar: letterA + UInt32(entry - 0x61))
        default: return Letter(scalar: scalar)
        }
    }

    private static func cyrillic(_ scalar: UInt32) -> Letter {
        let small: UInt32 =
            switch scalar {
            case 0x400...0x40F: scalar + 0x50
            case 0x410...0x42F: scalar + 0x20
            case 0x460...0x481, 0x48A...0x4BF, 0x4D0...0x52F: scalar | 1
            default: scalar
            }
        return switch small {
        case 0x439, 0x45D: Letter(scalar: 0x438, hasMark: true)
        case 0x450, 0x451: Letter(scalar: 0x435, hasMark: true)
        case 0x453: Letter(scalar: 0x433, hasMark: true)
        case 0x457: Letter(scalar: 0x456, hasMark: true)
        case 0x45C: Letter(scalar: 0x43A, hasMark: true)
        case 0x45E: Letter(scalar: 0x443, hasMark: true)
        default: Letter(scalar: small)
        }
    }

    private static func append(_ letter: Letter, to bytes: inout [UInt8]) {
        append(scalar: letter.scalar, to: &bytes)
        if let second = letter.second { bytes.append(second) }
    }

    static func append(scalar: UInt32, to bytes: inout [UInt8]) {
        func next(_ shift: UInt32) -> UInt8 { 0x80 | UInt8(scalar >> shift & 0x3F) }
        switch scalar {
        case 0..<0x80: bytes.append(UInt8(scalar))
        case 0x80..<0x800: bytes += [0xC0 | UInt8(scalar >> 6), next(0)]
        case 0x800..<0x10000: bytes += [0xE0 | UInt8(scalar >> 12), next(6), next(0)]
        default: bytes += [0xF0 | UInt8(scalar >> 18), next(12), next(6), next(0)]
        }
    }
}
