import Appliance
import Platform

/// The time in `modified-since`: ISO 8601, or seconds since 1970.
enum MPDTimeStamp {
    /// Returns seconds since 1970.
    static func seconds(_ text: String) throws(MPDFailure) -> Int64 {
        let bytes = Array(text.utf8)
        if let date = try date(bytes) { return date }
        guard !bytes.isEmpty, bytes.count <= 18, bytes.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw MPDFailure(.argument, "Failed to parse date")
        }
        return bytes.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    /// Returns nil when the text is not a date.
    private static func date(_ bytes: [UInt8]) throws(MPDFailure) -> Int64? {
        var rest = bytes[...]
        func take(_ count: Int) -> Int? {
            let digits = rest.prefix(count)
            guard digits.count == count, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            rest.removeFirst(count)
            return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }
        func take(_ letter: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: letter) else { return false }
            rest.removeFirst()
            return true
        }
        let isSpaced = bytes.dropFirst(4).first == UInt8(ascii: "-")
        if !isSpaced, bytes.count != 8, bytes.dropFirst(8).first != UInt8(ascii: "T") { return nil }
        guard let year = take(4), !isSpaced || take("-"), let month = take(2), !isSpaced || take("-"), let day = take(2)
        else { return nil }
        var (hour, minute, second) = (0, 0, 0)
        if take("T") {
            guard let hours = take(2) else { throw MPDFailure(.argument, "Failed to parse time of day") }
            hour = hours
            _ = take(":")
            minute = take(2) ?? 0
            _ = take(":")
            second = take(2) ?? 0
        }
        var offset: Int64 = 0
        if !take("Z"), rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") {
            let sign: Int64 = rest.removeFirst() == UInt8(ascii: "+") ? 1 : -1
            guard let hours = take(2) else { throw MPDFailure(.argument, "Failed to parse time zone offset") }
            _ = take(":")
            offset = sign * Int64(hours * 60 + (take(2) ?? 0)) * 60
        }
        if !rest.isEmpty { throw MPDFailure(.argument, "Garbage at end of time stamp") }
        guard
            let seconds = CalendarTime.seconds(
                year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        else { return nil }
        return seconds - offset
    }
}
