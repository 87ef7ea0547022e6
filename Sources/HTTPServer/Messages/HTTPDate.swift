import CLinux

/// Times in headers (RFC 9110, 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`, in seconds since 1970.
package enum HTTPDate {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    package static func text(_ seconds: Int64) -> String {
        var time = time_t(seconds)
        var fields = tm()
        gmtime_r(&time, &fields)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(days[Int(fields.tm_wday)]), \(two(fields.tm_mday)) \(months[Int(fields.tm_mon)]) "
            + "\(fields.tm_year + 1900) \(two(fields.tm_hour)):\(two(fields.tm_min)):\(two(fields.tm_sec)) GMT"
    }

    /// Returns nil for other forms.
    package static func seconds(_ text: String) -> Int64? {
        let words = text.utf8.split(separator: UInt8(ascii: " "))
        guard words.count == 6, words[5].elementsEqual("GMT".utf8), let day = Int32(Substring(words[1])),
            (1...31).contains(day), let month = months.firstIndex(where: { $0.utf8.elementsEqual(words[2]) }),
            let year = Int32(Substring(words[3])), (1900...9999).contains(year)
        else { return nil }
        let clock = words[4].split(separator: UInt8(ascii: ":")).compactMap { Int32(Substring($0)) }
        guard clock.count == 3, (0...23).contains(clock[0]), (0...59).contains(clock[1]), (0...60).contains(clock[2])
        else { return nil }
        var fields = tm()
        (fields.tm_mday, fields.tm_mon, fields.tm_year) = (day, Int32(month), year - 1900)
        (fields.tm_hour, fields.tm_min, fields.tm_sec) = (clock[0], clock[1], clock[2])
        return Int64(timegm(&fields))
    }
}
