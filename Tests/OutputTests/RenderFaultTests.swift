import PCM
import Testing

@testable import Output

@Suite("Rendering: the device stumbles")
struct RenderFaultTests {
    @Test("An underrun with frames at hand: written frames count as heard, and nothing is reported")
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

    @Test("A full file ends it: reported once, and the file is not written again")
    func spoiled() {
        let bench = RenderBench()
        bench.play(bench.stream(900))
        bench.hear(100)
        bench.card.inject(.spoiled(code: -28))
        #expect(bench.settle() == .command)
        #expect(bench.events == ["opened 1000/1", "running 1", "refused 1"])
        #expect(bench.position == .frame(100, of: 1))
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

    @Test("A device that reports an underrun: starvation is reported at once, and its end when sound is heard again")
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

    @Test("A device that never reports one: starvation is reported a buffer's length after its last frame")
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
        "After a recovered fault playback continues with the next unheard frame, and nothing is reported",
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

    @Test("Four faults in a row without a frame heard are recovered from; the fifth gives the device up for a while")
    func faultLimit() {
        let bench = RenderBench()
        bench.play(bench.stream(500))
        for _ in 1...4 {
            bench.card.inject(.failed(code: -5))
            bench.settle()
        }
        #expect(bench.card.isOpen && bench.card.openingCount == 1)
        bench.card.inject(.failed(code: -5))
        #expect(bench.settle() == .time(milliseconds: 1000))
        #expect(bench.events == ["opened 1000/1", "running 1", "lost 1"])
        #expect(!bench.card.isOpen)
    }

    @Test("A frame that is heard ends the row of faults")
    func faultsWithFramesBetween() {
        let bench = RenderBench()
        bench.play(bench.stream(500))
        for _ in 1...20 {
            bench.card.inject(.failed(code: -5))
            bench.hear(1)
        }
        bench.hear(480)
        #expect(bench.heard == [frames(0..<500, of: 1)])
        #expect(bench.events == ["opened 1000/1", "running 1", "ended 1"])
    }
}
