/// Numbers in tags, as people and programs write them.
package enum TagNumber {
    /// The 3 of "3/12", "03" or "3": from 1 to 99,999.
    package static func ordinal(_ text: String) -> Int? {
        var value = 0
        var digits = 0
        for byte in text.utf8.drop(while: TagText.isBlank) {
            guard isDigit(byte), digits < 5 else {
                if isDigit(byte) { return nil }
                break
            }
            value = value * 10 + Int(byte - 0x30)
            digits += 1
        }
        return value > 0 ? value : nil
    }

    /// The -7.3 of "-7.30 dB", "-7,30dB" or "-7.3".
    /// - Returns: nil for anything else, like "nan", "1e3" or "1.2.3".
    package static func decimal(_ text: String) -> Double? {
        var bytes = Array(TagText.trimmed(Array(text.utf8.drop(while: TagText.isBlank))))
        if bytes.count > 2, bytes[bytes.count - 2] | 0x20 == 0x64, bytes[bytes.count - 1] | 0x20 == 0x62 {
            bytes = Array(TagText.trimmed(bytes.dropLast(2)))
        }
        var isNegative = false
        if let sign = bytes.first, sign == 0x2D || sign == 0x2B {
            isNegative = sign == 0x2D
            bytes.removeFirst()
        }
        // Both stay exact in a Double, so that the division rounds once. Digits beyond 14 significant ones, and beyond
        // 18 after the point, are ignored.
        var mantissa: Int64 = 0
        var scale: Int64 = 1
        var isFraction = false
        var hasDigits = false
        for byte in bytes {
            if isDigit(byte) {
                hasDigits = true
                if isFraction && scale == 1_000_000_000_000_000_000 { continue }
                if mantissa < 100_000_000_000_000 {
                    mantissa = mantissa * 10 + Int64(byte - 0x30)
                    if isFraction { scale *= 10 }
                } else if !isFraction {
                    return nil
                }
            } else if (byte == 0x2E || byte == 0x2C) && !isFraction {
                isFraction = true
            } else {
                return nil
            }
        }
        guard hasDigits else { return nil }
        let value = Double(mantissa) / Double(scale)
        return isNegative ? -value : value
    }

    /// A whole number with an optional sign.
    package static func integer(_ text: String) -> Int? {
        guard let value = decimal(text), abs(value) < 1e9, value == Double(Int(value)) else { return nil }
        return Int(value)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
