import PCM
import PlayerTestSupport
import TestSupport
import Testing

@testable import Player

@Suite("Channels that the device does not have (docs/playback.md, 8)")
struct AdaptationTests {
    private func doubled(_ track: Track) -> [Int32] { track.samples.flatMap { [$0, $0] } }

    /// The adaptation in each transition and change of quality.
    private func adaptations(_ fixture: PlayerFixture) -> [String] {
        fixture.log.messages.compactMap(\.context).map { $0.adaptation.map { "\($0)" } ?? "none" }
    }

    @Test("Mono, stereo and mono again on a stereo card: gapless on one device, and each context says how")
    func gapless() throws {
        let one = try Track("a", frames: 4000, channels: 1)
        let two = try Track("b", frames: 4001)
        let three = try Track("c", frames: 4002, channels: 1)
        let fixture = try stereoFixture()
        try fixture.play([(one.product, one.frames), (two.product, two.frames), (three.product, three.frames)])
        #expect(fixture.card.recordings.map(\.samples) == [doubled(one) + two.samples + doubled(three)])
        #expect(
            fixture.messages == [
                "NOT_PLAYING", "- > a", "quality 8000/16", "PLAYING", "a > b", "b > c", "c > -", "IDLE",
            ])
        #expect(adaptations(fixture) == ["none", "mono on both channels", "none", "mono on both channels"])
    }

    private func stereoAndMono(in folder: ScratchFolder) throws -> (Track, Track) {
        (try Track("a", frames: 4000, in: folder), try Track("b", frames: 4000, channels: 1, in: folder))
    }

    /// A player whose card takes two channels only.
    private func stereoFixture() throws -> PlayerFixture {
        let fixture = try PlayerFixture()
        fixture.card.support(channels: [2])
        return fixture
    }

    @Test("The device's configuration says how what is heard is adapted")
    func configuration() throws {
        let folder = try ScratchFolder()
        let (one, two) = try stereoAndMono(in: folder)
        let fixture = try stereoFixture()
        try fixture.play(one.product, next: two.product)
        try fixture.waitForNext()
        #expect(fixture.engine.deviceConfiguration?.channelCount == 2)
        #expect(fixture.engine.deviceConfiguration?.adaptation == nil)
        try fixture.hear(4001)
        try fixture.wait(forTransitions: 2)
        #expect(fixture.engine.deviceConfiguration?.adaptation == ChannelAdaptation(from: 1, to: 2))
        #expect(fixture.engine.playbackContext?.adaptation == ChannelAdaptation(from: 1, to: 2))
    }

    @Test("A product loaded while the device is open says at once how it will be adapted")
    func openDevice() throws {
        let folder = try ScratchFolder()
        let (one, two) = try stereoAndMono(in: folder)
        let fixture = try stereoFixture()
        try fixture.play(one.product)
        fixture.engine.load(two.product)
        try fixture.wait(forTransitions: 2)
        #expect(adaptations(fixture) == ["none", "mono on both channels"])
    }

    @Test("Another card is used: the context says what changes, and no frame is lost")
    func otherCard() throws {
        let track = try Track("a", frames: 8000, channels: 1)
        let fixture = try stereoFixture()
        try fixture.play(track.product, hearing: 2345)
        try fixture.wait(forFrame: 2345)
        fixture.card.unplug()
        try fixture.wait(for: .stalled)
        fixture.card.support(channels: [1])
        fixture.card.plugIn()
        fixture.card.playFreely()
        fixture.advance(by: 1_000_000_000)
        try fixture.wait(for: .idle)
        #expect(adaptations(fixture) == ["none", "mono on both channels", "none"])
        #expect(
            fixture.card.recordings.map(\.samples)
                == [track.samples(0..<2345).flatMap { [$0, $0] }, track.samples(from: 2345)])
    }

    @Test(
        "One side on both channels, and exchanged sides: gapless and bit for bit, and each context says so",
        arguments: [ChannelRouting.left, .right, .swapped])
    func routing(routing: ChannelRouting) throws {
        let one = try Track("a", frames: 4001)
        let two = try Track("b", frames: 4002)
        // The requested routing does not count as an adaptation to the card.
        let fixture = try PlayerFixture {
            $0.output.routing = routing
            $0.output.allowsAdaptation = false
        }
        try fixture.play([(one.product, one.frames), (two.product, two.frames)])
        let samples = one.samples + two.samples
        let expected = stride(from: 0, to: samples.count, by: 2).flatMap { frame in
            let (left, right) = (samples[frame], samples[frame + 1])
            return switch routing {
            case .left: [left, left]
            case .right: [right, right]
            default: [right, left]
            }
        }
        #expect(fixture.card.recordings.map(\.samples) == [expected])
        let text = try #require(ChannelAdaptation(from: 2, to: 2, routing: routing)).description
        #expect(Set(adaptations(fixture)) == ["none", text] || Set(adaptations(fixture)) == [text])
    }

    @Test("Where it is forbidden, an error names what the device has")
    func forbidden() throws {
        let track = try Track("a", frames: 4000, channels: 1)
        let fixture = try PlayerFixture { $0.output.allowsAdaptation = false }
        fixture.card.support(channels: [2])
        fixture.engine.load(track.product)
        fixture.engine.play()
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "error d5 (a)", "IDLE"])
        let message = try #require(fixture.log.messages.compactMap(\.error).first?.message)
        #expect(message.contains("cannot play 1 channel") && message.contains("2"))
    }
}
