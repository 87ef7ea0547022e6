/// Dates in tags, as people and programs write them.
enum TagDate {
    /// `2004`, `2004-05` or `2004-05-31`. The text begins with a year, a month and a day in this order, or contains a
    /// year. nil without a year from 1000 to 2999.
    static func normalised(_ text: String) -> String? {
        let bytes = Array(text.utf8.drop(while: TagText.isBlank))
        let digits = bytes.prefix(while: isDigit)
        if digits.count == 8, let date = date(digits.prefix(4), digits.dropFirst(4).prefix(2), digits.suffix(2)) {
            return date
        }
        if digits.count == 4 {
            let (month, afterMonth) = part(of: bytes, from: 4)
            let (day, _) = part(of: bytes, from: afterMonth)
            if let date = date(digits, month, day) { return date }
        }
        // `31.5.2004`, `May 2004`.
        return bytes.split { !isDigit($0) }.lazy.compactMap { date($0, [], []) }.first
    }

    /// The date of a year, and a text with the day and the month.
    /// - Returns: nil when one of them is something else.
    static func date(_ year: String, _ dayAndMonth: String) -> String? {
        let digits = Array(dayAndMonth.utf8)
        guard year.utf8.count == 4, digits.count == 4, digits.allSatisfy(isDigit),
            let date = date(Array(year.utf8)[...], digits[2...], digits[..<2]), date.utf8.count == 10
        else { return nil }
        return date
    }

    /// One or two digits after a separator, and where they end.
    private static func part(of bytes: [UInt8], from start: Int) -> (digits: ArraySlice<UInt8>, end: Int) {
        guard start < bytes.count, [0x2D, 0x2E, 0x2F].contains(bytes[start]) else { return ([], start) }
        let digits = bytes[(start + 1)...].prefix(while: isDigit)
        return digits.count <= 2 ? (digits, digits.endIndex) : ([], start)
    }

    private static func date(
        _ year: ArraySlice<UInt8>, _ month: ArraySlice<UInt8>, _ day: ArraySlice<UInt8>
    ) -> String? {
        guard year.count == 4, 1000..<3000 ~= value(year) else { return nil }
        var date = Array(year)
        guard 1...12 ~= value(month) else { return String(decoding: date, as: UTF8.self) }
        date += twoDigits(value(month))
        if 1...31 ~= value(day) { date += twoDigits(value(day)) }
        return String(decoding: date, as: UTF8.self)
    }

    private static func twoDigits(_ value: Int) -> [UInt8] {
        [0x2D, 0x30 + UInt8(value / 10), 0x30 + UInt8(value % 10)]
    }

    private static func value(_ digits: ArraySlice<UInt8>) -> Int { digits.reduce(0) { $0 * 10 + Int($1 - 0x30) } }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
