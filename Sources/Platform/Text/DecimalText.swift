import CLinux

// Embedded Swift prints a Double badly and needs a symbol of the host's runtime to parse one. The C library does both;
// the shims make sure that the decimal separator is a point in every locale.

extension Double {
    /// Returns the number with `decimals` digits after the point, from 0 to 20, rounded to nearest:
    /// `(-6.0206).fixed(2)` is `-6.02`. Other values are `inf`, `-inf` or `nan`.
    public func fixed(_ decimals: Int) -> String {
        // At most 309 digits before the point, a sign, the point and a NUL.
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 332) { buffer in
            let length = tonearm_format_fixed(
                buffer.baseAddress, buffer.count, self, Int32(min(max(decimals, 0), 20)))
            return String(decoding: UnsafeRawBufferPointer(buffer)[..<Int(length)], as: UTF8.self)
        }
    }

    /// Parses the number in `text`: digits with an optional sign, fraction and exponent. Returns nil for other text
    /// (blanks, `nan`, hexadecimal digits, an empty one) and for a number that is too large for a Double.
    public init?(decimal text: String) {
        var rest = Substring(text).utf8
        func skipDigits() -> Int {
            let count = rest.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }.count
            rest = rest.dropFirst(count)
            return count
        }
        func skip(_ characters: UInt8...) -> Bool {
            guard let first = rest.first, characters.contains(first) else { return false }
            rest = rest.dropFirst()
            return true
        }
        _ = skip(UInt8(ascii: "+"), UInt8(ascii: "-"))
        var digits = skipDigits()
        if skip(UInt8(ascii: ".")) { digits += skipDigits() }
        guard digits > 0 else { return nil }
        if skip(UInt8(ascii: "e"), UInt8(ascii: "E")) {
            _ = skip(UInt8(ascii: "+"), UInt8(ascii: "-"))
            guard skipDigits() > 0 else { return nil }
        }
        guard rest.isEmpty else { return nil }
        let value = tonearm_parse_double(text, nil)
        guard value.isFinite else { return nil }
        self = value
    }
}
