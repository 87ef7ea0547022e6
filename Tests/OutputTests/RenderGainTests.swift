import PCM
import Testing

@testable import Output

@Suite("Rendering: gain")
struct RenderGainTests {
    /// Half, so that the samples of a test stream stay exact.
    private let half = Gain(rawValue: Gain.unity.rawValue / 2)

    /// The card's samples as a multiple of the streams' samples, in 1/1000.
    private func levels(_ bench: RenderBench, of streams: TestStream...) -> [Int] {
        let whole = streams.flatMap { stream in
            (0..<stream.frames).map { TestStream.encode(Int(stream.stream.id), $0, 0) }
        }
        return zip(bench.card.recordings.flatMap(\.samples), whole).map { heard, held in
            Int((Double(heard) / Double(held) * 1000).rounded())
        }
    }

    @Test("A stream begins with its gain")
    func beginning() {
        let bench = RenderBench()
        let stream = bench.stream(100)
        stream.stream.gain = half
        bench.play(stream)
        bench.hear(100)
        #expect(levels(bench, of: stream) == Array(repeating: 500, count: 100))
    }

    @Test("At a boundary it switches exactly at the first frame", arguments: [1, 150, 201])
    func boundary(length: Int) {
        let bench = RenderBench()
        let (first, second) = (bench.stream(length), bench.stream(60))
        second.stream.gain = half
        bench.play(first, then: second)
        bench.hear(length + 60)
        let expected = Array(repeating: 1000, count: length) + Array(repeating: 500, count: 60)
        #expect(levels(bench, of: first, second) == expected)
    }

    @Test("In the middle of a stream it moves over 20 ms, from the next frame written on", arguments: [false, true])
    func ramp(hasFormatMarker: Bool) {
        let bench = RenderBench()
        let stream = bench.stream(210, open: true)
        // A new depth in the middle of the ramp changes nothing.
        if hasFormatMarker { stream.change(to: RenderBoundaryTests.deep) }
        stream.write(90)
        stream.end()
        bench.play(stream)
        stream.stream.gain = half
        bench.hear(300)
        let ramp = (1...20).map { 1000 - 500 * $0 / 20 }
        let expected = Array(repeating: 1000, count: 200) + ramp + Array(repeating: 500, count: 80)
        #expect(levels(bench, of: stream) == expected)
    }

    @Test("Changed while held, it holds from the first frame after `run`")
    func whileHeld() {
        let bench = RenderBench()
        let stream = bench.stream(300)
        bench.play(stream)
        bench.hear(100)
        bench.hold()
        stream.stream.gain = half
        bench.run(2)
        bench.hear(200)
        #expect(levels(bench, of: stream) == Array(repeating: 1000, count: 100) + Array(repeating: 500, count: 200))
    }

    @Test("A device that is reopened inside a stream begins with the stream's gain")
    func afterReopening() {
        let bench = RenderBench()
        let stream = bench.stream(100, open: true)
        stream.change(to: RenderBoundaryTests.fast)
        stream.write(100)
        stream.end()
        stream.stream.gain = half
        bench.play(stream)
        bench.hear(200)
        #expect(levels(bench, of: stream) == Array(repeating: 500, count: 200))
    }

    @Test("At unity on 16 bits, music of 16 bits is exact and music of 24 bits is dithered, also inside one stream")
    func depthDecidesOnDither() {
        let bench = RenderBench()
        bench.card.support([.s16])
        let stream = bench.stream(200, open: true)
        stream.change(to: RenderBoundaryTests.deep)
        stream.write(200)
        stream.change(to: RenderBench.mono)
        stream.write(200)
        stream.end()
        bench.play(stream)
        bench.hear(600)
        let heard = bench.card.recordings.flatMap(\.samples)
        // The upper 16 bits of the test signal are the stream's number alone.
        let exact = [Int32](repeating: 1 << 24, count: 200)
        #expect(heard.count == 600)
        #expect(Array(heard[..<200]) == exact)
        #expect(Array(heard[200..<400]) != exact)
        #expect(Array(heard[400...]) == exact)
    }
}
