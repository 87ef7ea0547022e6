import ApplianceTestSupport
import Queue
import Testing

@testable import Appliance

@Suite("When an entry counts as played")
struct HeardTimeTests {
    private static let second: Int64 = 1_000_000_000

    private func decide(
        _ heard: inout HeardTime, _ entry: UInt32? = 1, _ isSounding: Bool = true, _ duration: Double? = 100,
        at seconds: Double
    ) -> HeardTime.Decision {
        heard.update(
            entry.map { EntryID($0) }, isSounding: isSounding, duration: duration, at: Int64(seconds * 1e9))
    }

    private func end(_ heard: inout HeardTime) -> Bool { heard.end() }

    @Test("Half of it, or four minutes of a long one", arguments: [(100, 50), (480, 240), (3600, 240), (1, 0.5)])
    func limits(duration: Double, limit: Double) {
        var heard = HeardTime()
        #expect(decide(&heard, 1, true, duration, at: 10) == .wait(Int64(limit * 1e9)))
        #expect(decide(&heard, 1, true, duration, at: 10 + limit - 0.25) == .wait(Self.second / 4))
        #expect(decide(&heard, 1, true, duration, at: 10 + limit) == .count)
        #expect(decide(&heard, 1, true, duration, at: 1000) == .nothing)
        heard.begin()
        #expect(end(&heard) == false)
    }

    @Test("Only sound counts: pauses do not, and neither does a jump over the music")
    func pauses() {
        var heard = HeardTime()
        #expect(decide(&heard, at: 0) == .wait(50 * Self.second))
        heard.begin()
        #expect(decide(&heard, 1, false, at: 20) == .nothing)
        #expect(decide(&heard, at: 500) == .wait(30 * Self.second))
        // Sought to its end: 20 and 10 s were heard.
        heard.leaveOut()
        #expect(decide(&heard, at: 510) == .wait(20 * Self.second))
        #expect(end(&heard) == false)
        #expect(decide(&heard, 2, at: 510) == .wait(50 * Self.second))
    }

    @Test("An entry that was played from its beginning to its end counts, however fast the device is, and each time")
    func whole() {
        var heard = HeardTime()
        for _ in 0..<2 {
            #expect(decide(&heard, 1, false, nil, at: 0) == .nothing)
            heard.begin()
            #expect(end(&heard) == true)
        }
        // Another one was chosen meanwhile.
        #expect(decide(&heard, 1, at: 1) == .wait(50 * Self.second))
        heard.begin()
        #expect(decide(&heard, 2, at: 2) == .wait(50 * Self.second))
        #expect(end(&heard) == false)
    }

    @Test("An entry whose duration is not known yet waits for it; without an entry nothing counts")
    func unknown() {
        var heard = HeardTime()
        #expect(decide(&heard, 1, true, nil, at: 0) == .wait(240 * Self.second))
        #expect(decide(&heard, 1, true, 10, at: 1) == .wait(4 * Self.second))
        #expect(decide(&heard, 1, true, 10, at: 5) == .count)
        #expect(decide(&heard, nil, false, nil, at: 20) == .nothing)
        #expect(decide(&heard, nil, true, nil, at: 20) == .nothing)
    }

    @Test("A song of 6 s that is heard whole counts once, wherever it is paused and however often", arguments: 1...59)
    func pausedSong(tenth: Int) {
        for pauses in [[tenth], [tenth, min(tenth + 3, 59)], Array(stride(from: tenth, to: 60, by: 7))] {
            // A device in time, and one whose song is over at once.
            for speed in [1.0, 1000.0] {
                var (heard, now, counts, place) = (HeardTime(), 100.0, 0, 0)
                func update(_ isSounding: Bool) {
                    // The owner asks again when the time is over.
                    if decide(&heard, 1, isSounding, 6, at: now) == .count { counts += 1 }
                }
                update(true)
                heard.begin()
                for pause in pauses + [60] {
                    now += Double(pause - place) / 10 / speed
                    place = pause
                    update(false)
                    if pause == 60, heard.end() { counts += 1 }
                    if pause == 60 { break }
                    now += 50
                    update(true)
                }
                #expect(counts == 1, "\(pauses), \(speed)")
            }
        }
    }
}
