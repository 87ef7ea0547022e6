/// Makes text from untrusted sources safe to show: tags, names of files, clients.
public enum VisibleText {
    /// Returns `text` with each scalar as `escape` shows it.
    public static func visible(_ text: String) -> String {
        if !text.unicodeScalars.contains(where: { escape($0) != nil }) { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if let escaped = escape(scalar) { result += escaped } else { result.unicodeScalars.append(scalar) }
        }
        return result
    }

    /// Returns the visible form of a scalar that must not reach a terminal; nil for all others, which are shown
    /// unchanged. Escaped are control characters (C0, DEL, C1), line and paragraph separators, and scalars that change
    /// the direction of writing. So are the bytes of a name that is not UTF-8 (`FileName`).
    public static func escape(_ scalar: Unicode.Scalar) -> String? {
        if let byte = FileName.byte(of: scalar) { return "\\x\(hexadecimal(CollectionOfOne(byte)))" }
        switch scalar.value {
        case 0x0A: return "\\n"
        case 0x0D: return "\\r"
        case 0..<0x20, 0x7F: return "\\x\(hexadecimal(CollectionOfOne(UInt8(truncatingIfNeeded: scalar.value))))"
        case 0x80..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069:
            let bytes = [UInt8(truncatingIfNeeded: scalar.value >> 8), UInt8(truncatingIfNeeded: scalar.value)]
            return "\\u\(hexadecimal(bytes))"
        default: return nil
        }
    }
}
