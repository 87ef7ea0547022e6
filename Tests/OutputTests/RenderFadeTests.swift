import PCM
import Testing

@testable import Output

@Suite("Rendering: fades around a silence (docs/playback.md, 7)")
struct RenderFadeTests {
    /// 5 ms at 1000 Hz.
    static let fade = 5
    /// Frames that the hardware may have fetched already.
    static let safety = 2

    private func bench(rewinds: Bool = true, _ change: (inout RendererSettings) -> Void = { _ in }) -> RenderBench {
        var settings = RendererSettings(device: "paced")
        change(&settings)
        let bench = RenderBench(settings)
        bench.card.becomeAudible(rewinds: rewinds)
        return bench
    }

    /// 123 of 700 frames of a stream are heard, then it is held.
    private func heldBench(rewinds: Bool = true) -> RenderBench {
        let bench = bench(rewinds: rewinds)
        bench.play(bench.stream(700))
        bench.hear(123)
        bench.hold()
        return bench
    }

    /// Frames of a stream as they are.
    private func plain(_ frames: Range<Int>, of stream: Int = 1) -> [Int32] {
        frames.map { TestStream.encode(stream, $0, 0) }
    }

    /// Frame n of 5 has the part (n + 1) / 6, or (5 − n) / 6, of its sample, and `level` of that.
    private func faded(_ samples: [Int32], out: Bool, level: Double = 1) -> [Int32] {
        var result: [Int32] = []
        for (index, sample) in samples.enumerated() {
            let steps = Double(out ? Self.fade - index : index + 1)
            let product: Double = Double(sample) * level * steps / Double(Self.fade + 1)
            result.append(Int32((product + 0.5).rounded(.down)))
        }
        return result
    }

    private func faded(_ frames: Range<Int>, of stream: Int = 1, out: Bool, level: Double = 1) -> [Int32] {
        faded(plain(frames, of: stream), out: out, level: level)
    }

    private func isClose(_ heard: [Int32], _ expected: [Int32]) -> Bool {
        heard.count == expected.count && zip(heard, expected).allSatisfy { abs(Int64($0) - Int64($1)) <= 1 }
    }

    private func samples(_ bench: RenderBench) -> [Int32] { bench.card.recordings.flatMap(\.samples) }

    @Test("Held: two frames more, then five that fade out, then the device stops; the position is the first faded one")
    func fadeOut() {
        let bench = heldBench()
        #expect(bench.position == .frame(125, of: 1))
        // Silence follows the fade, so a loop that is late does not let anything else be heard.
        #expect(bench.settle() == .time(milliseconds: 8))
        bench.card.advance(7)
        #expect(bench.settle() == .command)
        #expect(!bench.card.isStarted)
        #expect(isClose(samples(bench), plain(0..<125) + faded(125..<130, out: true)))
    }

    @Test("Resumed, the faded frames are heard again, fading in: nothing is lost")
    func fadeIn() {
        let bench = heldBench()
        bench.card.advance(7)
        bench.settle()
        bench.run(2)
        bench.settle()
        bench.hear(575)
        #expect(bench.events == ["opened 1000/1", "running 1", "running 2", "ended 1"])
        let expected =
            plain(0..<125) + faded(125..<130, out: true) + faded(125..<130, out: false) + plain(130..<700)
        #expect(isClose(samples(bench), expected))
        #expect(Array(samples(bench).suffix(570)) == plain(130..<700))
    }

    @Test("A loop that is late hears silence behind the fade")
    func late() {
        let bench = heldBench()
        bench.card.advance(100)
        bench.settle()
        #expect(isClose(samples(bench), plain(0..<125) + faded(125..<130, out: true) + Array(repeating: 0, count: 93)))
    }

    @Test("A device that does not get there in time is stopped 25 ms after the request")
    func limit() {
        let bench = heldBench()
        bench.clock.advance(by: 24_999_999)
        #expect(bench.settle() == .time(milliseconds: 8))
        #expect(bench.card.isStarted)
        bench.clock.advance(by: 1)
        #expect(bench.settle() == .command)
        #expect(!bench.card.isStarted && bench.card.pendingFrames == 0)
    }

    @Test("A seek: what was playing fades out, what comes fades in, and nothing is written before the device stopped")
    func seek() {
        let bench = heldBench()
        bench.begin(bench.stream(300, from: 9_000_000_000))
        bench.run(2)
        #expect(bench.settle() == .time(milliseconds: 8))
        bench.card.advance(7)
        bench.settle()
        bench.hear(300)
        let expected =
            plain(0..<125) + faded(125..<130, out: true) + faded(0..<5, of: 2, out: false) + plain(5..<300, of: 2)
        #expect(isClose(samples(bench), expected))
    }

    @Test("A skip: the start of the next track is heard unchanged")
    func skip() {
        let bench = bench()
        bench.play(bench.stream(700))
        bench.hear(123)
        bench.begin(bench.stream(300))
        bench.run(2)
        bench.settle()
        bench.card.advance(7)
        bench.settle()
        bench.hear(300)
        #expect(isClose(samples(bench), plain(0..<125) + faded(125..<130, out: true) + plain(0..<300, of: 2)))
        #expect(Array(samples(bench).suffix(300)) == plain(0..<300, of: 2))
    }

    @Test("Natural boundaries are bit-exact: between tracks, at a change of format, and at the end")
    func boundaries() {
        let bench = bench()
        let fast = PCMFormat(sampleRate: 2000, channelCount: 1, bitDepth: 16)
        bench.play(bench.stream(300), then: bench.stream(301))
        bench.hear(301)
        bench.setNext(bench.stream(302, format: fast))
        bench.settle()
        bench.hear(300)
        bench.hear(302)
        #expect(bench.heard == [frames(0..<300, of: 1), frames(0..<301, of: 2), frames(0..<302, of: 3)])
    }

    @Test("A fade across a boundary goes back to the track before it")
    func acrossBoundary() {
        let bench = bench()
        bench.play(bench.stream(300), then: bench.stream(300))
        bench.hear(296)
        bench.hold()
        #expect(bench.position == .frame(298, of: 1))
        bench.card.advance(7)
        bench.settle()
        #expect(!bench.events.contains("heard 2"))
        bench.run(2)
        bench.settle()
        bench.hear(302)
        #expect(bench.events == ["running 2", "heard 2", "ended 2"])
        let around = plain(298..<300) + plain(0..<3, of: 2)
        let fadeOut = faded(around, out: true)
        let fadeIn = faded(around, out: false)
        #expect(isClose(samples(bench), plain(0..<298) + fadeOut + fadeIn + plain(3..<300, of: 2)))
    }

    @Test("Held again while it fades in: it fades out from where it was")
    func fadeOutOfFadeIn() {
        let bench = bench()
        bench.play(bench.stream(700, from: 1_000_000_000))
        bench.hear(1)
        bench.hold()
        #expect(bench.position == .frame(1003, of: 1))
        bench.card.advance(7)
        bench.settle()
        let heard = Array(faded(0..<5, out: false).prefix(3)) + faded(3..<8, out: true, level: 4.0 / 6)
        #expect(isClose(samples(bench), heard))
    }

    @Test("Once more with mono on two channels")
    func adapted() {
        let bench = bench()
        bench.card.support(channels: [2])
        bench.play(bench.stream(700))
        bench.hear(123)
        bench.hold()
        bench.card.advance(7)
        bench.settle()
        #expect(isClose(samples(bench), (plain(0..<125) + faded(125..<130, out: true)).flatMap { [$0, $0] }))
    }

    @Test("A device that cannot take frames back is cut off at once; what follows fades in")
    func withoutRewinding() {
        let bench = heldBench(rewinds: false)
        #expect(bench.settle() == .command)
        #expect(bench.position == .frame(123, of: 1))
        bench.run(2)
        bench.settle()
        bench.hear(577)
        #expect(isClose(samples(bench), plain(0..<123) + faded(123..<128, out: false) + plain(128..<700)))
    }

    @Test("Too little in the device for a fade: cut off at once")
    func tooLittle() {
        let bench = bench()
        bench.play(bench.stream(130))
        bench.hear(124)
        bench.hold()
        #expect(bench.settle() == .command)
        #expect(samples(bench) == plain(0..<124))
        #expect(bench.position == .frame(124, of: 1))
    }

    @Test("Turned off, every frame is heard unchanged")
    func turnedOff() {
        let bench = bench { $0.fades = false }
        bench.play(bench.stream(700))
        bench.hear(123)
        bench.hold()
        bench.run(2)
        bench.settle()
        bench.hear(577)
        #expect(samples(bench) == plain(0..<700))
    }

    @Test("An underrun, or a device that was lost, is a silence: what follows fades in", arguments: [true, false])
    func fault(isUnderrun: Bool) {
        let bench = bench()
        bench.play(bench.stream(700))
        bench.hear(100)
        if isUnderrun { bench.card.inject(.underrun) } else { bench.card.unplug() }
        bench.settle()
        bench.card.plugIn()
        bench.clock.advance(by: RenderLoop.deviceRetryInterval)
        bench.settle()
        let heard = samples(bench).count
        bench.hear(700 - heard)
        #expect(heard == (isUnderrun ? 300 : 100))
        let end = heard + 5
        let expected: [Int32] = plain(0..<heard) + faded(heard..<end, out: false) + plain(end..<700)
        #expect(isClose(samples(bench), expected))
    }

    @Test("On a device of 16 bits only the faded frames are dithered; all others arrive bit for bit")
    func dither() {
        let bench = bench()
        bench.card.support([.s16])
        bench.play(bench.stream(700, from: 1_000_000_000))
        bench.hear(700)
        let expected = plain(0..<700).map { $0 & ~0xffff }
        #expect(Array(samples(bench).dropFirst(Self.fade)) == Array(expected.dropFirst(Self.fade)))
    }

    @Test("A fault while it fades ends the fade")
    func faultWhileFading() {
        let bench = heldBench()
        bench.card.inject(.suspended)
        #expect(bench.settle() == .command)
        bench.run(2)
        bench.settle()
        bench.hear(575)
        #expect(bench.events == ["opened 1000/1", "running 1", "running 2", "ended 1"])
    }

    @Test("The device is released when the fade was heard, and not before")
    func release() {
        let bench = bench()
        bench.play(bench.stream(700))
        bench.hear(123)
        bench.send(.clear(releaseDevice: true))
        #expect(bench.loop.isReleasing && bench.card.isOpen)
        bench.card.advance(7)
        bench.settle()
        #expect(!bench.loop.isReleasing && !bench.card.isOpen)
    }
}
