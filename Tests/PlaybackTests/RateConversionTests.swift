import Output
import PCM
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("Sample rates that the device does not have (docs/playback.md, 8)")
struct RateConversionTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    /// The samples of a track at another rate, from a frame of it on.
    private func converted(_ track: Track, to rate: Int, from frame: Int = 0) throws -> [Int32] {
        let channels = track.format.channelCount
        var converter = try RateConverter(from: track.format.sampleRate, to: rate, channelCount: channels)
        let samples = track.samples(from: frame)
        let room = samples.count / track.format.sampleRate * rate + 100_000
        let output = UnsafeMutableBufferPointer<Int32>.allocate(capacity: room)
        defer { output.deallocate() }
        var (result, place): ([Int32], Int) = ([], 0)
        samples.withUnsafeBufferPointer { all in
            while place < samples.count {
                let step = converter.convert(UnsafeBufferPointer(rebasing: all[place...]), into: output)
                place += step.consumed * channels
                result += output[..<(step.produced * channels)]
            }
        }
        while case let count = converter.finish(into: output), count > 0 { result += output[..<(count * channels)] }
        return result
    }

    private func fixture(
        rates: Set<Int>, _ set: (inout PlayerSettings) -> Void = { _ in }
    ) throws -> PlayerFixture {
        let fixture = try PlayerFixture(change: set)
        fixture.card.support([.s32], rates: rates)
        return fixture
    }

    @Test("It is converted, whole, and the context says to which rate")
    func whole() throws {
        let track = try Track("a", frames: 16_001, rate: 16_000, in: folder)
        let fixture = try fixture(rates: [8000])
        fixture.card.playFreely()
        fixture.engine.load(track.product)
        fixture.engine.play()
        try fixture.wait(for: .idle)
        let expected = try converted(track, to: 8000)
        #expect(expected.count / 2 == 8001 || expected.count / 2 == 8000)
        let isEqual = fixture.card.recordings.map(\.samples) == [expected]
        #expect(isEqual && fixture.log.messages.compactMap(\.error).isEmpty)
        let contexts = fixture.log.messages.compactMap(\.context)
        let last = try #require(contexts.last)
        #expect(last.audioSampleRate == 16_000 && last.audioBitDepth == 16 && last.convertedSampleRate == 8000)
        #expect(fixture.card.recordings.last?.configuration.sampleRate == 8000)
    }

    @Test("Once the device is known, the next products are converted at once: one device, one after the other")
    func gapless() throws {
        let one = try Track("a", frames: 8001, rate: 16_000, in: folder)
        let two = try Track("b", frames: 4001, in: folder)
        let three = try Track("c", frames: 6001, rate: 12_000, in: folder)
        let fixture = try fixture(rates: [8000, 11_025])
        let (first, last) = (try converted(one, to: 8000), try converted(three, to: 8000))
        try fixture.play([
            (one.product, first.count / 2), (two.product, two.frames), (three.product, last.count / 2),
        ])
        let isEqual = fixture.card.recordings.map(\.samples) == [first + two.samples + last]
        #expect(isEqual)
        #expect(fixture.log.messages.compactMap(\.error).isEmpty)
    }

    @Test("The next product, whose rate an open device does not have, follows without a gap")
    func next() throws {
        let one = try Track("a", frames: 4000, in: folder)
        let two = try Track("b", frames: 8001, rate: 16_000, in: folder)
        let fixture = try fixture(rates: [8000, 11_025])
        try fixture.play(one.product)
        fixture.engine.setNext(two.product)
        try fixture.waitForNext()
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        let isEqual = fixture.card.recordings.map(\.samples) == [one.samples + (try converted(two, to: 8000))]
        #expect(isEqual)
        let rates = fixture.log.messages.compactMap(\.context).map { $0.convertedSampleRate }
        #expect(rates == [nil, 8000])
    }

    @Test("A seek lands on the frame: what follows is what was recorded from there on", arguments: [8000, 9001, 0])
    func seek(frame: Int) throws {
        let track = try Track("a", frames: 32_000, rate: 16_000, in: folder)
        let fixture = try fixture(rates: [8000])
        fixture.engine.load(track.product)
        try fixture.wait(forTransitions: 1)
        fixture.engine.play()
        try fixture.wait(for: .playing)
        try fixture.hear(1000)
        fixture.engine.seek(Double(frame) / 16_000)
        try fixture.wait(forFrame: frame, rate: 16_000)
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        // Decoded from a tenth of a second before it, if there is one.
        let start = max(0, frame - 1600)
        let expected = try converted(track, to: 8000, from: start).dropFirst((frame - start) / 2 * 2)
        let heard = fixture.card.recordings.flatMap(\.samples)
        let isEqual = Array(heard.suffix(expected.count)) == Array(expected)
        #expect(isEqual, "\(heard.count) \(expected.count)")
    }

    @Test("A rate of the device passes unchanged; a fixed rate converts all of them, and off none")
    func settings() throws {
        let track = try Track("a", frames: 8000, rate: 16_000, in: folder)
        for (fixed, rate) in [(nil, 16_000), (8000, 8000)] as [(Int?, Int)] {
            let fixture = try fixture(rates: [8000, 16_000]) { $0.output.sampleRates.fixed = fixed }
            fixture.card.playFreely()
            fixture.engine.load(track.product)
            fixture.engine.play()
            try fixture.wait(for: .idle)
            let expected = fixed == nil ? track.samples : try converted(track, to: 8000)
            let isEqual = fixture.card.recordings.map(\.samples) == [expected]
            #expect(isEqual && fixture.card.recordings.first?.configuration.sampleRate == rate)
        }
        let refused = try fixture(rates: [8000]) { $0.output.sampleRates.quality = nil }
        refused.engine.load(track.product)
        refused.engine.play()
        try refused.wait(for: .idle)
        #expect(refused.messages.contains("error d4 (a)"))
    }

    @Test("A recording whose rate changes in its middle goes on at the rate of the device")
    func changing() throws {
        let one = try Track("a", frames: 8000, rate: 16_000, in: folder)
        let two = try Track("b", frames: 4001, in: folder)
        let joined = try Track("c", joining: [one, two], in: folder)
        let fixture = try fixture(rates: [8000])
        fixture.card.playFreely()
        fixture.engine.load(joined.product)
        fixture.engine.play()
        try fixture.wait(for: .idle)
        let expected = try converted(one, to: 8000) + two.samples
        let isEqual = fixture.card.recordings.flatMap(\.samples) == expected
        #expect(isEqual)
    }
}

@Suite("The known rates of a device (docs/playback.md, 8)")
struct DeviceRatesTests {
    private func device(_ rates: [Int]) -> DeviceConfiguration {
        DeviceConfiguration(
            device: "d", sampleRate: rates[0], channelCount: 2, sampleFormat: .s32, significantBits: 32,
            bufferFrames: 4, periodFrames: 2, memoryMapped: true, rates: rates)
    }

    @Test("Before a device is known each rate is tried, and so is what a device has not named beside one rate alone")
    func tried() {
        var rates = DeviceRates()
        #expect(rates.rate(for: 96_000) == 96_000)
        rates.opened(device([44_100]))
        #expect(rates.rate(for: 96_000) == 96_000 && rates.rate(for: 44_100) == 44_100)
        let isConverted = rates.refuse(96_000, supported: [44_100])
        #expect(isConverted && rates.rate(for: 96_000) == 44_100 && rates.rate(for: 48_000) == 48_000)
    }

    @Test("A list of several rates is believed, but for unusual ones")
    func believed() {
        var rates = DeviceRates()
        rates.opened(device([44_100, 48_000]))
        #expect(rates.rate(for: 96_000) == 48_000 && rates.rate(for: 37_800) == 37_800)
        let isConverted = rates.refuse(37_800, supported: [44_100, 48_000])
        #expect(isConverted && rates.rate(for: 37_800) == 48_000)
    }

    @Test("A refused rate is tried again when the device names it, and when it is gone")
    func forgotten() {
        var rates = DeviceRates()
        _ = rates.refuse(96_000, supported: [44_100])
        rates.opened(device([44_100, 96_000]))
        #expect(rates.rate(for: 96_000) == 96_000)
        _ = rates.refuse(96_000, supported: [44_100])
        rates.lost()
        #expect(rates.rate(for: 96_000) == 96_000)
    }

    @Test("Nothing is converted to a rate that the device lacks as well")
    func useless() {
        var fixed = DeviceRates(rule: SampleRateRule(fixed: 48_000))
        let isConverted = fixed.refuse(48_000, supported: [44_100])
        #expect(!isConverted)
        var off = DeviceRates(rule: SampleRateRule(quality: nil))
        let isAllowed = off.refuse(96_000, supported: [48_000])
        #expect(!isAllowed)
    }
}
