/// The words that a user types, in any order. All of them must be in the text: as words, as the beginning of words, or
/// inside of words. A word with umlauts is also searched in its other spelling (`FoldedText.searched`).
package struct SearchWords: Equatable, Sendable {
    /// A folded word, and its other spelling.
    struct Word: Equatable, Sendable {
        let bytes: [UInt8]
        let other: [UInt8]?
    }

    /// The words, the longest one first, because the fewest texts contain it.
    let words: [Word]

    private static let mostWords = 16
    private static let mostBytes = 256

    /// - Returns: nil for an empty text, and for one that is too long. Punctuation counts only without other words.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.mostBytes else { return nil }
        var words: [Word] = []
        var signs: [Word] = []
        for part in text.unicodeScalars.split(whereSeparator: { FoldedText.isSpace($0.value) }) {
            let part = String(String.UnicodeScalarView(part))
            let plain = FoldedText.words(part)
            if plain.isEmpty {
                let sign = FoldedText.punctuation(part)
                if !sign.isEmpty { signs.append(Word(bytes: sign, other: nil)) }
                continue
            }
            let plainWords = plain.split(separator: UInt8(ascii: " "))
            let others = FoldedText.expanded(part, plain).split(separator: UInt8(ascii: " "))
            for (place, word) in plainWords.enumerated() {
                let other = others.count == plainWords.count && others[place] != word ? Array(others[place]) : nil
                words.append(Word(bytes: Array(word), other: other))
            }
        }
        if words.isEmpty { words = signs }
        guard !words.isEmpty, words.count <= Self.mostWords else { return nil }
        self.words = words.sorted { $0.bytes.count > $1.bytes.count }
    }

    /// Returns the SQL clause for a folded text, with a `?` for each of `values`.
    func clause(_ column: String) -> String {
        words.map {
            $0.other == nil ? "instr(\(column), ?) > 0" : "(instr(\(column), ?) > 0 OR instr(\(column), ?) > 0)"
        }.joined(separator: " AND ")
    }

    /// The texts to bind in `clause`.
    var texts: [String] {
        words.flatMap { word in [word.bytes] + (word.other.map { [$0] } ?? []) }
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
