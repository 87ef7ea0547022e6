/// The set of characters of a text file. Files of old programs have the one of their country, and nothing names it.
///
///     let encoding = TextEncoding(of: bytes)
///     encoding.text(of: line)
enum TextEncoding: CaseIterable {
    /// UTF-8, and Windows-1252, which contains Latin-1, for lines that are not UTF-8.
    case utf8
    case windows1251, koi8, shiftJIS, gbk
    /// Recognised, but not decoded: tables of them would need more room than they are worth.
    case big5, eucKR

    /// The name of a character set that is not decoded.
    var unreadName: String? {
        switch self {
        case .big5: "Big5"
        case .eucKR: "EUC-KR"
        default: nil
        }
    }

    /// Whether a character may have two bytes, of which the second one may look like ASCII.
    var isWide: Bool { self == .shiftJIS || self == .gbk || self == .big5 || self == .eucKR }

    /// Returns the text. Bytes that are no character, and all of a character set that is not decoded, are U+FFFD.
    func text(of bytes: [UInt8]) -> String {
        // A list may have new lines of UTF-8 after old ones. Two bytes of UTF-8 may be one character of others.
        if let text = String(validating: bytes, as: UTF8.self),
            self == .utf8 || bytes.allSatisfy({ $0 < 0x80 }) || bytes.contains(where: { $0 >= 0xE0 })
        {
            return text
        }
        var text = String.UnicodeScalarView()
        var place = 0
        while place < bytes.count {
            text.append(Unicode.Scalar(character(in: bytes, at: &place)) ?? "\u{FFFD}")
        }
        return String(text)
    }

    static func isUTF8(_ bytes: [UInt8]) -> Bool { String(validating: bytes, as: UTF8.self) != nil }

    /// Returns a path with slashes for the backslashes of Windows.
    func withSlashes(_ path: [UInt8]) -> [UInt8] {
        var path = path
        var place = 0
        while place < path.count {
            let start = place
            if isWide { _ = character(in: path, at: &place) } else { place += 1 }
            if place == start + 1, path[start] == UInt8(ascii: "\\") { path[start] = UInt8(ascii: "/") }
        }
        return path
    }
}

// MARK: Characters

extension TextEncoding {
    static let noCharacter: UInt32 = 0xFFFD

    /// Returns the character at a place, and moves the place to the next one.
    func character(in bytes: [UInt8], at place: inout Int) -> UInt32 {
        let byte = bytes[place]
        place += 1
        if byte < 0x80 { return UInt32(byte) }
        switch self {
        case .utf8:
            guard byte < 0xA0 else { return UInt32(byte) }
            let special = UInt32(Self.special1252[Int(byte) - 0x80])
            return special == 0 ? UInt32(byte) : special
        case .windows1251:
            return byte < 0xC0 ? UInt32(Self.special1251[Int(byte) - 0x80]) : 0x410 + UInt32(byte - 0xC0)
        case .koi8: return Self.koi8(byte)
        case .shiftJIS:
            // Katakana of half the width.
            if (0xA1...0xDF).contains(byte) { return 0xFF61 + UInt32(byte - 0xA1) }
            guard let trail = Self.trail(in: bytes, at: &place), trail <= 0xFC, byte != 0x80, byte != 0xA0 else {
                return Self.noCharacter
            }
            return Self.japanese(byte, trail)
        case .gbk:
            guard let trail = Self.trail(in: bytes, at: &place), byte != 0x80, byte != 0xFF else {
                return Self.noCharacter
            }
            return Self.chinese(byte, trail)
        case .big5, .eucKR:
            _ = Self.trail(in: bytes, at: &place)
            return Self.noCharacter
        }
    }

    /// Takes the second byte of a character, if it is one.
    private static func trail(in bytes: [UInt8], at place: inout Int) -> UInt8? {
        guard place < bytes.count, (0x40...0xFE).contains(bytes[place]), bytes[place] != 0x7F else { return nil }
        place += 1
        return bytes[place - 1]
    }

    /// The characters of the bytes 0x80 to 0x9F in Windows-1252; 0 where there is none.
    private static let special1252: [UInt16] = [
        0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0,
        0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E,
        0x0178,
    ]

    /// The characters of the bytes 0x80 to 0xBF in Windows-1251.
    private static let special1251: [UInt16] = [
        0x0402, 0x0403, 0x201A, 0x0453, 0x201E, 0x2026, 0x2020, 0x2021, 0x20AC, 0x2030, 0x0409, 0x2039, 0x040A, 0x040C,
        0x040B, 0x040F, 0x0452, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0xFFFD, 0x2122, 0x0459, 0x203A,
        0x045A, 0x045C, 0x045B, 0x045F, 0x00A0, 0x040E, 0x045E, 0x0408, 0x00A4, 0x0490, 0x00A6, 0x00A7, 0x0401, 0x00A9,
        0x0404, 0x00AB, 0x00AC, 0x00AD, 0x00AE, 0x0407, 0x00B0, 0x00B1, 0x0406, 0x0456, 0x0491, 0x00B5, 0x00B6, 0x00B7,
        0x0451, 0x2116, 0x0454, 0x00BB, 0x0458, 0x0405, 0x0455, 0x0457,
    ]

    /// The letters from 0xC0 on in KOI8; the capitals follow.
    private static let koi8Letters: StaticString = "юабцдефгхийклмнопярстужвьызшэщчъ"

    /// KOI8-R and KOI8-U, without their lines and boxes.
    private static func koi8(_ byte: UInt8) -> UInt32 {
        switch byte {
        case 0xC0...: letter(koi8Letters, Int(byte & 0x1F)) - (byte < 0xE0 ? 0 : 0x20)
        case 0xA3: 0x451
        case 0xB3: 0x401
        case 0xA4: 0x454
        case 0xB4: 0x404
        case 0xA6, 0xA7: 0x456 + UInt32(byte - 0xA6)
        case 0xB6, 0xB7: 0x406 + UInt32(byte - 0xB6)
        case 0xAD: 0x491
        case 0xBD: 0x490
        case 0x9A: 0xA0
        case 0x9C: 0xB0
        case 0x9E: 0xB7
        case 0xBF: 0xA9
        default: noCharacter
        }
    }

    /// The character of two bytes of UTF-8 at an index.
    private static func letter(_ letters: StaticString, _ index: Int) -> UInt32 {
        letters.withUTF8Buffer { UInt32($0[index * 2] & 0x1F) << 6 | UInt32($0[index * 2 + 1] & 0x3F) }
    }

    // MARK: Tables

    private static let rowLength = 94

    /// - Parameters:
    ///   - row: the index of a row in the table.
    ///   - cell: from 1.
    private static func cell(_ table: StaticString, _ row: Int, _ cell: Int) -> UInt32 {
        table.withUTF8Buffer { bytes in
            let place = (row * rowLength + cell - 1) * 3
            guard (1...rowLength).contains(cell), row >= 0, place + 3 <= bytes.count else { return noCharacter }
            let first = UInt32(bytes[place]), second = UInt32(bytes[place + 1] & 0x3F)
            return first < 0xE0
                ? (first & 0x1F) << 6 | second : (first & 0x0F) << 12 | second << 6 | UInt32(bytes[place + 2] & 0x3F)
        }
    }

    /// Returns the row and the cell of JIS X 0208 that two bytes of Shift-JIS mean.
    static func jisPlace(_ lead: UInt8, _ trail: UInt8) -> (row: Int, cell: Int) {
        let pair = Int(lead) - (lead < 0xA0 ? 0x81 : 0xC1)
        if trail >= 0x9F { return (pair * 2 + 2, Int(trail) - 0x9E) }
        return (pair * 2 + 1, Int(trail) - (trail > 0x7F ? 0x40 : 0x3F))
    }

    private static func japanese(_ lead: UInt8, _ trail: UInt8) -> UInt32 {
        let (row, cell) = jisPlace(lead, trail)
        switch row {
        case 1...8: return Self.cell(TextTables.japanese, row - 1, cell)
        case 13: return Self.cell(TextTables.japanese, 8, cell)
        case 16...84: return Self.cell(TextTables.japanese, row - 7, cell)
        case 89...92:
            // NEC's place of IBM's kanji, which begin at the 29th character of row 115.
            let index = (row - 89) * rowLength + cell + 27
            return index < 388
                ? Self.cell(TextTables.japanese, 78 + index / rowLength, index % rowLength + 1) : noCharacter
        case 115...119: return Self.cell(TextTables.japanese, row - 37, cell)
        default: return noCharacter
        }
    }

    private static func chinese(_ lead: UInt8, _ trail: UInt8) -> UInt32 {
        let (row, cell) = (Int(lead) - 0xA0, Int(trail) - 0xA0)
        let low = Int(trail) - (trail > 0x7F ? 0x41 : 0x40)
        if row <= 0 { return addition((row + 0x1F) * 190 + low) }
        if cell <= 0 { return row >= 10 ? addition(32 * 190 + (row - 10) * 96 + low) : noCharacter }
        switch row {
        case 1, 2: return Self.cell(TextTables.chinese, row - 1, cell)
        case 3: return 0xFF00 + UInt32(cell)
        case 4...7: return Self.cell(TextTables.japanese, row - 1, cell)
        case 8: return Self.cell(TextTables.chinese, 2, cell)
        case 16...87: return Self.cell(TextTables.chinese, row - 13, cell)
        default: return noCharacter
        }
    }

    /// The characters that GBK adds to GB 2312, in its order: the others of Unicode's first block.
    private static let additions: [UInt16] = {
        let (first, last) = (0x4E00, 0x9FA5)
        var isKnown = [Bool](repeating: false, count: last - first + 1)
        for row in 3..<75 {
            for cell in 1...rowLength {
                let character = Int(Self.cell(TextTables.chinese, row, cell))
                if (first...last).contains(character) { isKnown[character - first] = true }
            }
        }
        return (first...last).filter { !isKnown[$0 - first] }.map { UInt16($0) }
    }()

    private static func addition(_ index: Int) -> UInt32 {
        additions.indices.contains(index) ? UInt32(additions[index]) : noCharacter
    }
}
