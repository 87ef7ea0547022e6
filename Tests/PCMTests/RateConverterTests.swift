import Foundation
import PCM
import Testing

@Suite("Conversion of sample rates (docs/playback.md, 8)")
struct RateConverterTests {
    /// Converts all samples.
    /// - Parameters:
    ///   - piece: frames that are given at once.
    ///   - room: frames that are taken at once.
    private func converted(
        _ samples: [Int32], from source: Int, to target: Int, channels: Int, quality: RateQuality = .veryHigh,
        piece: Int = 4096, room: Int = 4096
    ) throws -> [Int32] {
        var converter = try RateConverter(from: source, to: target, channelCount: channels, quality: quality)
        return convert(samples, with: &converter, channels: channels, piece: piece, room: room)
    }

    private func convert(
        _ samples: [Int32], with converter: inout RateConverter, channels: Int, piece: Int = 4096, room: Int = 4096
    ) -> [Int32] {
        let output = UnsafeMutableBufferPointer<Int32>.allocate(capacity: room * channels)
        defer { output.deallocate() }
        var (result, place): ([Int32], Int) = ([], 0)
        samples.withUnsafeBufferPointer { all in
            while place < samples.count {
                let end = min(samples.count, place + piece * channels)
                let step = converter.convert(UnsafeBufferPointer(rebasing: all[place..<end]), into: output)
                place += step.consumed * channels
                result += output[..<(step.produced * channels)]
            }
        }
        while case let count = converter.finish(into: output), count > 0 { result += output[..<(count * channels)] }
        return result
    }

    private func noise(_ count: Int, amplitude: Int32 = .max / 2) -> [Int32] {
        var state: UInt64 = 88_172_645_463_325_252
        return (0..<count).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int32(truncatingIfNeeded: state >> 20) % amplitude
        }
    }

    static let pairs = [
        (44_100, 48_000), (48_000, 44_100), (96_000, 48_000), (192_000, 48_000), (88_200, 44_100), (22_050, 44_100),
        (8000, 48_000), (11_025, 48_000), (44_100, 192_000), (37_800, 48_000),
    ]

    @Test("The output lasts as long as the input, rounded to a frame", arguments: pairs)
    func count(source: Int, target: Int) throws {
        for frames in [1, 7, 1000, 44_101, 100_003] {
            let output = try converted(noise(frames * 2), from: source, to: target, channels: 2)
            let exact = Double(frames) * Double(target) / Double(source)
            #expect(abs(Double(output.count / 2) - exact) <= 1, "\(frames)")
        }
    }

    @Test("The pieces in which it is given and taken change nothing", arguments: pairs.prefix(3))
    func pieces(source: Int, target: Int) throws {
        let samples = noise(30_001 * 2)
        let whole = try converted(samples, from: source, to: target, channels: 2)
        for (piece, room) in [(1, 4096), (4096, 1), (333, 777)] {
            let other = try converted(
                samples, from: source, to: target, channels: 2, piece: piece, room: room)
            #expect(other == whole, "\(piece) \(room)")
        }
    }

    @Test("After a reset it begins anew")
    func reset() throws {
        let samples = noise(20_000)
        var converter = try RateConverter(from: 48_000, to: 44_100, channelCount: 1)
        let first = convert(samples, with: &converter, channels: 1)
        converter.reset()
        #expect(convert(samples, with: &converter, channels: 1) == first)
    }

    /// How much stronger a sine is than its error, in decibels, without the ends.
    private func cleanness(_ source: Int, _ target: Int, hertz: Double, _ quality: RateQuality) throws -> Double {
        func sine(_ rate: Int, _ frame: Int) -> Double { 0.5 * sin(2 * .pi * hertz * Double(frame) / Double(rate)) }
        let input = (0..<(2 * source)).map { Int32((sine(source, $0) * 2_147_483_648).rounded()) }
        let output = try converted(input, from: source, to: target, channels: 1, quality: quality)
        var (signal, fault) = (0.0, 0.0)
        for frame in (target / 2)..<(3 * target / 2) {
            let wanted = sine(target, frame)
            signal += wanted * wanted
            fault += pow(Double(output[frame]) / 2_147_483_648 - wanted, 2)
        }
        return 10 * log10(signal / max(fault, 1e-30))
    }

    @Test("A sine stays one, at the same time: to 28 bits, and to 20", arguments: pairs.prefix(7))
    func sine(source: Int, target: Int) throws {
        #expect(try cleanness(source, target, hertz: 997, .veryHigh) > 160)
        #expect(try cleanness(source, target, hertz: 997, .high) > 115)
    }

    @Test("Frequencies above the lower rate are gone, and do not come back as others")
    func aliases() throws {
        let input = (0..<96_000).map { Int32((0.5 * sin(2 * .pi * 30_000 * Double($0) / 96_000) * 2e9).rounded()) }
        let output = try converted(input, from: 96_000, to: 48_000, channels: 1)
        let loudest = output[12_000..<36_000].map { abs(Double($0)) }.max() ?? 0
        #expect(loudest < 2_147_483_648 * pow(10, -150.0 / 20))
    }

    @Test("Full scale saturates: it never changes its sign")
    func saturation() throws {
        let square = (0..<44_100).map { $0 / 50 % 2 == 0 ? Int32.max : Int32.min }
        let output = try converted(square, from: 44_100, to: 48_000, channels: 1)
        #expect(output.contains(.max) && output.contains(.min))
        for frame in 1000..<(output.count - 1000) {
            let place = (Double(frame) * 44_100 / 48_000).truncatingRemainder(dividingBy: 100)
            // Not near an edge.
            if (5..<45).contains(place) { #expect(output[frame] > 0) }
            if (55..<95).contains(place) { #expect(output[frame] < 0) }
        }
    }

    @Test("Each channel has its own sound", arguments: [3, 8])
    func channels(count: Int) throws {
        let frames = 5000
        let parts = (0..<count).map { channel in Array(noise(frames * (channel + 1)).suffix(frames)) }
        let interleaved = (0..<frames).flatMap { frame in parts.map { $0[frame] } }
        let output = try converted(interleaved, from: 44_100, to: 48_000, channels: count)
        for (channel, part) in parts.enumerated() {
            let alone = try converted(part, from: 44_100, to: 48_000, channels: 1)
            #expect(stride(from: channel, to: output.count, by: count).map { output[$0] } == alone)
        }
    }
}

@Suite("The rate at which a device plays (docs/playback.md, 8)")
struct SampleRateRuleTests {
    @Test(
        "Its own where the device has it; else the highest of its family, the next above, the highest",
        arguments: [
            (96_000, [44_100, 48_000], 48_000), (192_000, [44_100, 48_000, 96_000], 96_000),
            (88_200, [44_100, 48_000], 44_100), (44_100, [44_100, 48_000], 44_100), (44_100, [48_000], 48_000),
            (48_000, [44_100], 44_100), (22_050, [44_100, 48_000, 88_200, 96_000], 88_200),
            (8000, [44_100, 48_000], 48_000), (176_400, [48_000, 192_000], 192_000),
            (37_800, [44_100, 48_000], 48_000), (96_000, [], 96_000),
        ])
    func nearest(source: Int, rates: [Int], target: Int) {
        #expect(SampleRateRule().deviceRate(for: source, of: rates) == target)
        #expect(SampleRateRule(quality: nil).deviceRate(for: source, of: rates) == source)
        #expect(SampleRateRule(fixed: 48_000).deviceRate(for: source, of: rates) == 48_000)
    }

    @Test("A highest rate is a limit, unless the device has nothing below it")
    func limit() {
        let rule = SampleRateRule(highest: 96_000)
        let rates = [44_100, 48_000, 88_200, 96_000, 176_400, 192_000]
        #expect(rule.deviceRate(for: 192_000, of: rates) == 96_000)
        #expect(rule.deviceRate(for: 176_400, of: rates) == 88_200)
        #expect(rule.deviceRate(for: 96_000, of: rates) == 96_000)
        #expect(rule.deviceRate(for: 192_000, of: []) == 96_000 && rule.deviceRate(for: 352_800, of: []) == 88_200)
        #expect(rule.deviceRate(for: 48_000, of: [192_000]) == 192_000)
    }
}
