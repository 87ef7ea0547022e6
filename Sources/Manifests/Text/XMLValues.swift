import Media
import Platform

/// The values of attributes in a manifest (XML Schema, part 2).
enum XMLValue {
    /// A whole number from 0 on; nil for other text and beyond `largest`.
    static func integer(_ text: String, upTo largest: Int64 = 1 << 53) -> Int64? {
        var value: Int64 = 0
        var digits = 0
        for byte in text.utf8 where byte != 0x20 {
            guard (0x30...0x39).contains(byte), value <= largest / 10 else { return nil }
            value = value * 10 + Int64(byte - 0x30)
            digits += 1
        }
        return digits > 0 && value <= largest ? value : nil
    }

    /// A duration like `PT1H2M3.5S`, in seconds. A year counts as 365 days, a month as 30.
    /// - Returns: nil for other text, also for a negative duration.
    static func duration(_ text: String) -> Double? {
        var rest = Array(TagText.trimmed(Array(text.utf8.drop { TagText.isBlank($0) })))[...]
        guard rest.popFirst() == UInt8(ascii: "P") else { return nil }
        var seconds = 0.0
        var isTime = false
        var hasPart = false
        while let next = rest.first {
            if next == UInt8(ascii: "T"), !isTime {
                isTime = true
                rest = rest.dropFirst()
                continue
            }
            let digits = rest.prefix { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
            rest = rest.dropFirst(digits.count)
            guard let unit = rest.popFirst(), let factor = factor(unit, isTime: isTime), digits.count <= 20,
                let number = Double(decimal: String(decoding: digits, as: UTF8.self))
            else { return nil }
            seconds += number * factor
            hasPart = true
        }
        return hasPart && seconds < 1e12 ? seconds : nil
    }

    /// The unit of the last digit of a duration, in seconds: 0.001 of `PT1.250S`.
    static func unit(ofDuration text: String) -> Double {
        guard let point = text.utf8.lastIndex(of: UInt8(ascii: ".")) else { return 1 }
        let digits = text.utf8[point...].dropFirst().prefix { (0x30...0x39).contains($0) }
        return digits.reduce(1) { unit, _ in unit / 10 }
    }

    private static func factor(_ unit: UInt8, isTime: Bool) -> Double? {
        switch (unit, isTime) {
        case (UInt8(ascii: "Y"), false): 365 * 86_400
        case (UInt8(ascii: "M"), false): 30 * 86_400
        case (UInt8(ascii: "D"), false): 86_400
        case (UInt8(ascii: "H"), true): 3600
        case (UInt8(ascii: "M"), true): 60
        case (UInt8(ascii: "S"), true): 1
        default: nil
        }
    }

    /// A moment like `2026-11-22T06:08:20.5Z`, in seconds since 1970. Without a zone it is UTC.
    static func moment(_ text: String) -> Double? {
        var rest = Array(TagText.trimmed(Array(text.utf8.drop { TagText.isBlank($0) })))[...]
        func number(_ digits: Int, _ range: ClosedRange<Int>) -> Int? {
            guard rest.count >= digits, let value = integer(String(decoding: rest.prefix(digits), as: UTF8.self)),
                range ~= Int(value)
            else { return nil }
            rest = rest.dropFirst(digits)
            return Int(value)
        }
        func skip(_ character: UInt8) -> Bool {
            guard rest.first == character else { return false }
            rest = rest.dropFirst()
            return true
        }
        guard let year = number(4, 1...9999), skip(UInt8(ascii: "-")), let month = number(2, 1...12),
            skip(UInt8(ascii: "-")), let day = number(2, 1...31), skip(UInt8(ascii: "T")),
            let hour = number(2, 0...24), skip(UInt8(ascii: ":")), let minute = number(2, 0...59),
            skip(UInt8(ascii: ":")), let second = number(2, 0...60)
        else { return nil }
        var seconds = Double(days(year, month, day)) * 86_400 + Double(hour * 3600 + minute * 60 + second)
        if skip(UInt8(ascii: ".")) {
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            rest = rest.dropFirst(digits.count)
            guard !digits.isEmpty, let fraction = Double(decimal: "0." + String(decoding: digits, as: UTF8.self)) else {
                return nil
            }
            seconds += fraction
        }
        if rest.isEmpty || skip(UInt8(ascii: "Z")) { return rest.isEmpty ? seconds : nil }
        let isWest = rest.first == UInt8(ascii: "-")
        guard isWest || rest.first == UInt8(ascii: "+") else { return nil }
        rest = rest.dropFirst()
        guard let hours = number(2, 0...14), skip(UInt8(ascii: ":")), let minutes = number(2, 0...59), rest.isEmpty
        else { return nil }
        return seconds - Double((isWest ? -1 : 1) * (hours * 3600 + minutes * 60))
    }

    /// Days since 1970-01-01 of a date of the Gregorian calendar.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        // Years begin in March, so that the leap day is the last one.
        let shifted = month > 2 ? year : year - 1
        let months = (month + 9) % 12
        let dayOfYear = (153 * months + 2) / 5 + day - 1
        return 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }

    /// A range of bytes, first and last one: `0-499`.
    static func byteRange(_ text: String) -> Range<Int64>? {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 2, let first = integer(String(decoding: Array(parts[0]), as: UTF8.self)),
            let last = integer(String(decoding: Array(parts[1]), as: UTF8.self)), first <= last
        else { return nil }
        return first..<(last + 1)
    }

    /// A UUID, or 32 hexadecimal digits.
    static func keyID(_ text: String) -> [UInt8]? {
        let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
        guard digits.count == 32 else { return nil }
        return Hexadecimal.bytes(String(decoding: digits, as: UTF8.self))
    }
}
