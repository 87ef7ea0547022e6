import CLinux

/// Names of files as text. For the kernel a name is any bytes; here it is a `String` (docs/decisions/file-names.md).
///
/// A byte that is not part of valid UTF-8, 0x80 to 0xFF, becomes a separate scalar, U+EF80 to U+EFFF. When a name
/// already has such a scalar, each of its three bytes becomes one. Every name therefore has exactly one text, which
/// converts back to the same bytes. Scalars of that range are private: fonts and keyboards do not have them.
///
/// Any thread.
public enum FileName {
    private static let first: UInt32 = 0xEF80
    private static let last: UInt32 = 0xEFFF
    /// The first byte of these scalars in UTF-8.
    private static let leadByte: UInt8 = 0xEE

    /// Returns the byte for a scalar of a name's text; nil for an ordinary scalar.
    public static func byte(of scalar: Unicode.Scalar) -> UInt8? {
        (first...last).contains(scalar.value) ? UInt8(truncatingIfNeeded: scalar.value) : nil
    }

    /// Returns the text of a name or a path.
    public static func text(of bytes: UnsafeBufferPointer<UInt8>) -> String {
        // Fast path for nearly all names.
        if !bytes.contains(leadByte), let text = String(validating: bytes, as: UTF8.self) { return text }
        var text = String.UnicodeScalarView()
        var rest = bytes[...]
        while !rest.isEmpty {
            let (scalar, length) = leadingScalar(of: rest)
            if let scalar, byte(of: scalar) == nil {
                text.append(scalar)
            } else {
                for byte in rest.prefix(length) { text.append(Unicode.Scalar(first - 0x80 + UInt32(byte)) ?? "?") }
            }
            rest = rest.dropFirst(length)
        }
        return String(text)
    }

    /// Returns the text of a NUL-terminated name or path.
    public static func text(of bytes: UnsafePointer<CChar>) -> String {
        let count = strlen(bytes)
        return UnsafeRawBufferPointer(start: bytes, count: count).withMemoryRebound(to: UInt8.self) { text(of: $0) }
    }

    /// Calls `body` with the bytes of `text` and a NUL after them, for system calls.
    public static func withBytes<Result>(of text: String, _ body: (UnsafePointer<CChar>) -> Result) -> Result {
        guard text.utf8.contains(leadByte) else { return text.withCString(body) }
        var bytes = bytes(of: text)
        bytes.append(0)
        return bytes.withUnsafeBytes { body($0.bindMemory(to: CChar.self).baseAddress!) }
    }

    /// Returns the bytes of the name with this text.
    public static func bytes(of text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 1)
        for scalar in text.unicodeScalars {
            if let byte = byte(of: scalar) { bytes.append(byte) } else { bytes += scalar.utf8 }
        }
        return bytes
    }

    /// Returns the scalar at the start of `bytes` and its length; for an invalid one nil and 1, the number of bytes to
    /// escape.
    private static func leadingScalar(of bytes: Slice<UnsafeBufferPointer<UInt8>>) -> (Unicode.Scalar?, Int) {
        let lead = bytes[bytes.startIndex]
        let length =
            switch lead {
            case 0..<0x80: 1
            case 0xC2..<0xE0: 2
            case 0xE0..<0xF0: 3
            case 0xF0..<0xF5: 4
            default: 0
            }
        guard length > 0, bytes.count >= length,
            let text = String(validating: bytes.prefix(length), as: UTF8.self), let scalar = text.unicodeScalars.first
        else { return (nil, 1) }
        return (scalar, length)
    }
}
