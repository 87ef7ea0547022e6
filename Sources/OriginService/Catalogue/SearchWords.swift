/// The user's words as a query of SQLite's FTS5: all of them, each as the beginning of a word, in any field.
struct SearchWords: Equatable {
    let query: String

    private static let mostWords = 16
    private static let mostBytes = 256

    /// - Returns: nil without a letter or digit, and for a text that is too long.
    init?(_ text: String) {
        guard text.utf8.count <= Self.mostBytes, !text.utf8.contains(0) else { return nil }
        // FTS5 ignores a word of punctuation alone; it must not make other words match nothing.
        let words = text.split(whereSeparator: \.isWhitespace).filter { word in
            word.contains { $0.isLetter || $0.isNumber }
        }
        guard !words.isEmpty, words.count <= Self.mostWords else { return nil }
        query = words.map { "\"\($0.replacing("\"", with: "\"\""))\"*" }.joined(separator: " ")
    }
}
