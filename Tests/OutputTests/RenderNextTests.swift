import PCM
import Testing

@testable import Output

@Suite("Rendering: what follows is changed")
struct RenderNextTests {
    /// Stream 2 follows stream 1, which has 300 frames.
    private func playing(_ bench: RenderBench, next: PCMFormat = RenderBench.mono, heard: Int) {
        let second = bench.stream(0, format: next, open: true)
        second.write(100)
        second.change(to: RenderBoundaryTests.deep)
        second.write(100)
        second.end()
        let first = bench.stream(300)
        bench.play(first, then: second)
        bench.hear(heard)
    }

    @Test("Replaced before or after it was joined, unheard: the new one follows", arguments: [0, 50, 150, 299, 300])
    func replaced(heard: Int) {
        let bench = RenderBench()
        playing(bench, heard: heard)
        bench.setNext(bench.stream(70))
        #expect(bench.position == .frame(heard, of: 2))
        bench.hear(370 - heard)
        #expect(bench.heard == [frames(0..<300, of: 2), frames(0..<70, of: 3)])
        #expect(bench.events == ["opened 1000/1", "running 1", "heard 3", "ended 3"])
    }

    @Test("Cleared before or after it was joined, unheard: the stream ends", arguments: [0, 50, 150, 299, 300])
    func cleared(heard: Int) {
        let bench = RenderBench()
        playing(bench, heard: heard)
        bench.setNext(nil)
        bench.hear(300 - heard)
        #expect(bench.heard == [frames(0..<300, of: 2)])
        #expect(bench.events == ["opened 1000/1", "running 1", "ended 2"])
    }

    @Test("Removed and set again, it is heard from its first frame on, with any formats")
    func setAgain() {
        let bench = RenderBench()
        let first = bench.stream(150)
        let second = bench.stream(20, open: true)
        second.change(to: RenderBoundaryTests.deep)
        second.write(80)
        second.end()
        bench.play(first, then: second)
        bench.hear(10)
        bench.setNext(nil)
        bench.settle()
        bench.setNext(second)
        bench.hear(240)
        #expect(bench.heard == [frames(0..<150, of: 1), frames(0..<100, of: 2)])
    }

    @Test("Joined and unheard, its formats survive a `hold`")
    func holdWithFormatsInNext() {
        let bench = RenderBench()
        let first = bench.stream(100)
        let second = bench.stream(20, open: true)
        second.change(to: RenderBoundaryTests.deep)
        second.write(80)
        second.end()
        bench.play(first, then: second)
        bench.hear(10)
        bench.hold()
        bench.run(2)
        bench.hear(190)
        #expect(bench.heard == [frames(0..<100, of: 1), frames(0..<100, of: 2)])
        #expect(bench.events.suffix(3) == ["heard 2", "format 2 1000/1/24", "ended 2"])
    }

    @Test(
        "Replaced while the device is open for it and nothing of it was heard",
        arguments: [RenderBoundaryTests.fast, RenderBoundaryTests.wide])
    func replacedAfterReopening(format: PCMFormat) {
        let bench = RenderBench()
        bench.play(bench.stream(100), then: bench.stream(100, format: format))
        bench.hear(100)
        #expect(bench.card.pendingFrames == 100)
        bench.setNext(bench.stream(50))
        bench.hear(50)
        #expect(bench.heard == [frames(0..<100, of: 1), frames(0..<50, of: 3)])
        #expect(bench.events.suffix(2) == ["heard 3", "ended 3"])
        #expect(bench.position == .frame(50, of: 3))
    }

    @Test("Cleared while the device is open for it and nothing of it was heard: the end")
    func clearedAfterReopening() {
        let bench = RenderBench()
        bench.play(bench.stream(100), then: bench.stream(100, format: RenderBoundaryTests.fast))
        bench.hear(100)
        bench.setNext(nil)
        bench.hear(50)
        #expect(bench.heard == [frames(0..<100, of: 1)])
        #expect(bench.events.last == "ended 1")
        #expect(bench.settle() == .command)
    }

    @Test(
        "`begin` lets the next stream be, joined or not", arguments: [RenderBench.mono, RenderBoundaryTests.fast],
        [20, 150, 200])
    func beginKeepsNext(format: PCMFormat, heard: Int) {
        let bench = RenderBench()
        bench.play(bench.stream(200), then: bench.stream(100, format: format))
        bench.hear(heard)
        bench.begin(bench.stream(60))
        bench.hear(160)
        #expect(bench.heard == [frames(0..<heard, of: 1), frames(0..<60, of: 3), frames(0..<100, of: 2)])
        #expect(bench.events.suffix(2) == ["heard 2", "ended 2"])
    }

    @Test(
        "Set while the end is on its way, it follows without a gap or after draining",
        arguments: [RenderBench.mono, RenderBoundaryTests.fast])
    func setWhileDraining(format: PCMFormat) {
        let bench = RenderBench()
        bench.play(bench.stream(300))
        bench.hear(299)
        bench.setNext(bench.stream(100, format: format))
        bench.hear(101)
        #expect(bench.heard == [frames(0..<300, of: 1), frames(0..<100, of: 2)])
        #expect(bench.card.openingCount == (format == RenderBench.mono ? 1 : 2))
        #expect(bench.events.suffix(2) == ["heard 2", "ended 2"])
    }

    @Test("Replaced while the end before another format is on its way")
    func replacedWhileDraining() {
        let bench = RenderBench()
        bench.play(bench.stream(300), then: bench.stream(100, format: RenderBoundaryTests.fast))
        bench.hear(250)
        bench.setNext(bench.stream(100))
        bench.hear(150)
        #expect(bench.heard == [frames(0..<300, of: 1), frames(0..<100, of: 3)])
        #expect(bench.card.openingCount == 1)
    }

    @Test("Replaced at the moment it is heard: the heard one is reported first, and the new one follows it")
    func replacedTooLate() {
        let bench = RenderBench()
        bench.play(bench.stream(100), then: bench.stream(100))
        bench.card.advance(130)
        bench.setNext(bench.stream(50))
        #expect(bench.events.suffix(1) == ["heard 2"])
        #expect(bench.position == .frame(30, of: 2))
        bench.hear(120)
        #expect(bench.heard == [frames(0..<100, of: 1), frames(0..<100, of: 2), frames(0..<50, of: 3)])
    }

    @Test("Held between two formats, what follows can still be replaced")
    func replacedWhileHeld() {
        let bench = RenderBench()
        bench.play(bench.stream(100), then: bench.stream(100, format: RenderBoundaryTests.fast))
        bench.hear(100)
        bench.hold()
        bench.setNext(bench.stream(50, format: RenderBoundaryTests.wide))
        #expect(bench.settle() == .command)
        bench.run(2)
        bench.hear(50)
        #expect(bench.heard == [frames(0..<100, of: 1), frames(0..<50, of: 3)])
        #expect(bench.events.suffix(2) == ["heard 3", "ended 3"])
    }
}
