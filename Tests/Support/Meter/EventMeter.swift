import CLinux
import Database
import Events
import Platform

/// The cost of an outbox with many waiting events. `Meter events FOLDER COUNT fill` makes the outbox.
/// `Meter events FOLDER COUNT` prints three numbers. The first is the milliseconds until the first batch of a start is
/// read. The second is the milliseconds of a new event without its write. The third is the growth of the process in
/// kilobytes, with the first batch and one new event.
enum EventMeter {
    static func run(_ words: [String]) {
        guard words.count >= 2, let count = Int(words[1]) else { Meter.fail("usage: Meter events FOLDER COUNT [fill]") }
        do {
            let path = "\(words[0])/events.db"
            if words.count > 2 { return try fill(path, count) }
            let before = residentKilobytes()
            let clock = SystemMonotonicClock()
            var began = clock.now()
            let database = try Database(path: path)
            try database.migrate([OutboxRows.schema])
            let rows = OutboxRows(database)
            guard try rows.openSessions().isEmpty, try rows.counts().waiting == Int64(count),
                try rows.oldest(10).count == 10
            else { exit(3) }
            let start = clock.now() - began
            try database.transaction { () throws(DatabaseError) in try rows.add(event(count), body, limit: .max) }
            let growth = residentKilobytes() - before
            let news = 1000
            try database.transaction { () throws(DatabaseError) in
                began = clock.now()
                for number in 1...news { try rows.add(event(count + number), body, limit: .max) }
                print(Double(start) / 1e6, Double(clock.now() - began) / 1e6 / Double(news), growth)
            }
        } catch {
            print(error)
            exit(1)
        }
    }

    private static let body = String(repeating: "x", count: 600)

    private static func event(_ number: Int) -> PlayerEvent {
        PlayerEvent(
            id: "event-\(number)", name: "playback_session", category: number % 3 == 0 ? .playLog : .statistics,
            group: "g", version: 1, time: 0, isTimeEstimated: false, payload: [:], extras: [:])
    }

    private static func fill(_ path: String, _ count: Int) throws(DatabaseError) {
        let database = try Database(path: path)
        try database.migrate([OutboxRows.schema])
        let rows = OutboxRows(database)
        try database.transaction { () throws(DatabaseError) in
            for number in 0..<count { try rows.add(event(number), body, limit: .max) }
        }
    }

    private static func residentKilobytes() -> Int {
        guard let status = try? File.contents(of: "/proc/self/status", limit: 65_536) else { return 0 }
        for line in status.split(separator: UInt8(ascii: "\n")) where line.starts(with: "VmRSS:".utf8) {
            return Int(String(decoding: line, as: UTF8.self).filter { $0.isNumber }) ?? 0
        }
        return 0
    }
}
