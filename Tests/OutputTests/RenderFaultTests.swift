import OutputTestSupport
import PCM
import Platform
import Testing

@testable import Output

@Suite("Rendering: the device stumbles")
struct RenderFaultTests {
    @Test("An underrun with frames at hand: what was written counts as heard, and nothing is told")
    func underrunWithFrames() {
        let bench = RenderBench()
        bench.play(bench.stream(900))
        bench.hear(100)
        bench.card.inject(.underrun)
        bench.settle()
        #expect(bench.position == .frame(300, of: 1))
        bench.hear(600)
        #expect(bench.heard == [frames(0..<900, of: 1)])
        #expect(bench.events == ["opened 1000/1", "running 1", "ended 1"])
    }

    @Test("A device that does not run yet has played nothing when it reports an underrun")
    func underrunBeforeStart() {
        let bench = RenderBench()
        let stream = bench.stream(150, open: true)
        bench.play(stream)
        stream.write(50)
        bench.card.failToStart(with: .underrun)
        _ = bench.loop.step()
        bench.card.failToStart(with: nil)
        stream.end()
        bench.hear(200)
        #expect(bench.heard == [frames(0..<200, of: 1)])
    }

    @Test("An underrun that `hold` meets: what was written counts as heard")
    func underrunAtHold() {
        let bench = RenderBench()
        bench.play(bench.stream(900))
        bench.hear(100)
        bench.card.inject(.underrun)
        bench.hold()
        #expect(bench.position == .frame(300, of: 1))
        bench.run(2)
        bench.hear(600)
        #expect(bench.heard == [frames(0..<900, of: 1)])
    }

    @Test("An underrun across a boundary: the stream behind it is heard")
    func underrunAcrossBoundary() {
        let bench = RenderBench()
        bench.play(bench.stream(150), then: bench.stream(200))
        bench.card.inject(.underrun)
        bench.settle()
        #expect(bench.position == .frame(50, of: 2))
        bench.hear(150)
        #expect(bench.heard == [frames(0..<150, of: 1), frames(0..<200, of: 2)])
        #expect(bench.events == ["opened 1000/1", "running 1", "heard 2", "ended 2"])
    }

    @Test("An underrun while the end is on its way is the end", arguments: [0, 150, 299])
    func underrunWhileDraining(heard: Int) {
        let bench = RenderBench()
        bench.play(bench.stream(200), then: bench.stream(100))
        bench.hear(heard)
        bench.hear(1)
        if bench.card.pendingFrames > 0 { bench.card.inject(.underrun) }
        bench.hear(300)
        #expect(bench.heard == [frames(0..<200, of: 1), frames(0..<100, of: 2)])
        #expect(bench.events.suffix(2) == ["heard 2", "ended 2"])
    }

    @Test("A device that reports an underrun: starvation is told at once, and its end when sound is heard again")
    func starvationWithUnderrun() {
        let bench = RenderBench()
        let stream = bench.stream(300, open: true)
        bench.play(stream)
        bench.hear(250)
        _ = bench.events
        bench.card.inject(.underrun)
        bench.settle()
        #expect(bench.events == ["starved 1"])
        #expect(bench.position == .frame(300, of: 1))
        stream.write(199)
        bench.settle()
        #expect(bench.events == [])
        stream.write(1)
        bench.settle()
        #expect(bench.events == ["running 1"])
        stream.end()
        bench.hear(200)
        #expect(bench.heard == [frames(0..<500, of: 1)])
    }

    @Test("A device that never reports one: starvation is told a buffer's length after its last frame")
    func starvationWithoutUnderrun() {
        let bench = RenderBench()
        let stream = bench.stream(300, open: true)
        bench.play(stream)
        bench.hear(300)
        _ = bench.events
        bench.clock.advance(by: 200_000_000)
        bench.settle()
        #expect(bench.events == [])
        bench.clock.advance(by: 1)
        bench.settle()
        bench.settle()
        #expect(bench.events == ["starved 1"])
        stream.write(10)
        bench.settle()
        #expect(bench.events == ["running 1"])
        stream.end()
        bench.hear(10)
        #expect(bench.events == ["ended 1"])
        #expect(bench.heard == [frames(0..<310, of: 1)])
    }

    @Test("Frames that come just in time: looked for before half of what the device has was heard")
    func tricklingFrames() {
        let bench = RenderBench()
        let stream = bench.stream(200, open: true)
        bench.play(stream)
        bench.card.advance(1)
        for _ in 0..<40 { bench.settle() }
        #expect(bench.settle() == .time(milliseconds: 50))
        bench.card.advance(139)
        #expect(bench.settle() == .time(milliseconds: 30))
        bench.card.advance(50)
        #expect(bench.settle() == .time(milliseconds: 5))
        bench.card.advance(9)
        #expect(bench.settle() == .time(milliseconds: 1))
        bench.card.advance(1)
        #expect(bench.settle() == .time(milliseconds: 50))
    }

    @Test(
        "A fault that the device recovers from: on with the frame after the last one heard, and nothing is told",
        arguments: [DeviceFault.suspended, .failed(code: -5)], [0, 60, 149, 150, 151, 200])
    func recoverable(fault: DeviceFault, heard: Int) {
        let bench = RenderBench()
        bench.play(bench.stream(150), then: bench.stream(350))
        bench.hear(heard)
        bench.card.inject(fault)
        bench.hear(500 - heard)
        #expect(bench.heard == [frames(0..<150, of: 1), frames(0..<350, of: 2)])
        #expect(bench.events == ["opened 1000/1", "running 1", "heard 2", "ended 2"])
    }

    @Test("A device that cannot be started is given up for a second, not tried for ever")
    func neverStarts() {
        let bench = RenderBench()
        bench.card.failToStart(with: .failed(code: -5))
        bench.play(bench.stream(500))
        #expect(bench.settle() == .time(milliseconds: 1000))
        #expect(bench.events == ["opened 1000/1", "lost 1"])
        #expect(!bench.card.isOpen)
        bench.card.failToStart(with: nil)
        bench.clock.advance(by: 1_000_000_000)
        bench.hear(500)
        #expect(bench.heard == [frames(0..<500, of: 1)])
        #expect(bench.events == ["opened 1000/1", "running 1", "ended 1"])
    }
}

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

    @Test("At every stage: the position is kept, it is told once and tried each second, and every frame is heard once", arguments: Stage.allCases)
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
        #expect(bench.settle() == .device(milliseconds: 50))
        bench.card.unplug()
        bench.loop.wait(.device(milliseconds: 50), wakeUp: wakeUp)
        #expect(bench.settle() == .time(milliseconds: 1000))
        #expect(bench.events == ["opened 1000/1", "running 1", "lost 1"])
    }

    @Test("Gone and back before anybody noticed: opened anew at once, and nothing is told of a loss")
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

    @Test("`hold` stops the attempts; `run` tries at once and tells again")
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

    @Test("What follows is set, replaced and cleared while it is away")
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
        "Whatever keeps it from being opened for now is tried again",
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

@Suite("Rendering: the device cannot play a stream")
struct RenderRefusalTests {
    private func bench() -> RenderBench {
        let bench = RenderBench()
        bench.card.support([.s32], rates: [1000])
        return bench
    }

    @Test("The current one: told once, then silence until something else begins")
    func current() {
        let bench = bench()
        bench.play(bench.stream(300, format: RenderBoundaryTests.fast))
        #expect(bench.settle() == .command)
        #expect(bench.events == ["refused 1"])
        bench.begin(bench.stream(100))
        bench.hear(100)
        #expect(bench.events == ["opened 1000/1", "running 1", "ended 2"])
    }

    @Test("The next one: told when the one before was heard, which does not end by that")
    func next() {
        let bench = bench()
        bench.play(bench.stream(300), then: bench.stream(100, format: RenderBoundaryTests.fast))
        bench.hear(299)
        #expect(bench.events == ["opened 1000/1", "running 1"])
        bench.hear(1)
        #expect(bench.settle() == .command)
        #expect(bench.events == ["refused 2"])
        #expect(bench.position == .frame(300, of: 1))
    }

    @Test("Replaced at that moment: the new one is heard")
    func nextReplaced() {
        let bench = bench()
        bench.play(bench.stream(300), then: bench.stream(100, format: RenderBoundaryTests.fast))
        bench.hear(300)
        bench.setNext(bench.stream(50))
        bench.hear(50)
        #expect(bench.heard == [frames(0..<300, of: 1), frames(0..<50, of: 3)])
        #expect(bench.events.suffix(2) == ["heard 3", "ended 3"])
    }

    @Test("Cleared at that moment: the one before has ended")
    func nextCleared() {
        let bench = bench()
        bench.play(bench.stream(300), then: bench.stream(100, format: RenderBoundaryTests.fast))
        bench.hear(300)
        bench.setNext(nil)
        #expect(bench.settle() == .command)
        #expect(bench.events.suffix(2) == ["refused 2", "ended 1"])
    }

    @Test("A format inside the current one: told, after what could be played was heard")
    func formatInside() {
        let bench = bench()
        let stream = bench.stream(120, open: true)
        stream.change(to: RenderBoundaryTests.fast)
        stream.write(100)
        stream.end()
        bench.play(stream)
        bench.hear(120)
        #expect(bench.settle() == .command)
        #expect(bench.heard == [frames(0..<120, of: 1)])
        #expect(bench.events == ["opened 1000/1", "running 1", "refused 1"])
    }
}
