import PCM
import Testing

@Suite("Gain ramps: 20 ms, linear, a step each frame")
struct GainRampTests {
    /// At gain g this sample comes out of a 32-bit renderer as g's raw value: it makes the gain visible.
    private let probe: Int32 = 1 << 28

    private func rampedGains(of renderer: inout SampleRenderer, frames: Int) -> [Int32] {
        render(Array(repeating: probe, count: frames * renderer.channelCount), with: &renderer)
    }

    @Test(
        "lasts 20 ms and ends exactly at the target",
        arguments: [
            (8000, 160), (44_100, 882), (48_000, 960), (192_000, 3840), (1, 1), (11_025, 220),
        ])
    func length(sampleRate: Int, frames: Int) {
        var renderer = SampleRenderer(format: .s32, channelCount: 1, sampleRate: sampleRate, seed: 1)
        let target = Gain(factor: 0.123)
        renderer.rampGain(to: target)
        let gains = rampedGains(of: &renderer, frames: frames + 10)
        #expect(gains[(frames - 1)...].allSatisfy { $0 == target.rawValue })
        #expect(gains[..<(frames - 1)].allSatisfy { $0 > target.rawValue && $0 < Gain.unity.rawValue })
        let isRamping = renderer.isRamping
        #expect(!isRamping)
    }

    @Test(
        "is monotonic and never more than a rounding away from the line",
        arguments: [
            (1.0, 0.0), (0.0, 1.0), (1.0, 0.001), (0.001, 7.9), (0.5, 0.500_001), (7.9, 0.0),
        ])
    func line(from: Double, to: Double) {
        let (start, target) = (Gain(factor: from), Gain(factor: to))
        var renderer = SampleRenderer(format: .s32, channelCount: 1, sampleRate: 44_100, seed: 1)
        renderer.switchGain(to: start)
        renderer.rampGain(to: target)
        var previous = start.rawValue
        for (index, gain) in rampedGains(of: &renderer, frames: 882).enumerated() {
            #expect(from < to ? gain >= previous : gain <= previous)
            let part = Double(index + 1) / 882
            let line = Double(start.rawValue) * (1 - part) + Double(target.rawValue) * part
            #expect(abs(Double(gain) - line) <= 1)
            previous = gain
        }
        #expect(previous == target.rawValue)
    }

    @Test("all channels of a frame have one gain")
    func channels() {
        var renderer = SampleRenderer(format: .s32, channelCount: 3, sampleRate: 8000, seed: 1)
        renderer.rampGain(to: .muted)
        let gains = rampedGains(of: &renderer, frames: 160)
        for frame in stride(from: 0, to: gains.count, by: 3) {
            #expect(gains[frame] == gains[frame + 1] && gains[frame] == gains[frame + 2])
        }
        #expect(Set(gains).count == 160)
    }

    @Test("a new ramp starts from where the current one is and takes its full length")
    func interrupted() throws {
        var renderer = SampleRenderer(format: .s32, channelCount: 1, sampleRate: 44_100, seed: 1)
        renderer.rampGain(to: .muted)
        let halfWay = try #require(rampedGains(of: &renderer, frames: 441).last)
        #expect(halfWay == Gain.unity.rawValue / 2)
        renderer.rampGain(to: .unity)
        let upwards = rampedGains(of: &renderer, frames: 882)
        let step = (Gain.unity.rawValue - halfWay) / 882
        #expect(abs(upwards[0] - (halfWay + step)) <= 1)
        #expect(upwards[880] < Gain.unity.rawValue)
        #expect(upwards[881] == Gain.unity.rawValue)
    }

    @Test("a switch ends a ramp at once")
    func switched() {
        var renderer = SampleRenderer(format: .s32, channelCount: 1, sampleRate: 44_100, seed: 1)
        renderer.rampGain(to: .muted)
        _ = rampedGains(of: &renderer, frames: 100)
        renderer.switchGain(to: Gain(factor: 0.25))
        let isRamping = renderer.isRamping
        #expect(!isRamping)
        #expect(rampedGains(of: &renderer, frames: 3) == [1 << 26, 1 << 26, 1 << 26])
    }

    @Test("to the gain that already is, nothing happens")
    func nowhere() {
        var renderer = SampleRenderer(format: .s16, channelCount: 1, sampleRate: 44_100, seed: 1)
        renderer.rampGain(to: .unity)
        let isRamping = renderer.isRamping
        #expect(!isRamping)
        #expect(render([12_345 << 16], with: &renderer) == [12_345])
    }

    @Test(
        "after a ramp to silence there is digital zero, after a ramp to unity the samples themselves",
        arguments: SampleFormat.allCases)
    func ends(format: SampleFormat) {
        let samples = (0..<2000).map { Int32($0 * 7919 % 30_000) << 16 }
        let kept = Int32(format.bitDepth - 16)
        var renderer = SampleRenderer(format: format, channelCount: 2, sampleRate: 8000, seed: 5)
        renderer.sourceBitDepth = 16
        renderer.rampGain(to: .muted)
        let down = render(samples, with: &renderer)
        #expect(down[(159 * 2)...].allSatisfy { $0 == 0 })
        #expect(down[..<(159 * 2)].contains { $0 != 0 })
        renderer.rampGain(to: .unity)
        let up = render(samples, with: &renderer)
        #expect(up[(159 * 2)...].elementsEqual(samples[(159 * 2)...].map { ($0 >> 16) << kept }))
    }
}
