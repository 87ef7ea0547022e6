/// Dates of the Gregorian calendar, in UTC, as seconds since 1970.
public enum CalendarTime {
    /// nil when there is no such date between 1970 and 9999. Each day has 86,400 seconds: a leap second counts as the
    /// first second of the next minute.
    public static func seconds(
        year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0
    ) -> Int64? {
        guard (1970...9999).contains(year), (1...12).contains(month), (1...length(of: month, year)).contains(day),
            (0..<24).contains(hour), (0..<60).contains(minute), (0...60).contains(second)
        else { return nil }
        return Int64(days(year, month, day)) * 86_400 + Int64((hour * 60 + minute) * 60 + second)
    }

    /// Days since 1970 in the Gregorian calendar. The year begins in March, so that the leap day is its last one.
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
