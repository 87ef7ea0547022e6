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

    @Test("the best estimate is the latest of what is known, until a proof decides")
    func estimate() {
        var time = TrustedTime(from: nil, at: after(0))
        func with(clock: Int64?, after milliseconds: Int64 = 1000) -> SystemTime {
            SystemTime(sinceBoot: milliseconds * 1_000_000, boot: "first", clock: clock)
        }
        #expect(time.estimate(at: with(clock: nil)) == nil)
        #expect(time.estimate(at: with(clock: -1)) == nil)
        #expect(time.estimate(at: with(clock: 7_000_000)) == 7_000_000)
        time.reportByServer(8_000_000, at: with(clock: nil))
        time.reportByServer(.max, at: with(clock: nil))
        #expect(time.estimate(at: with(clock: 7_000_000, after: 1500)) == 8_000_500)
        #expect(time.estimate(at: with(clock: 9_000_000)) == 9_000_000)
        // An estimate proves nothing.
        #expect(time.milliseconds(at: after(1500)) == nil && !time.isProved)
        time.proveByServer(5_000_000, at: after(1500))
        #expect(time.estimate(at: with(clock: 9_000_000, after: 1500)) == 5_000_000)
        // After another start the time of the last one is the earliest possible one.
        let next = TrustedTime(from: time.record(at: after(1500)), at: after(10, boot: "second"))
        #expect(next.estimate(at: SystemTime(sinceBoot: 10_000_000, boot: "second", clock: 4_000_000)) == 5_000_000)
        #expect(next.estimate(at: SystemTime(sinceBoot: 10_000_000, boot: "second", clock: 6_000_000)) == 6_000_000)
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

    @Test("after a restart of the system it goes on from the saved time, without the uptime before")
    func systemRestart() {
        let record = TrustedTime.Record(milliseconds: 1_000_000, sinceBoot: 500_000_000, boot: "first")
        let time = TrustedTime(from: record, at: after(30, boot: "second"))
        #expect(time.milliseconds(at: after(40, boot: "second")) == 1_000_010)
        let uptime = 3650 * Self.day
        let copied = TrustedTime(from: record, at: after(uptime, boot: "another machine"))
        #expect(copied.milliseconds(at: after(uptime + 10, boot: "another machine")) == 1_000_010)
        #expect(!copied.isProved)
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
        #expect(time.isProved && time.milliseconds(at: after(60, boot: "second")) == 1_000_030)
        #expect(time.isWorthSaving(after: kept, at: after(60, boot: "second")))
    }

    private static let day: Int64 = 86_400_000

    @Test(
        "one proof counts at once within a day of the known time, and where the earlier estimate is later",
        arguments: [
            // Never proved: any.
            (nil, 1000 * day, 1000 * day),
            // An estimate. The proof outranks it, unless the estimate is far in the future.
            (false, 101 * day, 101 * day), (false, 101 * day + 1, nil), (false, 3750 * day, nil),
            (false, 100 * day - 1, 100 * day - 1), (false, 98 * day, 98 * day), (false, 0, 0),
            // A proved time does not move backwards, and moves by a day at most.
            (true, 101 * day, 101 * day), (true, 101 * day + 1, nil), (true, 99 * day, 100 * day),
            (true, 98 * day, nil),
        ] as [(Bool?, Int64, Int64?)], [true, false])
    func oneProof(_ row: (isProved: Bool?, reported: Int64, expected: Int64?), ofServer: Bool) {
        let record = row.isProved.map {
            TrustedTime.Record(milliseconds: 100 * Self.day, sinceBoot: 0, boot: "first", isProved: $0)
        }
        var time = TrustedTime(from: record, at: after(0))
        let wasProved = time.isProved
        report(row.reported, to: &time, 0, ofServer: ofServer)
        #expect(time.milliseconds(at: after(0)) == row.expected ?? 100 * Self.day)
        #expect(time.isProved == (row.expected != nil || wasProved))
    }

    private func report(_ milliseconds: Int64, to time: inout TrustedTime, _ at: Int64, ofServer: Bool) {
        if ofServer {
            time.proveByServer(milliseconds, at: after(at))
        } else {
            time.observe(after(at, synchronised: milliseconds))
        }
    }

    @Test(
        "a far proof counts when a second one agrees: of the other clock, or of the same one after some time",
        arguments: [true, false], [3750 * day, 101 * day + 1])
    func secondProof(isProved: Bool, reported: Int64) {
        let record = TrustedTime.Record(milliseconds: 100 * Self.day, sinceBoot: 0, boot: "first", isProved: isProved)
        let delay = isProved ? 60 * Self.minute : Self.minute
        for (ofServer, second, milliseconds, counts) in [
            (true, 0, reported, false), (true, delay - 1, reported, false), (false, 0, reported, true),
            (true, delay, reported, true), (true, delay, reported + 2 * 60 * Self.minute, false),
            (false, 0, reported + 2 * 60 * Self.minute, false),
        ] as [(Bool, Int64, Int64, Bool)] {
            for isSwapped in [false, true] {
                var time = TrustedTime(from: record, at: after(0))
                report(reported, to: &time, 0, ofServer: !isSwapped)
                report(milliseconds + second, to: &time, second, ofServer: ofServer != isSwapped)
                #expect(
                    time.milliseconds(at: after(second)) == (counts ? reported : 100 * Self.day) + second,
                    "\(ofServer) after \(second)")
                #expect(time.isProved == (isProved || counts))
            }
        }
    }

    @Test("a proof of the known time refutes a claim")
    func refuted() {
        var time = TrustedTime(from: nil, at: after(0))
        time.proveByServer(100 * Self.day, at: after(0))
        let hour = 60 * Self.minute
        time.proveByServer(3750 * Self.day, at: after(0))
        time.proveByServer(100 * Self.day, at: after(0))
        time.proveByServer(3750 * Self.day + hour, at: after(hour))
        #expect(time.milliseconds(at: after(hour)) == 100 * Self.day + hour)
    }

    @Test("a time that two wrong proofs have moved ten years ahead comes back in the same way")
    func wayBack() {
        var time = TrustedTime(from: nil, at: after(0))
        time.observe(after(0, synchronised: 3750 * Self.day))
        time.observe(after(10, synchronised: 100 * Self.day))
        #expect(time.milliseconds(at: after(10)) == 3750 * Self.day + 10)
        time.proveByServer(100 * Self.day, at: after(10))
        #expect(time.milliseconds(at: after(10)) == 100 * Self.day && time.isProved)
        #expect(
            time.isWorthSaving(
                after: TrustedTime.Record(milliseconds: 3750 * Self.day, sinceBoot: 0, boot: "first"), at: after(10)))
    }

    @Test("a record that claims to come from the future of this start is not counted back")
    func recordFromFuture() {
        let record = TrustedTime.Record(milliseconds: 1_000_000, sinceBoot: 500_000_000, boot: "first")
        #expect(TrustedTime(from: record, at: after(10)).milliseconds(at: after(20)) == 1_000_010)
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
        #expect(reading.milliseconds == 8_200_000 && !reading.isProved)
        #expect(reading.sinceBoot == 7_000_000 && reading.boot == "second")
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
