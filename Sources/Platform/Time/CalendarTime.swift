/// Dates of the Gregorian calendar, in UTC, as seconds since 1970.
public enum CalendarTime {
    /// Returns nil when there is no such date between 1970 and 9999. Each day has 86,400 seconds: a leap second counts
    /// as the first second of the next minute.
    public static func seconds(
        year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0
    ) -> Int64? {
        guard (1970...9999).contains(year), (1...12).contains(month), (1...length(of: month, year)).contains(day),
            (0..<24).contains(hour), (0..<60).contains(minute), (0...60).contains(second)
        else { return nil }
        return Int64(days(year, month, day)) * 86_400 + Int64((hour * 60 + minute) * 60 + second)
    }

    /// Returns the date of a time: `2026-12-24`. Earlier times than 1970 give 1970-01-01, later ones than 9999 give
    /// 9999-12-31.
    public static func date(_ seconds: Int64) -> String {
        let (year, month, day) = day(of: seconds)
        func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(year)-\(digits(month))-\(digits(day))"
    }

    /// Returns the date of a time as `date` does, in numbers from 1 on.
    public static func day(of seconds: Int64) -> (year: Int, month: Int, day: Int) {
        // The year begins in March here too (see `days`); the count begins 719,468 days before 1970.
        let day = Int(min(max(seconds, 0), 253_402_300_799) / 86_400) + 719_468
        let (era, dayOfEra) = (day / 146_097, day % 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    /// Returns the days since 1970 in the Gregorian calendar. The year begins in March, so that the leap day is its
    /// last one.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }

    private static func length(of month: Int, _ year: Int) -> Int {
        switch month {
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
