import CALSA
import OutputTestSupport
import PCM
import Platform
import SimulatedCard
import TestSupport
import Testing

@testable import Output

@Suite("Subframes for HDMI (docs/decisions/hdmi-subframes.md)")
struct SubframeTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// `reference` is alsa-lib's own plug-in as its vc4-hdmi.conf has it, `ours` a device that takes any format. Both
    /// write a file.
    private var provider: ALSADeviceProvider {
        let text = """
            pcm.reference {
                type iec958
                slave {
                    format IEC958_SUBFRAME_LE
                    pcm { type file slave.pcm { type null } file "\(folder.path)/reference" format raw }
                }
                status [ 4 130 0 1 ]
                hdmi_mode true
            }
            pcm.ours { type file slave.pcm { type null } file "\(folder.path)/ours" format raw }
            """
        return ALSADeviceProvider(configuration: .text(text), memoryMapping: false)
    }

    /// The output of alsa-lib's plug-in for samples of 24 bits. It restarts at the border between two runs.
    private func reference(
        _ runs: [[Int32]], channels: Int = 2, rate: Int = 48_000, as sampleFormat: SampleFormat = .s32,
        pieces: [Int] = [1, 7, 191, 333, 500]
    ) throws -> [UInt8] {
        let format = PCMFormat(sampleRate: rate, channelCount: channels, bitDepth: 24)
        let device = try provider.open(DeviceRequest(device: "reference", format: format, sampleFormat: sampleFormat))
        for samples in runs {
            var (position, turn) = (0, 0)
            while position < samples.count {
                let wanted = min(pieces[turn % pieces.count], (samples.count - position) / channels)
                _ = try device.write(wanted) { destination, frames in
                    let target = destination.assumingMemoryBound(to: Int32.self)
                    for index in 0..<(frames * channels) {
                        target[index] = samples[position + index] >> (sampleFormat == .s24 ? 8 : 0)
                    }
                    position += frames * channels
                }
                try device.start()
                turn += 1
            }
            try device.drop()
        }
        device.close()
        return try folder.contents(of: "reference")
    }

    private func renderer(channels: Int = 2, rate: Int = 48_000) -> SampleRenderer {
        let renderer = SampleRenderer(
            format: .iec958Subframe, channelCount: channels, sampleRate: rate, seed: 1)
        renderer.sourceBitDepth = 24
        return renderer
    }

    private func packed(
        _ samples: [Int32], with renderer: SampleRenderer, pieces: [Int] = [5, 192, 1, 400]
    ) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xa5, count: 4 * samples.count)
        let channels = renderer.channelCount
        bytes.withUnsafeMutableBytes { target in
            samples.withUnsafeBufferPointer { source in
                var (position, turn) = (0, 0)
                while position < samples.count {
                    let frames = min(pieces[turn % pieces.count], (samples.count - position) / channels)
                    renderer.render(
                        from: source.baseAddress! + position, frames: frames,
                        to: target.baseAddress! + 4 * position)
                    position += frames * channels
                    turn += 1
                }
            }
        }
        return bytes
    }

    /// Extremes, then noise, with 24 bits.
    private func signal(_ frames: Int, channels: Int = 2) -> [Int32] {
        let extremes: [Int32] = [.min, .max, 0, -1, 1 << 8, 1 << 30]
        return (0..<frames * channels).map { index in
            let noise = Int32(truncatingIfNeeded: (index &+ 1) &* 2_654_435_761 >> 3)
            return (index < extremes.count ? extremes[index] : noise) & ~0xff
        }
    }

    // MARK: Against alsa-lib

    @Test(
        "Each rate, byte for byte what alsa-lib makes of it",
        arguments: [22_050, 24_000, 32_000, 44_100, 48_000, 88_200, 96_000, 176_400, 192_000, 768_000, 64_000],
        [SampleFormat.s32, .s24])
    func rates(rate: Int, sampleFormat: SampleFormat) throws {
        let samples = signal(1_000)
        let expected = try reference([samples], rate: rate, as: sampleFormat)
        #expect(packed(samples, with: renderer(rate: rate)) == expected)
    }

    @Test("Each number of channels", arguments: 1...8)
    func channels(count: Int) throws {
        let samples = signal(800, channels: count)
        let expected = try reference([samples], channels: count)
        #expect(expected.count == 4 * samples.count)
        #expect(packed(samples, with: renderer(channels: count)) == expected)
    }

    @Test("A device that begins anew begins a block, and silence goes on with it")
    func restart() throws {
        let (first, second) = (signal(500), signal(300))
        let silence = [Int32](repeating: 0, count: 2 * 450)
        let expected = try reference([first, silence + second])
        let renderer = renderer()
        var bytes = packed(first, with: renderer)
        renderer.restart()
        var silent = [UInt8](repeating: 0xa5, count: 4 * silence.count)
        silent.withUnsafeMutableBytes { renderer.renderSilence(frames: 450, to: $0.baseAddress!) }
        bytes += silent + packed(second, with: renderer)
        #expect(bytes == expected)
    }

    @Test("Muted, the samples are zero and the rest is there")
    func muted() throws {
        let renderer = renderer()
        renderer.switchGain(to: .muted)
        #expect(packed(signal(500), with: renderer) == (try reference([Array(repeating: 0, count: 1_000)])))
    }

    @Test("Frames that are taken back are replaced at their places in the block", arguments: [1, 191, 192, 193, 400])
    func rewind(frames: Int) throws {
        let samples = signal(1_000)
        let expected = try reference([samples])
        let renderer = renderer()
        _ = packed(Array(samples.prefix(2 * 500)), with: renderer)
        renderer.rewind(frames)
        let rest = packed(Array(samples.dropFirst(2 * (500 - frames))), with: renderer)
        #expect(rest == Array(expected.dropFirst(8 * (500 - frames))))
    }

    @Test("A whole playback into a device, gapless over a boundary")
    func playback() throws {
        let settings = RendererSettings(device: "ours", sampleFormat: .iec958Subframe)
        let renderer = try Renderer(
            provider: provider, clock: SystemMonotonicClock(), settings: settings, priority: .normal)
        let format = PCMFormat(sampleRate: 44_100, channelCount: 2, bitDepth: 16)
        let streams = (1...2).map { TestStream(id: $0, format: format) }
        for stream in streams {
            stream.write(5_001)
            stream.end()
        }
        renderer.begin(streams[0].stream)
        renderer.setNext(streams[1].stream)
        renderer.run(generation: 1)
        expectSoon("the end") {
            while let event = renderer.nextEvent() { if event.text == "ended 2" { return true } }
            return false
        }
        renderer.clear(releaseDevice: true)
        renderer.shutDown()
        let music = samples(5_001, of: 1) + samples(5_001, of: 2)
        #expect(try folder.contents(of: "ours") == reference([music], rate: 44_100))
    }

    /// A test stream's samples, rounded to 24 bits.
    private func samples(_ frames: Int, of stream: Int) -> [Int32] {
        (0..<frames).flatMap { frame in
            (0..<2).map { (TestStream.encode(stream, frame, $0) &+ 0x80) & ~0xff }
        }
    }

    // MARK: Devices

    @Test("A card that takes nothing else is opened with it, and another format is an error that names it")
    func negotiation() throws {
        func card() throws -> Card { try Card(formats: [SND_PCM_FORMAT_IEC958_SUBFRAME_LE]) }
        let device = try card().open()
        #expect(device.configuration.sampleFormat == .iec958Subframe)
        #expect(device.configuration.significantBits == 24)
        device.close()
        let error = DeviceError.sampleFormatNotSupported(device: "card", requested: .s16)
        #expect(throws: error) { try card().open(.stereo("card", .s16)) }
        let other = try Card(formats: [SND_PCM_FORMAT_FLOAT_LE])
        do throws(DeviceError) {
            try other.open().close()
            Issue.record("it was opened")
        } catch {
            #expect("\(error)" == "card: does not take any of S32_LE, S24_LE, S24_3LE, S16_LE, IEC958_SUBFRAME_LE.")
        }
        let both = try Card(formats: [SND_PCM_FORMAT_IEC958_SUBFRAME_LE, SND_PCM_FORMAT_S16_LE])
        let second = try both.open()
        #expect(second.configuration.sampleFormat == .s16)
        second.close()
    }

    @Test("Silence before the music, a pause and what follows it reach such a card well formed")
    func card() throws {
        let card = try Card(formats: [SND_PCM_FORMAT_IEC958_SUBFRAME_LE])
        var settings = RendererSettings(device: "card")
        settings.settleAtStart = 10
        let channel = RendererChannel()
        let loop = RenderLoop(
            provider: CardProvider(card), clock: ManualClock(), settings: settings, channel: channel)
        let stream = TestStream(id: 1, format: PCMFormat(sampleRate: 44_100, channelCount: 2, bitDepth: 16))
        stream.write(700)
        stream.end()
        func play() {
            for _ in 0..<100 where loop.step() == .time(milliseconds: 0) {}
        }
        _ = loop.handle(.begin(.passUnretained(stream.stream)))
        _ = loop.handle(.run(generation: 1))
        play()
        _ = loop.handle(.hold)
        _ = loop.handle(.run(generation: 2))
        play()
        let music = samples(700, of: 1)
        let silence = [Int32](repeating: 0, count: 2 * 441)
        #expect(try card.written == reference([silence + music, music], rate: 44_100))
        _ = loop.handle(.quit)
        while channel.events.pop().map({ _ = $0.text }) != nil {}
    }

    @Test("A fade-out that replaces frames, the silence after it, and the fade-in stay in their blocks")
    func fades() {
        let bench = RenderBench()
        bench.card.support([.iec958Subframe])
        bench.card.becomeAudible()
        bench.play(bench.stream(700))
        bench.hear(323)
        bench.hold()
        bench.card.advance(50)
        bench.settle()
        let before = bench.card.heardFrames
        #expect(before > 323)
        bench.run(2)
        bench.hear(700)
        for recording in bench.card.recordings {
            let parts = [recording.samples[..<before], recording.samples[before...]]
            let expected = parts.flatMap { packed(Array($0), with: renderer(channels: 1, rate: 1000)) }
            #expect(recording.bytes == expected)
        }
        #expect(bench.card.recordings.count == 1)
    }

    // MARK: The control of the card

    @Test("The card's control gets the same channel status, by device and subdevice")
    func control() throws {
        let simulated = try #require(simulated_status_create(2, 1))
        defer { simulated_status_free(simulated) }
        let control = CardControl(adopting: simulated_status_control(simulated))
        func bytes() -> [UInt8] { Array(UnsafeBufferPointer(start: simulated_status_bytes(simulated), count: 24)) }
        let rest = [UInt8](repeating: 0, count: 19)
        try ChannelStatusControl.set(ChannelStatus(sampleRate: 44_100), device: 2, subdevice: 1, on: control)
        #expect(bytes() == [0x04, 0x82, 0, 0, 0x0b] + rest)
        try ChannelStatusControl.set(ChannelStatus(sampleRate: 192_000), device: 2, subdevice: 1, on: control)
        #expect(bytes() == [0x04, 0x82, 0, 0x0e, 0x0b] + rest)
        for (device, subdevice) in [(0, 1), (2, 0)] as [(UInt32, UInt32)] {
            #expect(throws: ALSAFailure(code: -ENOENT)) {
                try ChannelStatusControl.set(
                    ChannelStatus(sampleRate: 48_000), device: device, subdevice: subdevice, on: control)
            }
        }
        #expect(bytes() == [0x04, 0x82, 0, 0x0e, 0x0b] + rest)
    }
}

/// Opens a simulated card.
/// `@unchecked Sendable` is safe because the test uses it on one thread.
private final class CardProvider: DeviceProvider, @unchecked Sendable {
    private let card: Card

    init(_ card: Card) { self.card = card }

    func open(_ request: DeviceRequest) throws(DeviceError) -> any PlaybackDevice { try card.open(request) }
}
