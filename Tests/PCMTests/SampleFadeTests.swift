import PCM
import Testing

@Suite("Fades: linear, a step each frame")
struct SampleFadeTests {
    private func applied(_ fade: SampleFade, to samples: [Int32], channels: Int = 1, pieces: [Int] = [.max]) -> [Int32]
    {
        var fade = fade
        var samples = samples
        samples.withUnsafeMutableBufferPointer { buffer in
            var (first, turn) = (0, 0)
            while first < buffer.count / channels {
                let count = min(pieces[turn % pieces.count], buffer.count / channels - first)
                fade.apply(to: buffer.baseAddress! + first * channels, frames: count, channelCount: channels)
                first += count
                turn += 1
            }
        }
        return samples
    }

    @Test("In from silence, out to silence; what lies behind is as it was, or silent")
    func line() {
        let samples = [Int32](repeating: 6000, count: 8)
        #expect(applied(.fadeIn(frames: 5), to: samples) == [1000, 2000, 3000, 4000, 5000, 6000, 6000, 6000])
        #expect(applied(.fadeOut(frames: 5), to: samples) == [5000, 4000, 3000, 2000, 1000, 0, 0, 0])
    }

    @Test(
        "Out from the level that fading in has reached",
        arguments: [(0, 1.0 / 6), (3, 4.0 / 6), (5, 1), (90, 1)] as [(Int64, Double)])
    func level(frame: Int64, level: Double) {
        let fade = SampleFade.fadeIn(frames: 5).fadeOut(from: frame, frames: 5)
        let expected = (0..<5).map { Int32((6000 * level * Double(5 - $0) / 6).rounded()) }
        #expect(applied(fade, to: Array(repeating: 6000, count: 5)) == expected)
    }

    @Test("All channels of a frame have one factor, however the frames are cut")
    func channels() {
        let samples = (0..<600).map { Int32($0 / 3 % 2 == 0 ? 1 << 30 : -(1 << 30)) }
        let whole = applied(.fadeIn(frames: 150), to: samples, channels: 3)
        #expect(applied(.fadeIn(frames: 150), to: samples, channels: 3, pieces: [1, 7, 64]) == whole)
        for frame in 0..<200 { #expect(Set(whole[(frame * 3)..<(frame * 3 + 3)]).count == 1) }
    }

    @Test("Extremes do not overflow")
    func extremes() {
        for extreme in [Int32.min, .max] {
            let samples = [Int32](repeating: extreme, count: 3)
            #expect(applied(.fadeIn(frames: 0), to: samples) == samples)
            #expect(applied(.fadeOut(frames: 0), to: samples) == [0, 0, 0])
            #expect(applied(.fadeIn(frames: 2), to: samples)[2] == extreme)
        }
    }
}
