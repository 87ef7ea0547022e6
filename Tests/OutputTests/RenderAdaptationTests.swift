import PCM
import Testing

@testable import Output

@Suite("Rendering: channels that the device does not have (docs/playback.md, 8)")
struct RenderAdaptationTests {
    static let stereo = PCMFormat(sampleRate: 1000, channelCount: 2, bitDepth: 16)
    static let surround = PCMFormat(sampleRate: 1000, channelCount: 6, bitDepth: 16)

    /// The samples of a stereo card that plays mono.
    private func doubled(_ frames: Range<Int>, of stream: Int) -> [Int32] {
        frames.flatMap { frame in Array(repeating: TestStream.encode(stream, frame, 0), count: 2) }
    }

    private func pairs(_ frames: Range<Int>, of stream: Int) -> [Int32] {
        frames.flatMap { frame in (0..<2).map { TestStream.encode(stream, frame, $0) } }
    }

    private func stereoBench(_ change: (inout RendererSettings) -> Void = { _ in }) -> RenderBench {
        var settings = RendererSettings(device: "paced")
        change(&settings)
        let bench = RenderBench(settings)
        bench.card.support(channels: [2])
        return bench
    }

    @Test("Mono is heard on both channels, bit for bit")
    func mono() {
        let bench = stereoBench()
        bench.play(bench.stream(700))
        bench.hear(700)
        #expect(bench.events == ["opened 1000/2 mono on both channels", "running 1", "ended 1"])
        #expect(bench.card.recordings.map(\.samples) == [doubled(0..<700, of: 1)])
    }

    @Test("Mono and stereo are joined without reopening the device, in either order")
    func join() {
        let bench = stereoBench()
        bench.play(bench.stream(333), then: bench.stream(444, format: Self.stereo))
        bench.hear(334)
        #expect(bench.events == ["opened 1000/2 mono on both channels", "running 1", "heard 2"])
        bench.setNext(bench.stream(300))
        bench.settle()
        bench.hear(443)
        bench.hear(300)
        #expect(bench.events == ["heard 3", "ended 3"])
        #expect(bench.card.openingCount == 1)
        #expect(
            bench.card.recordings.map(\.samples)
                == [doubled(0..<333, of: 1) + pairs(0..<444, of: 2) + doubled(0..<300, of: 3)])
    }

    @Test("A change between mono and stereo inside a stream is gapless as well")
    func inside() {
        let bench = stereoBench()
        let stream = bench.stream(250, open: true)
        stream.change(to: Self.stereo)
        stream.write(250)
        stream.end()
        bench.play(stream)
        bench.hear(500)
        #expect(
            bench.events == ["opened 1000/2 mono on both channels", "running 1", "format 1 1000/2/16", "ended 1"])
        #expect(bench.card.recordings.map(\.samples) == [doubled(0..<250, of: 1) + pairs(250..<500, of: 1)])
    }

    @Test("A device with one channel and with two is reopened, as both reach it unchanged")
    func both() {
        let bench = RenderBench()
        bench.card.support(channels: [1, 2])
        bench.play(bench.stream(300), then: bench.stream(300, format: Self.stereo))
        bench.hear(300)
        bench.hear(300)
        #expect(bench.events == ["opened 1000/1", "running 1", "opened 1000/2", "heard 2", "ended 2"])
    }

    @Test("A pause in mono goes on at the exact frame")
    func pause() {
        let bench = stereoBench()
        bench.play(bench.stream(700))
        bench.hear(123)
        bench.hold()
        #expect(bench.position == .frame(123, of: 1))
        bench.run(2)
        bench.settle()
        bench.hear(577)
        #expect(bench.card.recordings.flatMap(\.samples) == doubled(0..<700, of: 1))
    }

    @Test("Another device is used in the middle: the rest is adapted to its channels")
    func otherDevice() {
        let bench = stereoBench()
        bench.play(bench.stream(700))
        bench.hear(123)
        bench.card.unplug()
        bench.settle()
        bench.card.support(channels: [1])
        bench.card.plugIn()
        bench.clock.advance(by: RenderLoop.deviceRetryInterval)
        bench.settle()
        bench.hear(577)
        #expect(
            bench.events
                == [
                    "opened 1000/2 mono on both channels", "running 1", "lost 1", "opened 1000/1", "running 1",
                    "ended 1",
                ])
        #expect(
            bench.card.recordings.map(\.samples)
                == [doubled(0..<123, of: 1), (123..<700).map { TestStream.encode(1, $0, 0) }])
    }

    @Test("More channels than the device has are mixed down")
    func surround() throws {
        let bench = stereoBench()
        bench.play(bench.stream(700, format: Self.surround))
        bench.hear(700)
        #expect(bench.events == ["opened 1000/2 6 channels mixed down to 2", "running 1", "ended 1"])
        let mixer = ChannelMixer(try #require(ChannelAdaptation(from: 6, to: 2)))
        let source = (0..<700).flatMap { frame in (0..<6).map { TestStream.encode(1, frame, $0) } }
        var expected = [Int32](repeating: 0, count: 1400)
        mixer.mix(source, frames: 700, to: &expected)
        #expect(bench.card.recordings.map(\.samples) == [expected])
    }

    @Test("Where it is forbidden the stream is refused, also behind one that the device plays")
    func forbidden() {
        let bench = stereoBench { $0.allowsAdaptation = false }
        bench.play(bench.stream(300))
        #expect(bench.events == ["refused 1"])
        bench.begin(bench.stream(300, format: Self.stereo))
        bench.setNext(bench.stream(300))
        bench.settle()
        bench.hear(300)
        #expect(bench.events == ["opened 1000/2", "running 1", "refused 3"])
        #expect(bench.card.recordings.map(\.samples) == [pairs(0..<300, of: 2)])
    }
}
