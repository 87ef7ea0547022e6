import Foundation
import Platform
import Testing

@Suite("Dates of times")
struct CalendarTimeTests {
    @Test("Every day from 1970 to 2400 has its date, and its first second back")
    func days() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        for day in stride(from: Int64(0), to: 157_000, by: 1) {
            let parts = calendar.dateComponents(
                [.year, .month, .day], from: Date(timeIntervalSince1970: Double(day * 86_400)))
            let (year, month, number) = (parts.year ?? 0, parts.month ?? 0, parts.day ?? 0)
            try #require(CalendarTime.seconds(year: year, month: month, day: number) == day * 86_400)
            try #require(
                CalendarTime.date(day * 86_400 + 86_399) == String(format: "%d-%02d-%02d", year, month, number))
        }
    }

    @Test("Times without a date have the nearest one", arguments: [(-1, "1970-01-01"), (Int64.max, "9999-12-31")])
    func far(_ seconds: Int64, _ date: String) { #expect(CalendarTime.date(seconds) == date) }
}
