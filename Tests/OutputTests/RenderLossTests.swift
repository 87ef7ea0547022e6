import OutputTestSupport
import PCM
import Platform
import Testing

@testable import Output

@Suite("Rendering: the device goes and comes back")
struct RenderLossTests {
    enum Stage: CaseIterable {
        case priming, playing, acrossBoundary, draining, reopened, held, heldAtBoundary
    }

    /// Stream 1 (400 frames) and 2 (100 frames of another format), in `stage` and with the device gone.
    /// - Returns: frames of both heard.
    private func lose(at stage: Stage, _ bench: RenderBench) -> Int {
        let first = bench.stream(400, open: stage == .priming)
        let second = bench.stream(100, format: PCMFormat(sampleRate: 1000, channelCount: 2, bitDepth: 16))
        bench.play(first, then: second)
        let heard: Int
        switch stage {
        case .priming: heard = 0
        case .playing, .held: heard = 137
        case .acrossBoundary: heard = 399
        case .draining: heard = 300
        case .reopened, .heldAtBoundary: heard = 400
        }
        bench.hear(heard)
        if stage == .held || stage == .heldAtBoundary { bench.hold() }
        _ = bench.events
        bench.card.unplug()
        if stage == .held || stage == .heldAtBoundary {
            #expect(bench.settle() == .command)
            #expect(bench.events == [])
            bench.run(1)
        }
        if stage == .priming { first.end() }
        return heard
    }

    @Test(
        "At every stage: the position is kept, one report, a retry each second, and every frame is heard once",
        arguments: Stage.allCases)
    func comesBack(stage: Stage) {
        let bench = RenderBench()
        let heard = lose(at: stage, bench)
        #expect(bench.settle() == .time(milliseconds: 1000))
        #expect(bench.events == ["lost 1"])
        #expect(bench.position == .frame(heard, of: 1))
        let openings = bench.card.openingCount
        for attempt in 1...3 {
            bench.clock.advance(by: 999_000_000)
            #expect(bench.settle() == .time(milliseconds: 1))
            #expect(bench.card.openingCount == openings + attempt - 1)
            bench.clock.advance(by: 1_000_000)
            #expect(bench.settle() == .time(milliseconds: 1000))
            #expect(bench.card.openingCount == openings + attempt)
        }
        #expect(bench.events == [])
        #expect(bench.position == .frame(heard, of: 1))
        bench.card.plugIn()
        bench.clock.advance(by: 1_000_000_000)
        bench.hear(500 - heard)
        #expect(bench.heard == [frames(0..<400, of: 1), frames(0..<100, of: 2)])
        let told = bench.events.filter { !$0.hasPrefix("opened") }
        #expect(told == ["running 1", "heard 2", "ended 2"])
    }

    @Test("Gone while waiting for room in it")
    func goneDuringWait() throws {
        let bench = RenderBench()
        bench.play(bench.stream(500))
        let wakeUp = try WakeUp()
        #expect(bench.settle() == .device(milliseconds: 250))
        bench.card.unplug()
        bench.loop.wait(.device(milliseconds: 250), wakeUp: wakeUp)
        #expect(bench.settle() == .time(milliseconds: 1000))
        #expect(bench.events == ["opened 1000/1", "running 1", "lost 1"])
    }

    @Test("Lost and back before it was noticed: reopened at once, and no loss is reported")
    func flicker() {
        let bench = RenderBench()
        bench.play(bench.stream(500))
        bench.hear(123)
        bench.card.inject(.vanished)
        bench.hear(377)
        #expect(bench.heard == [frames(0..<500, of: 1)])
        #expect(bench.events == ["opened 1000/1", "running 1", "opened 1000/1", "ended 1"])
    }

    @Test("Everything was heard when it went: the end needs no device")
    func goneAtTheEnd() {
        let bench = RenderBench()
        bench.play(bench.stream(300))
        bench.hear(299)
        bench.card.advance(1)
        bench.hold()
        bench.card.unplug()
        bench.run(2)
        #expect(bench.settle() == .command)
        #expect(bench.events.suffix(1) == ["ended 1"])
    }

    @Test("`hold` stops the attempts; `run` tries at once and reports again")
    func holdWhileLost() {
        let bench = RenderBench()
        bench.card.unplug()
        bench.play(bench.stream(300))
        #expect(bench.events == ["lost 1"])
        bench.hold()
        #expect(bench.settle() == .command)
        bench.clock.advance(by: 5_000_000_000)
        #expect(bench.settle() == .command)
        bench.run(2)
        #expect(bench.settle() == .time(milliseconds: 1000))
        #expect(bench.events == ["lost 2"])
        bench.card.plugIn()
        bench.run(3)
        bench.hear(300)
        #expect(bench.events == ["opened 1000/1", "running 3", "ended 1"])
    }

    @Test("A better device is taken at the next start after a pause, and not while it plays; every frame is heard once")
    func better() {
        let bench = RenderBench()
        bench.play(bench.stream(500))
        bench.hear(100)
        bench.card.offerBetter()
        bench.hear(100)
        #expect(bench.card.openingCount == 1)
        bench.hold()
        bench.run(2)
        bench.hear(300)
        #expect(bench.card.openingCount == 2)
        #expect(bench.heard == [frames(0..<500, of: 1)])
        #expect(bench.events == ["opened 1000/1", "running 1", "opened 1000/1", "running 2", "ended 1"])
    }

    @Test("`begin` while it is away: the new stream waits for it")
    func beginWhileLost() {
        let bench = RenderBench()
        bench.play(bench.stream(300))
        bench.hear(100)
        bench.card.unplug()
        bench.settle()
        _ = bench.events
        bench.begin(bench.stream(200))
        #expect(bench.settle() == .time(milliseconds: 1000))
        #expect(bench.events == [])
        bench.card.plugIn()
        bench.clock.advance(by: 1_000_000_000)
        bench.hear(200)
        #expect(bench.heard == [frames(0..<100, of: 1), frames(0..<200, of: 2)])
    }

    @Test("The next stream is set, replaced and cleared while the device is missing")
    func nextWhileLost() {
        let bench = RenderBench()
        bench.play(bench.stream(300), then: bench.stream(100))
        bench.hear(250)
        bench.card.unplug()
        bench.settle()
        bench.setNext(nil)
        bench.setNext(bench.stream(50))
        #expect(bench.settle() == .time(milliseconds: 1000))
        bench.card.plugIn()
        bench.clock.advance(by: 1_000_000_000)
        bench.hear(100)
        #expect(bench.heard == [frames(0..<300, of: 1), frames(0..<50, of: 3)])
    }

    @Test("`clear` while it is away ends the attempts")
    func clearWhileLost() {
        let bench = RenderBench()
        bench.card.unplug()
        bench.play(bench.stream(300))
        bench.send(.clear(releaseDevice: true))
        #expect(bench.settle() == .command)
    }

    @Test(
        "Every temporary error of opening is retried",
        arguments: [
            DeviceError.busy(device: "paced"), .noPermission(device: "paced"),
            .refused(device: "paced", code: -5, reason: "out of order"),
        ])
    func cannotBeOpened(error: DeviceError) {
        let bench = RenderBench()
        bench.card.refuse(with: error)
        bench.play(bench.stream(300))
        #expect(bench.settle() == .time(milliseconds: 1000))
        #expect(bench.events == ["lost 1"])
        bench.card.plugIn()
        bench.clock.advance(by: 1_000_000_000)
        bench.hear(300)
        #expect(bench.heard == [frames(0..<300, of: 1)])
    }
}
