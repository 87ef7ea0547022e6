import Testing
import TestSupport
@testable import Platform

@Suite("Trusted time (boards have no clock battery)")
struct TrustedTimeTests {
    static let minute: Int64 = 60_000

    /// A reading `milliseconds` after the start of the system.
    func after(_ milliseconds: Int64, boot: String = "first", synchronised: Int64? = nil) -> SystemTime {
        SystemTime(sinceBoot: milliseconds * 1_000_000, boot: boot, synchronised: synchronised)
    }

    @Test("is unknown until it is proved, with any time of the system's clock")
    func unknown() {
        let time = TrustedTime(from: nil, at: after(0))
        #expect(time.milliseconds(at: after(1000)) == nil)
        #expect(time.record(at: after(1000)) == nil)
        #expect(!time.isWorthSaving(after: nil, at: after(1000)))
    }

    @Test("goes on from the last proof")
    func carriedOn() {
        var time = TrustedTime(from: nil, at: after(0))
        time.prove(1_000_000, at: after(500))
        #expect(time.milliseconds(at: after(500)) == 1_000_000)
        #expect(time.milliseconds(at: after(750)) == 1_000_250)
        time.prove(2_000_000, at: after(1000))
        #expect(time.milliseconds(at: after(1001)) == 2_000_001)
    }

    @Test("stands still rather than move backwards, until the later proof has caught up")
    func neverBackwards() {
        var time = TrustedTime(from: nil, at: after(0))
        time.prove(1_000_000, at: after(0))
        time.prove(999_000, at: after(100))
        let readings: [Int64] = [100, 500, 1200, 1201].map { time.milliseconds(at: after($0))! }
        #expect(readings == [1_000_100, 1_000_100, 1_000_100, 1_000_101])
        time.prove(0, at: after(2000))
        #expect(time.milliseconds(at: after(2000)) == 1_000_900)
    }

    @Test(
        "numbers that no clock gives are unknown times",
        arguments: [
            (Int64.max, Int64(0)), (.min, 0), (-1, 0), (0, -1), (0, .min), (253_402_300_800_001, 0),
        ])
    func impossible(milliseconds: Int64, sinceBoot: Int64) {
        let record = TrustedTime.Record(milliseconds: milliseconds, sinceBoot: sinceBoot, boot: "first")
        var time = TrustedTime(from: record, at: after(1000))
        #expect(time.milliseconds(at: after(2000)) == nil)
        #expect(!time.isWorthSaving(after: record, at: after(2000)))
        if sinceBoot == 0 { time.prove(milliseconds, at: after(2000)) }
        #expect(time.milliseconds(at: after(2000)) == nil)
        time.prove(1_000_000, at: after(3000))
        #expect(time.isWorthSaving(after: record, at: after(3000)))
    }

    @Test("takes the system's clock as proof only while it is synchronised")
    func synchronised() {
        var time = TrustedTime(from: nil, at: after(0))
        time.observe(after(0))
        #expect(time.milliseconds(at: after(0)) == nil)
        time.observe(after(10, synchronised: 5_000_000))
        time.observe(after(20))
        #expect(time.milliseconds(at: after(30)) == 5_000_020)
    }

    @Test("after a restart of the process nothing is lost", arguments: [0, 1, 86_400_000] as [Int64])
    func processRestart(pause: Int64) {
        let record = TrustedTime.Record(milliseconds: 1_000_000, sinceBoot: 500_000_000, boot: "first")
        let time = TrustedTime(from: record, at: after(500 + pause))
        #expect(time.milliseconds(at: after(500 + pause)) == 1_000_000 + pause)
    }

    @Test("after a restart of the system it goes on from what was saved, plus the time since the start")
    func systemRestart() {
        let record = TrustedTime.Record(milliseconds: 1_000_000, sinceBoot: 500_000_000, boot: "first")
        let time = TrustedTime(from: record, at: after(30, boot: "second"))
        #expect(time.milliseconds(at: after(40, boot: "second")) == 1_000_040)
    }

    @Test("after a restart of the system the time is the earliest possible one, until it is proved")
    func provedSinceStart() {
        let record = TrustedTime.Record(milliseconds: 1_000_000, sinceBoot: 500_000_000, boot: "first")
        #expect(TrustedTime(from: record, at: after(500)).isProved)
        var time = TrustedTime(from: record, at: after(30, boot: "second"))
        #expect(!time.isProved)
        let kept = time.record(at: after(40, boot: "second"))
        #expect(!TrustedTime(from: kept, at: after(50, boot: "second")).isProved)
        time.prove(900_000, at: after(60, boot: "second"))
        #expect(time.isProved && time.milliseconds(at: after(60, boot: "second")) == 1_000_060)
        #expect(time.isWorthSaving(after: kept, at: after(60, boot: "second")))
    }

    private static let day: Int64 = 86_400_000

    @Test(
        "a server proves an unknown time, and moves a known one by a day at most",
        arguments: [
            // Never proved: any.
            (nil, 1000 * day, 1000 * day),
            // Proved before the power was off: any later one.
            (false, 1000 * day, 1000 * day), (false, 99 * day + 1, 100 * day), (false, 98 * day, nil),
            (true, 101 * day, 101 * day), (true, 101 * day + 1, nil), (true, 99 * day, 100 * day),
            (true, 98 * day, nil),
        ] as [(Bool?, Int64, Int64?)])
    func server(isProved: Bool?, reported: Int64, expected: Int64?) {
        let record = isProved.map {
            TrustedTime.Record(milliseconds: 100 * Self.day, sinceBoot: 0, boot: "first", isProved: $0)
        }
        var time = TrustedTime(from: record, at: after(0))
        let before = time
        time.proveByServer(reported, at: after(0))
        if let expected {
            #expect(time.isProved && time.milliseconds(at: after(0)) == expected)
        } else {
            #expect(time == before)
        }
    }

    @Test("a record that claims to come from the future of this start is not counted back")
    func recordFromFuture() {
        let record = TrustedTime.Record(milliseconds: 1_000_000, sinceBoot: 500_000_000, boot: "first")
        #expect(TrustedTime(from: record, at: after(10)).milliseconds(at: after(10)) == 1_000_010)
    }

    @Test(
        "is saved at a jump, each hour, and at a new start of the system",
        arguments: [
            (after: 0, proof: nil, boot: "first", worth: false),
            (after: 59, proof: nil, boot: "first", worth: false),
            (after: 60, proof: nil, boot: "first", worth: true),
            (after: 1, proof: 1, boot: "first", worth: false),
            (after: 1, proof: 2, boot: "first", worth: true),
            (after: 0, proof: nil, boot: "second", worth: true),
        ] as [(after: Int64, proof: Int64?, boot: String, worth: Bool)])
    func saving(minutes: Int64, proof: Int64?, boot: String, worth: Bool) {
        let saved = TrustedTime.Record(milliseconds: 0, sinceBoot: 0, boot: "first")
        let now = after(minutes * Self.minute, boot: boot)
        var time = TrustedTime(from: saved, at: now)
        if let proof { time.prove(proof * Self.minute, at: now) }
        #expect(time.isWorthSaving(after: saved, at: now) == worth)
    }
}

@Suite("Trusted clock")
struct TrustedClockTests {
    // @unchecked: used on the test's thread alone.
    final class Store: TrustedTimeStore, @unchecked Sendable {
        var saved: [TrustedTime.Record] = []
        func load() -> TrustedTime.Record? { saved.last }
        func save(_ record: TrustedTime.Record) { saved.append(record) }
    }

    // @unchecked: used on the test's thread alone.
    final class Source: SystemTimeSource, @unchecked Sendable {
        var time = SystemTime(sinceBoot: 0, boot: "first")
        func read() -> SystemTime { time }
    }

    @Test("saves what was proved at once, then each hour; a restarted board knows at least that")
    func saves() {
        let store = Store()
        let source = Source()
        let clock = TrustedClock(store: store, source: source)
        #expect(clock.read().milliseconds == nil)
        clock.proveByServer(1_000_000)
        #expect(store.saved.map(\.milliseconds) == [1_000_000])
        for _ in 0..<120 {
            source.time.sinceBoot += 60_000_000_000
            _ = clock.read()
        }
        #expect(store.saved.map(\.milliseconds) == [1_000_000, 4_600_000, 8_200_000])
        source.time = SystemTime(sinceBoot: 7_000_000, boot: "second")
        let reading = TrustedClock(store: store, source: source).read()
        #expect(reading.milliseconds == 8_200_007 && !reading.isProved)
    }

    @Test("the kernel's clocks go forward and know their boot")
    func kernel() {
        let source = KernelTimeSource()
        let readings = [source.read(), source.read(), KernelTimeSource().read()]
        #expect(readings.map(\.sinceBoot) == readings.map(\.sinceBoot).sorted())
        #expect(Set(readings.map(\.boot)).count == 1)
        #expect(readings[0].boot.utf8.count == 36)
    }
}
