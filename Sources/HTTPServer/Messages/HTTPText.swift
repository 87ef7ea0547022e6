/// Texts of HTTP, compared by bytes: names and tokens are ASCII.
enum HTTPText {
    /// Returns the text with ASCII letters in lower case.
    static func lowercased(_ text: String) -> String {
        String(decoding: text.utf8.map { lowercased($0) }, as: UTF8.self)
    }

    /// Whether the text begins with this one, in any case.
    /// - Parameter start: a text in lower case.
    static func hasPrefix(_ text: String, _ start: String) -> Bool {
        text.utf8.count >= start.utf8.count && zip(text.utf8, start.utf8).allSatisfy { lowercased($0) == $1 }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
