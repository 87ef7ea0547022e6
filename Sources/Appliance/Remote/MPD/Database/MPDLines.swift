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
    mutating func line(_ key: StaticString, _ value: some Collection<UInt8>) {
        self.key(key)
        let start = count
        append(contentsOf: value)
        withUnsafeMutableBufferPointer { bytes in
            for place in start..<bytes.count {
                let byte = bytes[place]
                bytes[place] = byte == 0x0A || byte == 0x0D || byte == 0 ? UInt8(ascii: " ") : byte
            }
        }
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
        var (rest, length) = (value.magnitude / 10, 1)
        while rest > 0 {
            rest /= 10
            length += 1
        }
        append(contentsOf: repeatElement(0x30, count: Swift.max(length, digits)))
        rest = value.magnitude
        for place in 1...length {
            self[count - place] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
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
        let date = CalendarTime.day(of: seconds)
        number(Int64(date.year))
        append(UInt8(ascii: "-"))
        number(Int64(date.month), digits: 2)
        append(UInt8(ascii: "-"))
        number(Int64(date.day), digits: 2)
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
