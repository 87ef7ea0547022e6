import CALSA
import OutputTestSupport
import PCM
import Platform
import SimulatedCard
import TestSupport
import Testing

@testable import Output

@Suite("Channel maps (docs/decisions/channel-maps.md)")
struct ChannelMapTests {
    static let hda = [
        SND_CHMAP_FL, SND_CHMAP_FR, SND_CHMAP_RL, SND_CHMAP_RR, SND_CHMAP_FC, SND_CHMAP_LFE,
    ]
    private static let cea = [
        SND_CHMAP_FL, SND_CHMAP_FR, SND_CHMAP_LFE, SND_CHMAP_FC, SND_CHMAP_RL, SND_CHMAP_RR, SND_CHMAP_RLC,
        SND_CHMAP_RRC,
    ]
    private static let usual = [
        SND_CHMAP_FL, SND_CHMAP_FR, SND_CHMAP_FC, SND_CHMAP_LFE, SND_CHMAP_RL, SND_CHMAP_RR,
    ]
    private static let surround = PCMFormat(sampleRate: 1000, channelCount: 6, bitDepth: 16)

    private func request(_ channels: Int) -> DeviceRequest {
        var request = DeviceRequest.stereo("card")
        request.format.channelCount = channels
        return request
    }

    /// The layout with which a card is opened, and the map that it has then.
    private func opened(
        _ positions: [snd_pcm_chmap_position], _ type: snd_pcm_chmap_type, refuses: Bool = false
    ) throws -> (ChannelLayout?, [snd_pcm_chmap_position]) {
        let count = positions.count
        let card = try Card(
            channels: [UInt32(count)], positions: positions, mapType: type, refusesMaps: refuses)
        let device = try card.open(request(count))
        defer { device.close() }
        return (device.configuration.layout, card.positions(count))
    }

    // MARK: The maps that devices report

    @Test("A fixed map is read")
    func fixed() throws {
        let (layout, map) = try opened(Self.hda, SND_CHMAP_TYPE_FIXED)
        #expect(
            layout == ChannelLayout(order: [.left, .right, .backLeft, .backRight, .center, .lowFrequency]))
        #expect(map == Self.hda)
    }

    @Test(
        "One that can be changed is set to FLAC's order, in the device's names",
        arguments: [
            SND_CHMAP_TYPE_VAR, SND_CHMAP_TYPE_PAIRED,
        ])
    func variable(type: snd_pcm_chmap_type) throws {
        let (layout, map) = try opened(Self.hda, type)
        #expect(layout == nil && map == Self.usual)
        let (all, allMap) = try opened(Self.cea, type)
        #expect(all == nil)
        #expect(
            allMap == [
                SND_CHMAP_FL, SND_CHMAP_FR, SND_CHMAP_FC, SND_CHMAP_LFE, SND_CHMAP_RLC, SND_CHMAP_RRC, SND_CHMAP_RL,
                SND_CHMAP_RR,
            ])
    }

    @Test("One that refuses to be changed counts as it is")
    func refused() throws {
        let (layout, map) = try opened(Self.hda, SND_CHMAP_TYPE_VAR, refuses: true)
        #expect(layout?.channel(at: .center) == 4 && map == Self.hda)
    }

    @Test("FLAC's own order, no map, and the map of a stereo card change nothing")
    func none() throws {
        #expect(try opened(Self.usual, SND_CHMAP_TYPE_FIXED).0 == nil)
        #expect(try opened([SND_CHMAP_FR, SND_CHMAP_FL], SND_CHMAP_TYPE_VAR).0 == nil)
        #expect(try opened([SND_CHMAP_FR, SND_CHMAP_FL], SND_CHMAP_TYPE_VAR).1 == [SND_CHMAP_FR, SND_CHMAP_FL])
        let device = try Card(channels: [6]).open(request(6))
        #expect(device.configuration.layout == nil)
        device.close()
    }

    @Test(
        "ALSA's positions",
        arguments: [
            (
                [SND_CHMAP_FL, SND_CHMAP_FR, SND_CHMAP_FC, SND_CHMAP_LFE, SND_CHMAP_SL, SND_CHMAP_SR],
                [.left, .right, .center, .lowFrequency, .backLeft, .backRight]
            ),
            (
                [SND_CHMAP_FL, SND_CHMAP_FR, SND_CHMAP_RC, SND_CHMAP_NA], [.left, .right, .backCenter, nil]
            ),
            (
                Self.cea,
                [.left, .right, .lowFrequency, .center, .sideLeft, .sideRight, .backLeft, .backRight]
            ),
            ([SND_CHMAP_FL, SND_CHMAP_FR, SND_CHMAP_FLC, SND_CHMAP_FRC], [.left, .right, nil, nil]),
            ([SND_CHMAP_FL, SND_CHMAP_FR, SND_CHMAP_UNKNOWN], nil),
            ([SND_CHMAP_FL, SND_CHMAP_FR, SND_CHMAP_FL], nil), ([SND_CHMAP_FL, SND_CHMAP_FC, SND_CHMAP_RC], nil),
        ] as [([snd_pcm_chmap_position], [ChannelPosition?]?)])
    func codes(codes: [snd_pcm_chmap_position], order: [ChannelPosition?]?) {
        #expect(ChannelLayout(codes: codes.map(\.rawValue)) == order.flatMap { ChannelLayout(order: $0) })
        // Positions that only this driver defines.
        let own = codes.map { $0.rawValue | UInt32(SND_CHMAP_DRIVER_SPEC) }
        #expect(ChannelLayout(codes: own) == nil)
    }

    // MARK: Heard channels

    /// Samples of a test stream, each frame in the order `channels`; nil is silence.
    private func samples(_ frames: Int, of stream: Int, _ channels: [Int?]) -> [Int32] {
        (0..<frames).flatMap { frame in channels.map { $0.map { TestStream.encode(stream, frame, $0) } ?? 0 } }
    }

    @Test("Each channel is heard at its place, bit for bit: 5.1, quad, stereo and mono on such a card")
    func heard() {
        let bench = RenderBench()
        bench.card.support(channels: [6])
        bench.card.support(layout: ChannelLayout(codes: Self.hda.map(\.rawValue)))
        let counts = [6, 4, 2, 1]
        for count in counts {
            let format = PCMFormat(sampleRate: 1000, channelCount: count, bitDepth: 32)
            bench.play(bench.stream(100, format: format))
            bench.hear(100)
        }
        let expected =
            samples(100, of: 1, [0, 1, 4, 5, 2, 3]) + samples(100, of: 2, [0, 1, 2, 3, nil, nil])
            + samples(100, of: 3, [0, 1, nil, nil, nil, nil]) + samples(100, of: 4, [0, 0, nil, nil, nil, nil])
        #expect(bench.card.recordings.map(\.samples) == [expected])
        #expect(bench.events.first == "opened 1000/6 6 channels in the device's order")
    }

    @Test("Through alsa-lib: a file for a device with another order")
    func file() throws {
        let folder = try TemporaryFolder()
        let text = """
            pcm.surround {
                type file
                slave.pcm { type null chmap [ "FL,FR" "FL,FR,RL,RR,FC,LFE" ] }
                file "\(folder.path)/x"
                format raw
            }
            """
        let renderer = try Renderer(
            provider: ALSADeviceProvider(configuration: .text(text)), clock: SystemMonotonicClock(),
            settings: RendererSettings(device: "surround"), priority: .normal)
        let stream = TestStream(id: 1, format: PCMFormat(sampleRate: 48_000, channelCount: 6, bitDepth: 32))
        stream.write(3_001)
        stream.end()
        renderer.begin(stream.stream)
        renderer.run(generation: 1)
        expectSoon("the end") {
            while let event = renderer.nextEvent() { if event.text == "ended 1" { return true } }
            return false
        }
        renderer.clear(releaseDevice: true)
        renderer.shutDown()
        let written = try folder.contents(of: "x")
        let expected = samples(3_001, of: 1, [0, 1, 4, 5, 2, 3])
        #expect(written == expected.flatMap { sample in (0..<4).map { UInt8(truncatingIfNeeded: sample >> (8 * $0)) } })
    }
}
