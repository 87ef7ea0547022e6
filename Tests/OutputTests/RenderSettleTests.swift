import PCM
import TestSupport
import Testing

@testable import Output

@Suite("Rendering: silence for a converter to settle")
struct RenderSettleTests {
    private func bench(atStart: Int, atRateChange: Int) -> RenderBench {
        var settings = RendererSettings(device: "paced")
        settings.settleAtStart = atStart
        settings.settleAtRateChange = atRateChange
        return RenderBench(settings)
    }

    /// How many frames of silence each recording begins with, and how many follow.
    private func shape(_ bench: RenderBench) -> [[Int]] {
        bench.card.recordings.map { recording in
            let silence = recording.samples.prefix { $0 == 0 }.count
            return [silence, recording.samples.count - silence]
        }
    }

    @Test(
        "comes before the first frame, is longer than the buffer where it must be, and counts for no position",
        arguments: [
            50, 200, 450,
        ])
    func start(milliseconds: Int) {
        let bench = bench(atStart: milliseconds, atRateChange: 0)
        bench.play(bench.stream(300, from: 1_000_000_000))
        bench.hear(milliseconds)
        #expect(bench.position == .frame(1000, of: 1))
        bench.hear(100)
        #expect(bench.position == .frame(1100, of: 1))
        bench.hear(200)
        #expect(bench.events == ["opened 1000/1", "running 1", "ended 1"])
        #expect(shape(bench) == [[milliseconds, 300]])
    }

    @Test("comes again for another rate, with its own length, and not after a pause")
    func rateChange() {
        let bench = bench(atStart: 100, atRateChange: 30)
        let other = PCMFormat(sampleRate: 2000, channelCount: 1, bitDepth: 16)
        bench.play(bench.stream(300), then: bench.stream(300, format: other))
        bench.hear(200)
        bench.hold()
        bench.settle()
        bench.run(2)
        bench.hear(700)
        #expect(shape(bench) == [[100, 300], [60, 300]])
    }

    @Test("is cut short by a pause, and the stream is whole")
    func pausedWhileSettling() {
        let bench = bench(atStart: 400, atRateChange: 0)
        bench.play(bench.stream(300))
        bench.hear(50)
        bench.hold()
        bench.settle()
        #expect(!bench.card.isStarted)
        #expect(bench.position == .frame(0, of: 1))
        bench.run(2)
        bench.hear(1000)
        #expect(bench.card.recordings.flatMap(\.samples).filter { $0 != 0 }.count == 300)
        #expect(bench.events.last == "ended 1")
    }
}
