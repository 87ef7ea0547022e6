import Media
import Platform
import PlayerTestSupport
import Synchronization
import Testing

@testable import Playback
@testable import Player

@Suite("The next product waits for the line (docs/playback.md, 5.4)")
struct PostponedNextTests {
    /// Products that come over a network, from the view of a player.
    private final class Streams: PlaybackSource {
        let hasArrived = Atomic(false)
        private let source: ScriptedSource

        init(_ recordings: [ScriptedRecording]) { source = ScriptedSource(recordings) }

        func streams(_ product: MediaProduct) -> Bool { true }

        func open(
            _ product: MediaProduct, session: PlaybackSession, cancellation: Cancellation, medium: MediumAccess
        ) throws(PlayerError) -> OpenedProduct {
            var opened = try source.open(product, session: session, cancellation: cancellation, medium: medium)
            opened.fetching = Arriving(opened.decoder, from: self)
            return opened
        }
    }

    /// A decoder whose content has arrived when its source says so.
    private final class Arriving: FetchingDecoder {
        private let decoder: any AudioDecoder
        private let source: Streams

        init(_ decoder: any AudioDecoder, from source: Streams) { (self.decoder, self.source) = (decoder, source) }

        var properties: AudioProperties { decoder.properties }
        var metadata: TrackMetadata { decoder.metadata }
        var damage: DamageReport { decoder.damage }
        func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(MediaError) -> DecodedRun {
            try decoder.read(into: buffer)
        }
        func seek(toFrame frame: Int64) throws(MediaError) { try decoder.seek(toFrame: frame) }
        func whenReadable(_ wake: @escaping @Sendable () -> Void) { decoder.whenReadable(wake) }

        var isFetched: Bool { source.hasArrived.load(ordering: .acquiring) }
        var audioQuality: AudioQuality? { nil }
        var failure: PlayerError? { nil }
        func fetchAhead() {}
        func hasEnough(at position: Double) -> Bool { true }
    }

    private let one = ScriptedRecording("one", frames: 20_000, available: 3000)
    private let two = ScriptedRecording("two", frames: 20_000)

    private func fixture(_ source: Streams) throws -> PlayerFixture {
        let fixture = try PlayerFixture(source: source)
        try fixture.play(one.product, next: two.product, hearing: 1000)
        fixture.settle()
        #expect(two.decoderCount == 0)
        return fixture
    }

    @Test("It is opened when all of the active one has arrived, and follows without a gap")
    func arrived() throws {
        let source = Streams([one, two])
        let fixture = try fixture(source)
        source.hasArrived.store(true, ordering: .releasing)
        one.letDecode()
        try fixture.waitForNext()
        #expect(two.decoderCount == 1)
        try fixture.hear(20_000)
        #expect(fixture.card.recordings.count == 1)
        #expect(fixture.card.recordings[0].samples.prefix(42_000) == (one.samples + two.samples).prefix(42_000))
    }

    @Test("It is opened when its turn comes")
    func skipped() throws {
        let fixture = try fixture(Streams([one, two]))
        fixture.engine.skipToNext()
        try fixture.wait(forTransitions: 2)
        #expect(fixture.engine.mediaProduct == two.product)
    }

    @Test("It is opened when the active one has failed in the middle")
    func failed() throws {
        let fixture = try fixture(Streams([one, two]))
        one.fail(with: .damaged(what: "x"))
        try fixture.spin("the next product") { two.decoderCount == 1 }
    }

    @Test("One that was replaced is never opened; the other one is")
    func replaced() throws {
        let three = ScriptedRecording("three", frames: 100)
        let source = Streams([one, two, three])
        let fixture = try fixture(source)
        fixture.engine.setNext(three.product)
        source.hasArrived.store(true, ordering: .releasing)
        one.letDecode()
        try fixture.waitForNext()
        #expect(two.decoderCount == 0)
    }
}
