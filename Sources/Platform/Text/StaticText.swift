extension StaticString {
    /// The text as a string, which is copied.
    package var text: String { withUTF8Buffer { String(decoding: $0, as: UTF8.self) } }
}
