/// Shortens texts for messages and fields with limited room. Any thread.
public enum CutText {
    /// Returns `text`, or its beginning and "…" when it has more than `limit` bytes. No character is divided.
    public static func cut(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        var beginning = ""
        var count = 0
        for scalar in text.unicodeScalars {
            count += scalar.utf8.count
            if count > limit { break }
            beginning.unicodeScalars.append(scalar)
        }
        return beginning + "…"
    }
}
