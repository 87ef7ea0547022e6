import CLinux

// Embedded Swift prints a Double badly and needs a symbol of the host's runtime to parse one. The C library does both;
// the shims see to it that the decimal point is a point in every locale.

extension Double {
    /// The number with `decimals` digits behind the point, from 0 to 20, rounded to nearest: `(-6.0206).fixed(2)` is
    /// `-6.02`. What is not finite is `inf`, `-inf` or `nan`.
    public func fixed(_ decimals: Int) -> String {
        // 309 digits in front of the point at most, a sign, the point and a NUL.
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 332) { buffer in
            let length = tonearm_format_fixed(
                buffer.baseAddress, buffer.count, self, Int32(min(max(decimals, 0), 20)))
            return String(decoding: UnsafeRawBufferPointer(buffer)[..<Int(length)], as: UTF8.self)
        }
    }

    /// The number that all of `text` stands for: digits with an optional sign, fraction and exponent. nil for anything
    /// else (blanks, `nan`, hexadecimal digits, nothing) and for what is too large for a Double.
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
