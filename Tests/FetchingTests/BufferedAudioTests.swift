import Media
import Network
import PlayerTestSupport
import TestSupport
import Testing

@testable import Fetching
@testable import Player

@Suite("Whether enough of a stream has arrived (docs/playback.md, 15.14)")
struct BufferedAudioTests {
    private static let megabit = 1_000_000.0

    private func audio(
        _ seconds: Double, bitRate: Double? = megabit, hasSegment: Bool = true, isGrowing: Bool = true
    ) -> BufferedAudio {
        BufferedAudio(seconds: seconds, bitRate: bitRate, hasSegment: hasSegment, isGrowing: isGrowing)
    }

    @Test("At least one segment and a second, on the fastest line too")
    func least() {
        #expect(!audio(5, hasSegment: false).isEnough(missing: 100, bitsPerSecond: 1e9))
        #expect(!audio(0.9).isEnough(missing: 100, bitsPerSecond: 1e9))
        #expect(audio(1).isEnough(missing: 100, bitsPerSecond: 1e9))
    }

    @Test("The buffer lasts until a second after the rest has arrived at the measured rate")
    func slowLine() {
        // Half the rate of the content: the first half has to be there.
        #expect(!audio(100).isEnough(missing: 99.5, bitsPerSecond: Self.megabit / 2))
        #expect(audio(100).isEnough(missing: 99, bitsPerSecond: Self.megabit / 2))
        // A quarter: three quarters.
        #expect(!audio(148).isEnough(missing: 49.5, bitsPerSecond: Self.megabit / 4))
        #expect(audio(148).isEnough(missing: 49, bitsPerSecond: Self.megabit / 4))
        // Exactly the rate of the content, and more.
        #expect(audio(1).isEnough(missing: 1000, bitsPerSecond: Self.megabit))
        #expect(audio(1).isEnough(missing: 1000, bitsPerSecond: Self.megabit * 2))
        // The whole product has arrived; an estimate of its length may leave a negative rest.
        #expect(audio(2).isEnough(missing: -0.5, bitsPerSecond: 1))
    }

    @Test("An unknown length or rate is not waited for")
    func unknown() {
        #expect(audio(1).isEnough(missing: nil, bitsPerSecond: 1))
        #expect(audio(1).isEnough(missing: 1000, bitsPerSecond: nil))
        #expect(audio(1, bitRate: nil).isEnough(missing: 1000, bitsPerSecond: 1))
    }

    @Test("When nothing more comes by itself it begins with what there is")
    func complete() {
        #expect(audio(0, hasSegment: false, isGrowing: false).isEnough(missing: 1000, bitsPerSecond: 1))
    }

    // MARK: From transfers

    private let network = ScriptedNetwork()
    private let progress = StreamProgress()

    private func bytes(readAhead: Int = 1_000_000) -> StreamedBytes {
        StreamedBytes(TransferRequest(url: "u"), over: network, readAhead: readAhead, progress: progress)
    }

    @Test("Segments: whole ones count, and the bit rate is that of all that were begun")
    func segments() throws {
        let (first, second) = (bytes(), bytes())
        first.show(seconds: 4, isSegment: true)
        second.show(seconds: 2, isSegment: true)
        #expect(progress.buffered == BufferedAudio(seconds: 0, bitRate: nil, hasSegment: false, isGrowing: true))
        network.transfers[0].begin(200, [("Content-Length", "1000")])
        network.transfers[0].deliver([UInt8](repeating: 1, count: 500))
        #expect(progress.buffered == BufferedAudio(seconds: 2, bitRate: 2000, hasSegment: false, isGrowing: true))
        network.transfers[0].deliver([UInt8](repeating: 1, count: 500))
        network.transfers[0].end()
        #expect(progress.buffered == BufferedAudio(seconds: 4, bitRate: 2000, hasSegment: true, isGrowing: true))
        network.transfers[1].begin(200, [("Content-Length", "2000")])
        #expect(progress.buffered == BufferedAudio(seconds: 4, bitRate: 4000, hasSegment: true, isGrowing: true))
        // The reader has come to its end.
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 8, alignment: 1)
        defer { buffer.deallocate() }
        _ = try first.read(into: buffer, at: 992)
        #expect(progress.buffered == BufferedAudio(seconds: 0, bitRate: 4000, hasSegment: false, isGrowing: true))
        network.transfers[1].end(.connection(.lost))
        // It is repeated.
        #expect(progress.buffered.isGrowing)
        withExtendedLifetime((first, second)) {}
    }

    @Test("A segment without a length counts when it has ended; one that is refused, at once")
    func withoutLength() {
        let (first, second) = (bytes(), bytes())
        first.show(seconds: 4, isSegment: true)
        network.transfers[0].begin(200)
        network.transfers[0].deliver([UInt8](repeating: 1, count: 500))
        #expect(progress.buffered == BufferedAudio(seconds: 0, bitRate: nil, hasSegment: false, isGrowing: true))
        network.transfers[0].end()
        #expect(progress.buffered == BufferedAudio(seconds: 4, bitRate: 1000, hasSegment: true, isGrowing: false))
        second.show(seconds: 4, isSegment: true)
        #expect(progress.buffered.isGrowing)
        network.transfers[1].answer(403)
        #expect(!progress.buffered.isGrowing)
        withExtendedLifetime((first, second)) {}
    }

    @Test("A file is enough without segments; with a full read-ahead, or of unknown length, it does not grow")
    func file() throws {
        let source = bytes(readAhead: 600)
        source.show(seconds: 10, isSegment: false)
        network.last.begin(200, [("Content-Length", "1000")])
        #expect(progress.buffered == BufferedAudio(seconds: 0, bitRate: 800, hasSegment: true, isGrowing: true))
        #expect(network.last.deliver([UInt8](repeating: 1, count: 700)) == .more)
        #expect(progress.buffered == BufferedAudio(seconds: 7, bitRate: 800, hasSegment: true, isGrowing: true))
        #expect(network.last.deliver([1]) == .enough)
        #expect(progress.buffered == BufferedAudio(seconds: 7, bitRate: 800, hasSegment: true, isGrowing: false))

        let endless = bytes()
        endless.show(seconds: 10, isSegment: false)
        network.last.begin(200)
        network.last.deliver([1])
        #expect(!progress.buffered.isGrowing)
        withExtendedLifetime((source, endless)) {}
    }
}
