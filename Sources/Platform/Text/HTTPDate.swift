import CLinux

/// Dates of HTTP (RFC 9110, 5.6.7), as seconds since 1970 and as text. All three forms are in UTC.
///
///     HTTPDate.text(784_111_777)      // Sun, 06 Nov 1994 08:49:37 GMT
package enum HTTPDate {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Returns the form that is sent.
    package static func text(_ seconds: Int64) -> String {
        var time = time_t(seconds)
        var fields = tm()
        gmtime_r(&time, &fields)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(days[Int(fields.tm_wday)]), \(two(fields.tm_mday)) \(months[Int(fields.tm_mon)]) "
            + "\(fields.tm_year + 1900) \(two(fields.tm_hour)):\(two(fields.tm_min)):\(two(fields.tm_sec)) GMT"
    }

    /// Returns seconds since 1970; nil when `text` is not a date between 1970 and 9999. The name of the day is ignored.
    /// - Parameter now: the present time, which determines the century of a year with two digits: the latest one that
    ///   is not more than 50 years in the future.
    package static func seconds(of text: String, now: Int64) -> Int64? {
        let words = text.utf8.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "-") }
        switch words.count {
        // Sun, 06 Nov 1994 08:49:37 GMT, and Sunday, 06-Nov-94 08:49:37 GMT
        case 6:
            guard words[5].elementsEqual("GMT".utf8), let day = number(words[1], digits: 2) else { return nil }
            let year = number(words[3], digits: 4) ?? number(words[3], digits: 2).map { fullYear($0, now: now) }
            return seconds(year: year, month: month(words[2]), day: day, time: words[4])
        // Sun Nov  6 08:49:37 1994
        case 5:
            guard let day = number(words[2], digits: 2) ?? number(words[2], digits: 1) else { return nil }
            return seconds(year: number(words[4], digits: 4), month: month(words[1]), day: day, time: words[3])
        default: return nil
        }
    }

    private static func seconds(year: Int?, month: Int?, day: Int, time: Substring.UTF8View) -> Int64? {
        let parts = time.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard let year, let month, parts.count == 3, let hour = number(parts[0], digits: 2),
            let minute = number(parts[1], digits: 2), let second = number(parts[2], digits: 2)
        else { return nil }
        return CalendarTime.seconds(
            year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    }

    private static func fullYear(_ year: Int, now: Int64) -> Int {
        // Uses mean years: the limit of 50 years need not be exact to the day.
        let present = 1970 + Int(clamping: min(max(now, 0), 253_402_300_799) / 31_556_952)
        var full = present - present % 100 + year
        if full > present + 50 { full -= 100 }
        if full + 100 <= present + 50 { full += 100 }
        return full
    }

    private static func month(_ word: Substring.UTF8View) -> Int? {
        months.firstIndex { $0.utf8.elementsEqual(word) }.map { $0 + 1 }
    }

    /// Returns a number of exactly `digits` digits.
    private static func number(_ word: Substring.UTF8View, digits: Int) -> Int? {
        guard word.count == digits else { return nil }
        var value = 0
        for byte in word {
            guard let digit = byte.digit else { return nil }
            value = value * 10 + digit
        }
        return value
    }
}
