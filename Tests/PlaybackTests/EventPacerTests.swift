import Testing

@testable import Playback
@testable import Player

@Suite("How soon control looks for events of the audio thread")
struct EventPacerTests {
    /// The times of the first six looks in milliseconds, when there is never an event.
    private func looks(remaining: Double?) -> [Int64] {
        var pacer = EventPacer()
        return (0..<6).map { _ in
            defer { pacer.slowDown() }
            return pacer.next(remaining: remaining) / 1_000_000
        }
    }

    @Test(
        "The time doubles: up to 250 ms in the middle of a product, up to 100 ms near its end or without one",
        arguments: [
            (nil, [20, 40, 80, 100, 100, 100]),
            (100, [20, 40, 80, 160, 250, 250]),
            (0.5, [20, 40, 80, 160, 250, 250]),
            // The published position may be 250 ms old, so the check comes at the end of the product at the latest.
            (0.4, [20, 40, 80, 150, 150, 150]),
            (0.35, [20, 40, 80, 100, 100, 100]),
            (0, [20, 40, 80, 100, 100, 100]),
            (-1, [20, 40, 80, 100, 100, 100]),
            (.infinity, [20, 40, 80, 160, 250, 250]),
            (.nan, [20, 40, 80, 100, 100, 100]),
        ] as [(Double?, [Int64])])
    func table(remaining: Double?, expected: [Int64]) {
        #expect(looks(remaining: remaining) == expected)
    }

    @Test("After an event it is quick again")
    func event() {
        var pacer = EventPacer()
        for _ in 0..<5 { pacer.slowDown() }
        #expect(pacer.isSlow)
        pacer.hurry()
        #expect(!pacer.isSlow)
        #expect(pacer.next(remaining: 100) == 20_000_000)
    }
}
