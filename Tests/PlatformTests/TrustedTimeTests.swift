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
    final class Store: TrustedTimeStore {
        var saved: [TrustedTime.Record] = []
        func load() -> TrustedTime.Record? { saved.last }
        func save(_ record: TrustedTime.Record) { saved.append(record) }
    }

    final class Source: SystemTimeSource {
        var time = SystemTime(sinceBoot: 0, boot: "first")
        func read() -> SystemTime { time }
    }

    @Test("saves what was proved at once, then each hour; a restarted board knows at least that")
    func saves() {
        let store = Store()
        let source = Source()
        let clock = TrustedClock(store: store, source: source)
        #expect(clock.milliseconds() == nil)
        clock.prove(1_000_000)
        #expect(store.saved.map(\.milliseconds) == [1_000_000])
        for _ in 0..<120 {
            source.time.sinceBoot += 60_000_000_000
            _ = clock.milliseconds()
        }
        #expect(store.saved.map(\.milliseconds) == [1_000_000, 4_600_000, 8_200_000])
        source.time = SystemTime(sinceBoot: 7_000_000, boot: "second")
        #expect(TrustedClock(store: store, source: source).milliseconds() == 8_200_007)
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
