import Platform

// Lines of answers, as bytes: an answer has many, and each text would be an allocation.

extension [UInt8] {
    /// Adds `Key: `.
    mutating func key(_ key: StaticString) {
        key.withUTF8Buffer { append(contentsOf: $0) }
        append(UInt8(ascii: ":"))
        append(UInt8(ascii: " "))
    }

    mutating func endLine() { append(UInt8(ascii: "\n")) }

    /// Adds a line. Line ends in the value become blanks.
    mutating func line(_ key: StaticString, _ value: some Sequence<UInt8>) {
        self.key(key)
        for byte in value { append(byte == 0x0A || byte == 0x0D || byte == 0 ? UInt8(ascii: " ") : byte) }
        endLine()
    }

    mutating func line(_ key: StaticString, _ value: Int64) {
        self.key(key)
        number(value)
        endLine()
    }

    /// Adds a number.
    /// - Parameter digits: the least number of digits.
    mutating func number(_ value: Int64, digits: Int = 1) {
        if value < 0 { append(UInt8(ascii: "-")) }
        var rest = value.magnitude
        let start = count
        repeat {
            append(0x30 + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0 || count - start < digits
        self[start...].reverse()
    }

    /// Adds seconds with three decimals.
    mutating func seconds(milliseconds: Int64) {
        number(milliseconds / 1000)
        append(UInt8(ascii: "."))
        number(milliseconds % 1000, digits: 3)
    }

    /// Adds the line `Last-Modified: 2026-11-26T09:45:29Z`.
    /// - Parameter seconds: since 1970.
    mutating func lastModified(_ seconds: Int64) {
        key("Last-Modified")
        append(contentsOf: CalendarTime.date(seconds).utf8)
        let time = Swift.max(seconds, 0) % 86_400
        append(UInt8(ascii: "T"))
        number(time / 3600, digits: 2)
        append(UInt8(ascii: ":"))
        number(time / 60 % 60, digits: 2)
        append(UInt8(ascii: ":"))
        number(time % 60, digits: 2)
        append(UInt8(ascii: "Z"))
        endLine()
    }
}
