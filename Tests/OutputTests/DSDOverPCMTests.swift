import CALSA
import OutputTestSupport
import PCM
import Platform
import SimulatedCard
import TestSupport
import Testing

@testable import Output

@Suite("Rendering: DSD over PCM (docs/decisions/dsd-over-pcm.md)")
struct DSDOverPCMTests {
    /// A thousandth of DSD64's rate, so that a frame is a millisecond and the bench's sizes hold.
    private static let mono = PCMFormat(sampleRate: 1000, channelCount: 1, bitDepth: 16, isDSD: true)
    /// 20 ms of it.
    private static let lead = 20
    private static let idle: UInt32 = 0x6969

    /// Words of DSD, of which none is the idle pattern.
    private static func word(_ stream: Int, _ frame: Int, _ channel: Int = 0) -> UInt32 {
        UInt32(stream << 13 | (frame * 3 + channel) % 0x1F00)
    }

    private static func words(_ stream: Int, _ frames: Range<Int>, channels: Int = 1) -> [UInt32] {
        frames.flatMap { frame in (0..<channels).map { word(stream, frame, $0) } }
    }

    private func stream(
        _ id: Int, _ frames: Int, _ format: PCMFormat = mono, from start: Int64 = 0, open isOpen: Bool = false
    ) -> PCMStream {
        let stream = try! PCMStream(
            id: UInt64(id), format: format, startPosition: start, deviceMilliseconds: 200, aheadMilliseconds: 1500)
        write(stream, id, 0..<frames)
        if !isOpen { #expect(stream.ring.put(.end)) }
        return stream
    }

    private func write(_ stream: PCMStream, _ id: Int, _ frames: Range<Int>) {
        let words = Self.words(id, frames, channels: stream.format.channelCount)
        var written = 0
        while written < words.count, case let region = stream.ring.writableRegion(), !region.isEmpty {
            let count = min(region.count, words.count - written)
            // The lower half is not of the word.
            for index in 0..<count { region[index] = Int32(bitPattern: words[written + index] << 16) }
            stream.ring.commit(count)
            written += count
        }
        #expect(written == words.count)
    }

    private func begin(_ stream: PCMStream, on bench: RenderBench, then next: PCMStream? = nil) {
        bench.send(.begin(.passUnretained(stream)))
        if let next { bench.send(.setNext(.passUnretained(next))) }
        bench.run()
        bench.settle()
    }

    /// The words of a recording, whose markers alternate from its first frame on.
    private func words(_ recording: PacedCard.Recording?) throws -> [UInt32] {
        let recording = try #require(recording)
        let channels = recording.configuration.channelCount
        return recording.samples.enumerated().map { index, sample in
            let sample = UInt32(bitPattern: sample)
            let marker: UInt32 = index / channels % 2 == 0 ? 0x05 : 0xFA
            if sample >> 24 != marker || sample & 0xFF != 0 { Issue.record("frame \(index / channels): \(sample)") }
            return sample >> 8 & 0xFFFF
        }
    }

    private func idle(_ count: Int) -> [UInt32] { [UInt32](repeating: Self.idle, count: count) }

    // MARK: A real card's bytes

    @Test(
        "Two files joined after an odd frame, byte for byte, on a card of alsa-lib",
        arguments: [2_822_400, 5_644_800],
        [SampleFormat.s24Packed, .s24, .s32])
    func card(rate: Int, format: SampleFormat) throws {
        let dsd = PCMFormat.dsd(bitRate: rate, channelCount: 2)
        let card = try Card(
            rates: [44_100, 176_400, 352_800], formats: [SND_PCM_FORMAT_S16_LE, format.alsa], channels: [1, 2])
        let channel = RendererChannel()
        let loop = RenderLoop(
            provider: CardProvider(card), clock: ManualClock(), settings: RendererSettings(device: "card"),
            channel: channel)
        let streams = [stream(1, 5001, dsd), stream(2, 4000, dsd)]
        for item in streams { item.gain = Gain(factor: 0.1) }
        _ = loop.handle(.begin(.passUnretained(streams[0])))
        _ = loop.handle(.setNext(.passUnretained(streams[1])))
        _ = loop.handle(.run(generation: 1))
        for _ in 0..<100 where loop.step() == .time(milliseconds: 0) {}
        let words = Self.words(1, 0..<5001, channels: 2) + Self.words(2, 0..<4000, channels: 2)
        let expected = words.enumerated().flatMap { index, word -> [UInt8] in
            let bytes = [UInt8(word & 0xFF), UInt8(word >> 8), index / 2 % 2 == 0 ? 0x05 : 0xFA] as [UInt8]
            return switch format {
            case .s32: [0] + bytes
            case .s24: bytes + [index / 2 % 2 == 0 ? 0 : 0xFF]
            default: bytes
            }
        }
        #expect(card.written == expected)
        _ = loop.handle(.quit)
        while let event = channel.events.pop() {
            if case .opened(_, let box) = event.kind {
                let configuration = box.takeRetainedValue().configuration
                #expect(configuration.isDSD && configuration.sampleRate == rate / 16)
                #expect(configuration.sampleFormat == format)
            }
        }
    }

    @Test("A card of 16 bits, of subframes, without the rate or the channels is not opened")
    func refusals() throws {
        func error(_ card: Card) -> DeviceError? {
            var request = DeviceRequest(device: "card", format: .dsd(bitRate: 2_822_400, channelCount: 2))
            request.allowsAdaptation = RendererSettings(device: "card").request(for: request.format).allowsAdaptation
            do throws(DeviceError) {
                try card.open(request).close()
                return nil
            } catch {
                return error
            }
        }
        let (rates, wide) = ([44_100, 176_400] as [UInt32], [SND_PCM_FORMAT_S32_LE])
        #expect(error(try Card(rates: rates, formats: wide)) == nil)
        let narrow = DeviceError.sampleFormatNotSupported(device: "card", requested: nil)
        #expect(error(try Card(rates: rates, formats: [SND_PCM_FORMAT_S16_LE])) == narrow)
        #expect(error(try Card(rates: rates, formats: [SND_PCM_FORMAT_IEC958_SUBFRAME_LE])) == narrow)
        #expect(
            error(try Card(rates: [44_100, 88_200], formats: wide))
                == .rateNotSupported(device: "card", rate: 176_400, supported: [44_100, 88_200]))
        #expect(
            error(try Card(rates: rates, formats: wide, channels: [6]))
                == .channelsNotSupported(device: "card", channels: 2, supported: [6]))
    }

    // MARK: Silence

    @Test("A device that cannot be heard gets the words alone; after a pause the markers go on")
    func pause() throws {
        let bench = RenderBench()
        let stream = stream(1, 700)
        begin(stream, on: bench)
        bench.hear(123)
        bench.hold()
        bench.settle()
        bench.run(2)
        bench.hear(700)
        #expect(try words(bench.card.recordings.first) == Self.words(1, 0..<700))
        #expect(bench.card.recordings.count == 1 && bench.events.last == "ended 1")
    }

    @Test("The idle pattern comes before the words, after them, and around a pause; no word is lost, none is faded")
    func audible() throws {
        let bench = RenderBench()
        bench.card.becomeAudible()
        let stream = stream(1, 700)
        begin(stream, on: bench)
        bench.hear(Self.lead + 101)
        #expect(bench.position == .frame(101, of: 1))
        bench.hold()
        bench.card.advance(50)
        bench.settle()
        #expect(!bench.card.isStarted)
        // The hardware may have had two more.
        #expect(bench.position == .frame(103, of: 1))
        let paused = bench.card.heardFrames
        #expect(paused >= Self.lead + 103 + 5)
        bench.run(2)
        bench.hear(1000)
        let heard = try words(bench.card.recordings.first)
        let expected =
            idle(Self.lead) + Self.words(1, 0..<103) + idle(paused - Self.lead - 103 + Self.lead)
            + Self.words(1, 103..<700) + idle(Self.lead)
        #expect(heard == expected && bench.card.recordings.count == 1)
        #expect(bench.events.last == "ended 1")
    }

    @Test("A product that comes while the last words are heard follows them without a gap")
    func late() throws {
        let bench = RenderBench()
        bench.card.becomeAudible()
        let (first, second) = (stream(1, 301), stream(2, 200))
        begin(first, on: bench)
        bench.hear(Self.lead + 250)
        #expect(bench.card.pendingFrames == 51 + Self.lead)
        bench.send(.setNext(.passUnretained(second)))
        bench.hear(1000)
        let expected = idle(Self.lead) + Self.words(1, 0..<301) + Self.words(2, 0..<200) + idle(Self.lead)
        #expect(try words(bench.card.recordings.first) == expected)
        #expect(bench.events == ["opened 1000/1", "running 1", "heard 2", "ended 2"])
    }

    @Test("A product that comes later still follows the idle pattern")
    func tooLate() throws {
        let bench = RenderBench()
        bench.card.becomeAudible()
        let (first, second) = (stream(1, 301), stream(2, 200))
        begin(first, on: bench)
        bench.hear(Self.lead + 250)
        bench.card.advance(51 + 5)
        bench.send(.setNext(.passUnretained(second)))
        bench.hear(1000)
        let heard = try words(bench.card.recordings.first)
        #expect(heard.filter { $0 != Self.idle } == Self.words(1, 0..<301) + Self.words(2, 0..<200))
        #expect(bench.events.last == "ended 2")
    }

    // MARK: What does not apply, and what does

    @Test("No gain applies and no channel is exchanged; mute is the idle pattern")
    func gain() throws {
        var settings = RendererSettings(device: "paced")
        settings.routing = .swapped
        let bench = RenderBench(settings)
        let format = PCMFormat(sampleRate: 1000, channelCount: 2, bitDepth: 16, isDSD: true)
        let stream = stream(1, 900, format)
        stream.gain = Gain(factor: 0.1)
        begin(stream, on: bench)
        bench.hear(150)
        stream.gain = Gain(factor: 1.5)
        bench.hear(150)
        stream.gain = .muted
        bench.hear(300)
        stream.gain = .unity
        bench.hear(600)
        let heard = try words(bench.card.recordings.first)
        let expected = Self.words(1, 0..<900, channels: 2)
        #expect(heard.count == expected.count)
        let different = zip(heard, expected).enumerated().filter { $0.element.0 != $0.element.1 }
        #expect(different.allSatisfy { $0.element.0 == Self.idle })
        // It is heard one buffer after the change, for as long as it lasted.
        #expect((500...700).contains(different.count))
        let places = different.map { $0.offset }
        #expect(places.count == places[places.count - 1] - places[0] + 1)
    }

    @Test("PCM of the same rate is another opening of the device")
    func boundary() throws {
        let bench = RenderBench()
        let first = stream(2, 301)
        let pcm = bench.stream(200)
        let last = stream(3, 151)
        begin(first, on: bench, then: pcm.stream)
        bench.hear(310)
        bench.send(.setNext(.passUnretained(last)))
        bench.hear(1000)
        let recordings = bench.card.recordings
        #expect(recordings.map { $0.frames } == [301, 200, 151])
        #expect(try words(recordings.first) == Self.words(2, 0..<301))
        #expect(recordings[1].samples == (0..<200).map { TestStream.encode(1, $0, 0) })
        #expect(try words(recordings.last) == Self.words(3, 0..<151))
    }

    @Test("An underrun loses no word")
    func underrun() throws {
        let bench = RenderBench()
        let stream = stream(1, 700)
        begin(stream, on: bench)
        bench.hear(123)
        bench.card.inject(.underrun)
        bench.hear(1000)
        #expect(try words(bench.card.recordings.first) == Self.words(1, 0..<700))
    }

    @Test("Channels are heard at the places of the device's map, bit for bit")
    func places() throws {
        let bench = RenderBench()
        bench.card.support(channels: [6])
        bench.card.support(layout: ChannelLayout(codes: ChannelMapTests.hda.map(\.rawValue)))
        let format = PCMFormat(sampleRate: 1000, channelCount: 6, bitDepth: 16, isDSD: true)
        let stream = stream(1, 301, format)
        begin(stream, on: bench)
        bench.hear(1000)
        let heard = try words(bench.card.recordings.first)
        // Front, back, center and low frequencies.
        let expected = (0..<301).flatMap { frame in [0, 1, 4, 5, 2, 3].map { Self.word(1, frame, $0) } }
        #expect(heard == expected)
    }
}

/// Opens a simulated card.
/// `@unchecked Sendable` is safe because the test uses it on one thread.
private final class CardProvider: DeviceProvider, @unchecked Sendable {
    private let card: Card

    init(_ card: Card) { self.card = card }

    func open(_ request: DeviceRequest) throws(DeviceError) -> any PlaybackDevice { try card.open(request) }
}
