import PCM
import Testing

@testable import Output

@Suite("Rendering: control is asked before an open device is reopened")
struct RenderReopeningTests {
    static let fast = PCMFormat(sampleRate: 2000, channelCount: 1, bitDepth: 16)
    static let wide = PCMFormat(sampleRate: 1000, channelCount: 2, bitDepth: 16)

    private func bench(_ settings: RendererSettings = RendererSettings(device: "paced")) -> RenderBench {
        let bench = RenderBench(settings)
        bench.send(.askBeforeReopening)
        return bench
    }

    /// 300 frames were heard, and 400 of another format wait for an answer to question 1.
    private func waitingBench(_ format: PCMFormat = fast) -> RenderBench {
        let bench = bench()
        bench.play(bench.stream(300), then: bench.stream(400, format: format))
        bench.hear(300)
        _ = bench.events
        return bench
    }

    private func answer(_ question: UInt64, _ bench: RenderBench) {
        bench.send(.reopen(question: question))
        bench.settle()
    }

    @Test("Once, when all was heard; nothing happens before the answer, and nothing is lost", arguments: [fast, wide])
    func transition(format: PCMFormat) {
        let bench = bench()
        bench.play(bench.stream(300), then: bench.stream(400, format: format))
        bench.hear(299)
        #expect(bench.events == ["opened 1000/1", "running 1"])
        bench.hear(1)
        #expect(bench.events == ["reopening 1"])
        for _ in 0..<3 { #expect(bench.loop.step() == .command) }
        #expect(bench.events == [])
        #expect(bench.card.openingCount == 1)
        #expect(!bench.card.isStarted)
        #expect(bench.heard == [frames(0..<300, of: 1)])
        #expect(bench.position == .frame(300, of: 1))
        answer(1, bench)
        #expect(bench.events == ["opened \(format.sampleRate)/\(format.channelCount)", "running 1"])
        bench.hear(400)
        #expect(bench.events == ["heard 2", "ended 2"])
        #expect(bench.heard == [frames(0..<300, of: 1), frames(0..<400, of: 2)])
        #expect(bench.card.openingCount == 2)
    }

    @Test("Inside a stream as well")
    func formatInside() {
        let bench = bench()
        let stream = bench.stream(250, open: true)
        stream.change(to: Self.fast)
        stream.write(250)
        stream.end()
        bench.play(stream)
        bench.hear(250)
        #expect(bench.events == ["opened 1000/1", "running 1", "reopening 1"])
        answer(1, bench)
        bench.hear(250)
        #expect(bench.events == ["opened 2000/1", "running 1", "format 1 2000/1/16", "ended 1"])
        #expect(bench.heard == [frames(0..<500, of: 1)])
    }

    @Test("Not for the first opening, nor where the device can go on")
    func noQuestion() {
        let bench = bench()
        bench.play(bench.stream(300), then: bench.stream(300))
        bench.hear(100)
        bench.hold()
        bench.run(2)
        bench.hear(500)
        #expect(bench.events == ["opened 1000/1", "running 1", "running 2", "heard 2", "ended 2"])
        bench.begin(bench.stream(100))
        bench.run(3)
        bench.hear(100)
        #expect(bench.events == ["running 3", "ended 3"])
    }

    @Test("An answer to another question, or before the question, is none")
    func wrongAnswer() {
        let bench = bench()
        answer(1, bench)
        bench.play(bench.stream(300), then: bench.stream(400, format: Self.fast))
        answer(1, bench)
        bench.hear(300)
        answer(0, bench)
        answer(2, bench)
        #expect(bench.card.openingCount == 1)
        answer(1, bench)
        #expect(bench.card.openingCount == 2)
    }

    @Test("Silence before the music is as long as for any change of the rate")
    func settling() {
        var settings = RendererSettings(device: "paced")
        settings.settleAtStart = 100
        settings.settleAtRateChange = 30
        let bench = bench(settings)
        bench.play(bench.stream(300), then: bench.stream(400, format: Self.fast))
        bench.hear(400)
        answer(1, bench)
        bench.hear(60)
        #expect(bench.card.recordings.map { $0.samples.prefix { $0 == 0 }.count } == [100, 60])
    }

    // MARK: Requests while it waits

    @Test("`hold` cancels the question, and `run` asks again")
    func hold() {
        let bench = waitingBench()
        bench.hold()
        answer(1, bench)
        #expect(bench.settle() == .command)
        #expect(bench.card.openingCount == 1)
        bench.run(2)
        bench.settle()
        answer(1, bench)
        #expect(bench.events == ["reopening 2"])
        answer(2, bench)
        bench.hear(400)
        #expect(bench.events == ["opened 2000/1", "running 2", "heard 2", "ended 2"])
        #expect(bench.heard == [frames(0..<300, of: 1), frames(0..<400, of: 2)])
    }

    @Test("`hold` that comes right behind the answer makes that void as well")
    func holdBehindAnswer() {
        let bench = waitingBench()
        bench.send(.reopen(question: 1))
        bench.hold()
        bench.run(2)
        bench.settle()
        #expect(bench.events == ["reopening 2"])
        #expect(bench.card.openingCount == 1)
    }

    @Test("`run` keeps the question")
    func run() {
        let bench = waitingBench()
        bench.run(2)
        #expect(bench.settle() == .command)
        #expect(bench.events == [])
        answer(1, bench)
        #expect(bench.events == ["opened 2000/1", "running 2"])
    }

    @Test("`clear` makes it void; the device is free, or asked for when it is needed", arguments: [true, false])
    func clear(releaseDevice: Bool) {
        let bench = waitingBench()
        bench.send(.clear(releaseDevice: releaseDevice))
        answer(1, bench)
        #expect(bench.settle() == .command)
        #expect(bench.card.isOpen == !releaseDevice)
        bench.begin(bench.stream(100, format: Self.fast))
        bench.run(2)
        bench.settle()
        #expect(bench.events == (releaseDevice ? ["opened 2000/1", "running 2"] : ["reopening 2"]))
    }

    @Test(
        "`begin` continues if the device can, and asks again if it cannot",
        arguments: [
            RenderBench.mono, fast, wide,
        ])
    func begin(format: PCMFormat) {
        let bench = waitingBench()
        bench.begin(bench.stream(100, format: format))
        bench.settle()
        answer(1, bench)
        if format == RenderBench.mono {
            #expect(bench.events == ["running 1"])
            bench.hear(100)
            // It is still the next stream.
            #expect(bench.events == ["reopening 2"])
        } else {
            #expect(bench.events == ["reopening 2"])
            answer(2, bench)
            bench.hear(100)
        }
        #expect(bench.heard == [frames(0..<300, of: 1), frames(0..<100, of: 3)])
        #expect(bench.card.openingCount == (format == RenderBench.mono ? 1 : 2))
    }

    @Test("`begin` in the middle of the music asks when the device is silent")
    func beginWhilePlaying() {
        let bench = bench()
        bench.play(bench.stream(300))
        bench.hear(100)
        bench.begin(bench.stream(400, format: Self.fast))
        #expect(bench.settle() == .command)
        #expect(bench.events == ["opened 1000/1", "running 1", "reopening 1"])
        #expect(!bench.card.isStarted)
        #expect(bench.card.pendingFrames == 0)
        answer(1, bench)
        bench.hear(400)
        #expect(bench.events == ["opened 2000/1", "running 1", "ended 2"])
        #expect(bench.heard == [frames(0..<100, of: 1), frames(0..<400, of: 2)])
    }

    @Test("`setNext` with nothing ends it, without an answer")
    func nothingNext() {
        let bench = waitingBench()
        bench.setNext(nil)
        bench.settle()
        answer(1, bench)
        #expect(bench.events == ["ended 1"])
        #expect(bench.card.openingCount == 1)
    }

    @Test(
        "`setNext` with something else: a stream that the device can play is heard, another one causes a new question",
        arguments: [
            RenderBench.mono, fast, wide,
        ])
    func otherNext(format: PCMFormat) {
        let bench = waitingBench()
        bench.setNext(bench.stream(100, format: format))
        bench.settle()
        answer(1, bench)
        #expect(bench.events == [format == RenderBench.mono ? "running 1" : "reopening 2"])
        answer(2, bench)
        bench.hear(100)
        #expect(bench.heard == [frames(0..<300, of: 1), frames(0..<100, of: 3)])
        #expect(bench.events.suffix(2) == ["heard 3", "ended 3"])
    }

    @Test("`setNext` behind a stream that was begun keeps the question")
    func nextWhileBegun() {
        let bench = bench()
        bench.play(bench.stream(300))
        bench.begin(bench.stream(100, format: Self.fast))
        bench.settle()
        bench.setNext(bench.stream(100, format: Self.fast))
        bench.settle()
        #expect(bench.events == ["opened 1000/1", "running 1", "reopening 1"])
        answer(1, bench)
        bench.hear(200)
        #expect(bench.heard == [frames(0..<100, of: 2), frames(0..<100, of: 3)])
    }

    @Test("A device that is gone by then is waited for as ever, without another question")
    func lost() {
        let bench = waitingBench()
        bench.card.unplug()
        #expect(bench.settle() == .command)
        answer(1, bench)
        #expect(bench.events == ["lost 1"])
        bench.card.plugIn()
        bench.clock.advance(by: RenderLoop.deviceRetryInterval)
        bench.settle()
        #expect(bench.events == ["opened 2000/1", "running 1"])
        bench.hear(400)
        #expect(bench.heard == [frames(0..<300, of: 1), frames(0..<400, of: 2)])
    }

    @Test("`quit` closes the device")
    func quit() {
        let bench = waitingBench()
        #expect(!bench.send(.quit))
        #expect(!bench.card.isOpen)
    }
}
