import PCM
import TestSupport
import Testing

@testable import Output

@Suite("Rendering: play, hold, resume, end")
struct RenderPlaybackTests {
    @Test("A stream is heard from its first frame to its last, and then its end is reported")
    func wholeStream() {
        let bench = RenderBench()
        bench.play(bench.stream(505, from: 3_000_000_000))
        #expect(bench.events == ["opened 1000/1", "running 1"])
        #expect(bench.position == .frame(3000, of: 1))
        bench.hear(499)
        #expect(bench.position == .frame(3499, of: 1))
        #expect(bench.events == [])
        bench.hear(6)
        #expect(bench.events == ["ended 1"])
        #expect(bench.position == .frame(3505, of: 1))
        #expect(bench.heard == [frames(0..<505, of: 1)])
        #expect(bench.settle() == .command)
    }

    @Test("Nothing is opened or heard before `run`")
    func silentBeforeRun() {
        let bench = RenderBench()
        bench.begin(bench.stream(500))
        #expect(bench.settle() == .command)
        #expect(bench.card.openingCount == 0)
        #expect(bench.position == .frame(0, of: 1))
    }

    @Test("`run` before `begin` waits for a stream")
    func runWithoutStream() {
        let bench = RenderBench()
        bench.run(7)
        #expect(bench.settle() == .command)
        #expect(bench.events == [])
        bench.begin(bench.stream(300))
        bench.settle()
        #expect(bench.events == ["opened 1000/1", "running 7"])
    }

    @Test("The device starts when it is full, not before")
    func priming() {
        let bench = RenderBench()
        let stream = bench.stream(150, open: true)
        bench.play(stream)
        #expect(!bench.card.isStarted)
        #expect(bench.events == ["opened 1000/1"])
        stream.write(49)
        bench.settle()
        #expect(!bench.card.isStarted)
        stream.write(1)
        bench.settle()
        #expect(bench.card.isStarted)
        #expect(bench.events == ["running 1"])
    }

    @Test("A device with a larger buffer than asked for starts with as much as was asked for: a ring may hold no more")
    func primingLargeBuffer() {
        let bench = RenderBench()
        bench.card.setLeastBuffer(frames: 100_000)
        let stream = bench.stream(199, open: true)
        bench.play(stream)
        #expect(!bench.card.isStarted)
        stream.write(1)
        bench.settle()
        #expect(bench.card.isStarted)
        for _ in 0..<100 {
            stream.write(100)
            bench.hear(100)
        }
        #expect(bench.heard == [frames(0..<10_000, of: 1)])
    }

    @Test("A device that has always room starts after a buffer's length, however slowly that came")
    func primingNull() {
        let channel = RendererChannel()
        let loop = RenderLoop(
            provider: ALSADeviceProvider(configuration: .builtIn), clock: ManualClock(),
            settings: RendererSettings(device: "null"), channel: channel)
        let stream = TestStream(id: 1, format: PCMFormat(sampleRate: 8000, channelCount: 1, bitDepth: 16))
        _ = loop.handle(.begin(.passUnretained(stream.stream)))
        _ = loop.handle(.run(generation: 1))
        var events: [String] = []
        for _ in 0..<16 {
            #expect(events == ["opened 8000/1"] || events == [])
            stream.write(100)
            while loop.step() == .time(milliseconds: 0) {}
            while let event = channel.events.pop() { events.append(event.text) }
        }
        #expect(events == ["opened 8000/1", "running 1"])
        _ = loop.handle(.quit)
    }

    @Test("A stream shorter than the device's buffer starts unchanged", arguments: [1, 49, 50, 199])
    func shortStream(length: Int) {
        let bench = RenderBench()
        bench.play(bench.stream(length))
        bench.hear(length)
        #expect(bench.heard == [frames(0..<length, of: 1)])
        #expect(bench.events == ["opened 1000/1", "running 1", "ended 1"])
    }

    @Test("A stream without frames ends without a device")
    func emptyStream() {
        let bench = RenderBench()
        bench.play(bench.stream(0))
        #expect(bench.events == ["ended 1"])
        #expect(bench.card.openingCount == 0)
        #expect(bench.settle() == .command)
    }

    @Test(
        "`hold` goes back to the frame after the last one heard, and `run` goes on with it",
        arguments: [0, 1, 137, 300, 499])
    func holdAndResume(heard: Int) {
        let bench = RenderBench()
        bench.play(bench.stream(500))
        bench.hear(heard)
        bench.hold()
        #expect(bench.settle() == .command)
        #expect(bench.card.pendingFrames == 0)
        #expect(bench.position == .frame(heard, of: 1))
        bench.run(2)
        bench.hear(500 - heard)
        #expect(bench.heard == [frames(0..<500, of: 1)])
        #expect(bench.events == ["opened 1000/1", "running 1", "running 2", "ended 1"])
        #expect(bench.card.openingCount == 1)
    }

    @Test("Frames that the card played just before `hold` count, although it was not queried yet")
    func holdAsksTheDevice() {
        let bench = RenderBench()
        bench.play(bench.stream(500))
        bench.card.advance(33)
        bench.hold()
        #expect(bench.position == .frame(33, of: 1))
        bench.run(2)
        bench.hear(467)
        #expect(bench.heard == [frames(0..<500, of: 1)])
    }

    @Test("`hold` stops a device that runs on without frames, so that nothing is heard before `run` starts it")
    func holdWithNothingLeft() {
        let bench = RenderBench()
        let stream = bench.stream(300, open: true)
        bench.play(stream)
        bench.hear(300)
        bench.hold()
        #expect(!bench.card.isStarted)
        stream.write(100)
        bench.run(2)
        bench.settle()
        #expect(bench.card.pendingFrames == 100)
        #expect(!bench.card.isStarted)
    }

    @Test("`hold` while the end is on its way: the end is heard after `run`", arguments: [350, 499, 500])
    func holdWhileDraining(heard: Int) {
        let bench = RenderBench()
        bench.play(bench.stream(500))
        bench.hear(heard - 1)
        bench.card.advance(1)
        bench.hold()
        #expect(bench.settle() == .command)
        #expect(bench.events == ["opened 1000/1", "running 1"])
        bench.run(2)
        bench.hear(500 - heard)
        #expect(bench.heard == [frames(0..<500, of: 1)])
        #expect(bench.events == (heard < 500 ? ["running 2"] : []) + ["ended 1"])
    }

    @Test("`hold` twice, `run` twice")
    func repeated() {
        let bench = RenderBench()
        bench.play(bench.stream(500))
        bench.run(2)
        bench.settle()
        #expect(bench.events == ["opened 1000/1", "running 1", "running 2"])
        bench.hear(100)
        bench.hold()
        bench.hold()
        bench.run(3)
        bench.run(4)
        bench.hear(400)
        #expect(bench.heard == [frames(0..<500, of: 1)])
        #expect(bench.events == ["running 4", "ended 1"])
    }

    @Test("`run` again while the end is on its way")
    func runWhileDraining() {
        let bench = RenderBench()
        bench.play(bench.stream(300))
        bench.hear(200)
        bench.run(2)
        bench.hear(100)
        #expect(bench.events == ["opened 1000/1", "running 1", "running 2", "ended 1"])
    }

    @Test("`begin` while another stream plays cuts that off")
    func beginWhileRunning() {
        let bench = RenderBench()
        bench.play(bench.stream(500))
        bench.hear(120)
        bench.begin(bench.stream(400, from: 7_000_000_000))
        #expect(bench.position == .frame(7000, of: 2))
        bench.hear(400)
        #expect(bench.heard == [frames(0..<120, of: 1), frames(0..<400, of: 2)])
        #expect(bench.events == ["opened 1000/1", "running 1", "ended 2"])
        #expect(bench.card.openingCount == 1)
    }

    @Test("`begin` while held does not play")
    func beginWhileHeld() {
        let bench = RenderBench()
        bench.play(bench.stream(500))
        bench.hear(100)
        bench.hold()
        bench.begin(bench.stream(300))
        #expect(bench.settle() == .command)
        #expect(bench.position == .frame(0, of: 2))
        bench.run(2)
        bench.hear(300)
        #expect(bench.heard == [frames(0..<100, of: 1), frames(0..<300, of: 2)])
    }

    @Test("`begin` with another format reopens the device")
    func beginOtherFormat() {
        let bench = RenderBench()
        bench.play(bench.stream(500))
        bench.hear(100)
        bench.begin(bench.stream(300, format: PCMFormat(sampleRate: 2000, channelCount: 2, bitDepth: 24)))
        bench.hear(300)
        #expect(bench.heard == [frames(0..<100, of: 1), frames(0..<300, of: 2)])
        #expect(bench.events == ["opened 1000/1", "running 1", "opened 2000/2", "ended 2"])
    }

    @Test("`begin` while the end of another stream is on its way")
    func beginWhileDraining() {
        let bench = RenderBench()
        bench.play(bench.stream(300))
        bench.hear(200)
        bench.begin(bench.stream(100))
        bench.hear(100)
        #expect(bench.heard == [frames(0..<200, of: 1), frames(0..<100, of: 2)])
        #expect(bench.events == ["opened 1000/1", "running 1", "ended 2"])
    }

    @Test("After the end `begin` plays without another `run`")
    func beginAfterEnd() {
        let bench = RenderBench()
        bench.play(bench.stream(100))
        bench.hear(100)
        bench.begin(bench.stream(100))
        bench.hear(100)
        #expect(bench.heard == [frames(0..<100, of: 1), frames(0..<100, of: 2)])
        #expect(bench.card.openingCount == 1)
    }

    @Test("`clear` forgets the streams and gives the device back if asked", arguments: [true, false])
    func clear(releaseDevice: Bool) {
        let bench = RenderBench()
        bench.play(bench.stream(500), then: bench.stream(500))
        bench.hear(400)
        bench.send(.clear(releaseDevice: releaseDevice))
        #expect(bench.settle() == .command)
        #expect(bench.card.isOpen == !releaseDevice)
        #expect(bench.card.pendingFrames == 0)
        bench.run(2)
        #expect(bench.settle() == .command)
        bench.begin(bench.stream(200))
        bench.hear(200)
        #expect(bench.heard == [frames(0..<400, of: 1), frames(0..<200, of: 3)])
        #expect(bench.events.suffix(2) == ["running 2", "ended 3"])
        #expect(bench.card.openingCount == (releaseDevice ? 2 : 1))
    }

    @Test("Every stage of a device that stands still leaves the loop waiting with a limit, never blocked or spinning")
    func standingStill() {
        let bench = RenderBench()
        bench.play(bench.stream(300))
        #expect(bench.settle() == .device(milliseconds: 250))
        bench.clock.advance(by: 3_600_000_000_000)
        #expect(bench.settle() == .device(milliseconds: 250))
        bench.hear(250)
        #expect(bench.settle() == .time(milliseconds: 50))
        bench.clock.advance(by: 3_600_000_000_000)
        #expect(bench.settle() == .time(milliseconds: 50))
        bench.hold()
        #expect(bench.position == .frame(250, of: 1))
        #expect(bench.events == ["opened 1000/1", "running 1"])
    }

    @Test("Nothing is reported after `quit`, and the device is free")
    func quit() {
        let bench = RenderBench()
        bench.play(bench.stream(100), then: bench.stream(500))
        bench.hear(50)
        _ = bench.events
        bench.card.advance(100)
        #expect(!bench.send(.quit))
        #expect(bench.events == [])
        #expect(!bench.card.isOpen)
    }

    @Test("An event says how many commands had been carried out before it")
    func processedCommands() {
        let bench = RenderBench()
        bench.begin(bench.stream(100))
        bench.setNext(bench.stream(100))
        bench.run()
        bench.hear(101)
        // The first frame of stream 2 is heard while `hold` is carried out.
        bench.begin(bench.stream(100))
        bench.setNext(bench.stream(200))
        bench.settle()
        bench.card.advance(101)
        bench.hold()
        var counts: [String] = []
        while let event = bench.channel.events.pop() { counts.append("\(event.processedCommands) \(event.text)") }
        #expect(counts == ["3 opened 1000/1", "3 running 1", "3 heard 2", "5 heard 4"])
    }
}
