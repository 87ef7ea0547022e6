import Platform

/// Texts of HTTP, compared by bytes: names and tokens are ASCII.
enum HTTPText {
    /// Whether the text begins with this one, in any case.
    /// - Parameter start: a text in lower case.
    static func hasPrefix(_ text: String, _ start: String) -> Bool {
        text.utf8.count >= start.utf8.count && zip(text.utf8, start.utf8).allSatisfy { $0.lowercased == $1 }
    }
}
