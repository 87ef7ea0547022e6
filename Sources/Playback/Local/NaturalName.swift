/// A name in a folder, in the order that users expect: digits by their value, letters without their case.
///
///     NaturalName("2.flac") < NaturalName("10.flac")
///     NaturalName(folder: "CD 2") < NaturalName(folder: "disc10")
///
/// Folders of discs are sorted by their numbers, whatever the word for the disc. The order is total: names that differ
/// only in case, in leading zeros or in the word for a disc follow their bytes.
struct NaturalName: Comparable {
    private let key: [UInt8]
    private let bytes: [UInt8]

    private static let discWords: [StaticString] = ["cd", "disc", "disk"]

    /// Makes the name of a file. The ending is compared last, so that `Song.flac` comes before `Song (live).flac`.
    init(_ name: String) {
        bytes = Array(name.utf8)
        let dot = bytes.lastIndex(of: UInt8(ascii: ".")) ?? bytes.endIndex
        key = Self.key(of: bytes[..<dot]) + [0] + Self.key(of: bytes[dot...])
    }

    init(folder name: String) {
        bytes = Array(name.utf8)
        let folded = Self.folded(bytes[...])
        key = Self.withNumbers(Self.afterDiscWord(folded[...]).map { Array("cd".utf8) + $0 } ?? folded)
    }

    static func < (left: NaturalName, right: NaturalName) -> Bool {
        if left.key.elementsEqual(right.key) { return left.bytes.lexicographicallyPrecedes(right.bytes) }
        return left.key.lexicographicallyPrecedes(right.key)
    }

    static func == (left: NaturalName, right: NaturalName) -> Bool { left.bytes.elementsEqual(right.bytes) }

    private static func key(of name: ArraySlice<UInt8>) -> [UInt8] { withNumbers(folded(name)) }

    /// Returns the name from its number on; nil for a name that does not begin with a word for a disc and its number.
    private static func afterDiscWord(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        for word in discWords {
            guard word.withUTF8Buffer({ name.starts(with: $0) }) else { continue }
            let rest = name.dropFirst(word.utf8CodeUnitCount).drop { byte in " _-.#".utf8.contains(byte) }
            if let first = rest.first, isDigit(first) { return rest }
        }
        return nil
    }

    /// Replaces each run of digits by `0`, the count of its digits without leading zeros, and these digits.
    private static func withNumbers(_ name: [UInt8]) -> [UInt8] {
        var key: [UInt8] = []
        key.reserveCapacity(name.count + 8)
        var rest = name[...]
        while let byte = rest.first {
            if isDigit(byte) {
                let run = rest.prefix { isDigit($0) }
                let digits = run.drop { $0 == UInt8(ascii: "0") }
                key += [UInt8(ascii: "0"), UInt8(min(digits.count, 255))]
                key += digits
                rest = rest.dropFirst(run.count)
            } else {
                key.append(byte)
                rest = rest.dropFirst()
            }
        }
        return key
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// Returns the name in lower case, for letters of at most two bytes in UTF-8.
    private static func folded(_ name: ArraySlice<UInt8>) -> [UInt8] {
        var folded: [UInt8] = []
        folded.reserveCapacity(name.count)
        var index = name.startIndex
        while index < name.endIndex {
            let byte = name[index]
            index += 1
            if (0x41...0x5A).contains(byte) {
                folded.append(byte | 0x20)
            } else if (0xC3...0xD1).contains(byte), index < name.endIndex, name[index] & 0xC0 == 0x80 {
                let letter = small(UInt16(byte & 0x1F) << 6 | UInt16(name[index] & 0x3F))
                folded += [0xC0 | UInt8(letter >> 6), 0x80 | UInt8(letter & 0x3F)]
                index += 1
            } else {
                folded.append(byte)
            }
        }
        return folded
    }

    private static func small(_ letter: UInt16) -> UInt16 {
        switch letter {
        // Latin, but for the multiplication sign; Greek; Cyrillic.
        case 0xC0...0xD6, 0xD8...0xDE, 0x391...0x3A9, 0x410...0x42F: letter + 0x20
        case 0x400...0x40F: letter + 0x50
        case 0x100...0x137, 0x14A...0x177: letter | 1
        case 0x139...0x148: (letter + 1) & ~1
        default: letter
        }
    }
}
