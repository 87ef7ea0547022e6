/// The words that a user types, in any order. All of them must be in the text: as words, as the beginning of words, or
/// inside of words.
package struct SearchWords: Equatable, Sendable {
    /// The folded words, the longest one first: the fewest texts have it.
    let words: [[UInt8]]

    private static let mostWords = 16
    private static let mostBytes = 256

    /// - Returns: nil without a letter or digit, and for a text that is too long.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.mostBytes else { return nil }
        let words = FoldedText.words(text).split(separator: UInt8(ascii: " ")).map { Array($0) }
        guard !words.isEmpty, words.count <= Self.mostWords else { return nil }
        self.words = words.sorted { $0.count > $1.count }
    }

    /// The clause of SQL for a folded text, which binds each of `values`.
    func clause(_ column: String) -> String {
        words.map { _ in "instr(\(column), ?) > 0" }.joined(separator: " AND ")
    }
}
