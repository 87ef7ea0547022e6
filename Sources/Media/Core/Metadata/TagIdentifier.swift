import Platform

/// Identifiers of MusicBrainz in tags: UUIDs, of which a text may have several.
enum TagIdentifier {
    /// All UUIDs in a text, in lower case.
    static func all(in text: String) -> [String] {
        let words = text.lowercasedASCII.utf8.split { !isHexadecimal($0) && $0 != 0x2D }
        return words.filter(isUUID).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func isUUID(_ word: some Collection<UInt8>) -> Bool {
        word.count == 36
            && word.enumerated().allSatisfy { ($0.element == 0x2D) == [8, 13, 18, 23].contains($0.offset) }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }
}
