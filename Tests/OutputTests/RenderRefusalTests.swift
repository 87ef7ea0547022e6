import CLinux
import PCM
import Testing

@testable import Output

@Suite("Rendering: the device cannot play a stream")
struct RenderRefusalTests {
    private func bench() -> RenderBench {
        let bench = RenderBench()
        bench.card.support([.s32], rates: [1000])
        return bench
    }

    @Test("The current one: reported once, then silence until something else begins")
    func current() {
        let bench = bench()
        bench.play(bench.stream(300, format: RenderBoundaryTests.fast))
        #expect(bench.settle() == .command)
        #expect(bench.events == ["refused 1"])
        bench.begin(bench.stream(100))
        bench.hear(100)
        #expect(bench.events == ["opened 1000/1", "running 1", "ended 2"])
    }

    @Test("The next one: reported when the one before was heard, which does not end by that")
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

    @Test("A format inside the current one: reported, after what could be played was heard")
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

    @Test("A refusal that is the same the next time is an error of the stream; another one is a lost device")
    func refusedAtOpening() {
        let bench = RenderBench()
        bench.card.refuse(with: .refused(device: "paced", code: -EINVAL, reason: "Invalid argument"))
        bench.play(bench.stream(300))
        #expect(bench.settle() == .command)
        #expect(bench.events == ["refused 1"])
        #expect(bench.card.openingCount == 1)
        bench.card.refuse(with: .refused(device: "paced", code: -EIO, reason: "Input/output error"))
        bench.begin(bench.stream(300))
        #expect(bench.settle() == .time(milliseconds: 1000))
        #expect(bench.events == ["lost 1"])
    }
}
