/// Bytes as text in base64 (RFC 4648, 4).
public enum Base64 {
    /// Returns the bytes of `text`. Accepts the alphabet for URLs (RFC 4648, 5) and missing padding, and skips white
    /// space.
    /// - Returns: nil for other characters, and for an impossible length.
    public static func bytes(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var digits = 0
        var padding = 0
        for character in text {
            let value: UInt8
            switch character {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = character - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = character - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = character - UInt8(ascii: "0") + 52
            case UInt8(ascii: "+"), UInt8(ascii: "-"): value = 62
            case UInt8(ascii: "/"), UInt8(ascii: "_"): value = 63
            case UInt8(ascii: "="):
                padding += 1
                continue
            case UInt8(ascii: " "), 0x09...0x0D: continue
            default: return nil
            }
            guard padding == 0 else { return nil }
            bits = bits << 6 | UInt32(value)
            digits = (digits + 1) % 4
            if digits == 0 {
                bytes += [
                    UInt8(truncatingIfNeeded: bits >> 16), UInt8(truncatingIfNeeded: bits >> 8),
                    UInt8(truncatingIfNeeded: bits),
                ]
            }
        }
        switch digits {
        case 0: return padding == 0 ? bytes : nil
        case 2: bytes.append(UInt8(truncatingIfNeeded: bits >> 4))
        case 3: bytes += [UInt8(truncatingIfNeeded: bits >> 10), UInt8(truncatingIfNeeded: bits >> 2)]
        default: return nil
        }
        return padding == 0 || padding == 4 - digits ? bytes : nil
    }

    /// Returns the characters of `bytes`, with padding.
    public static func text(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32((3 - group.count) * 8)
            for digit in 0..<4 {
                let value = Int(truncatingIfNeeded: bits >> UInt32(18 - digit * 6)) & 63
                text.append(digit <= group.count ? alphabet[value] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
