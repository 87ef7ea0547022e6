import Foundation
import Media
import Output
import PCM
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("Errors of playback")
struct ErrorTests {
    @Test("A product that is not there: the error with its product, then IDLE")
    func missing() throws {
        let folder = try ScratchFolder()
        let missing = MediaProduct(productType: .track, productId: folder["missing"], referenceId: "a")
        let fixture = try PlayerFixture()
        fixture.engine.load(missing)
        fixture.engine.play()
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "error s2 (a)", "IDLE"])
        let error = try #require(fixture.log.messages.compactMap(\.error).first)
        #expect(error.mediaProduct == missing)
        #expect(error.message.hasPrefix(folder["missing"]))
        // As if no product had been loaded.
        fixture.engine.play()
        fixture.engine.skipToNext()
        fixture.settle()
        #expect(fixture.messages.count == 3)
    }

    @Test("A file that is no audio, and an empty one", arguments: [("text", "m1"), ("", "m4")])
    func notAudio(content: String, code: String) throws {
        let folder = try ScratchFolder()
        try content.write(toFile: folder["a"], atomically: false, encoding: .utf8)
        let fixture = try PlayerFixture()
        fixture.engine.load(MediaProduct(productType: .track, productId: folder["a"], referenceId: "a"))
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "error \(code) (a)", "IDLE"])
    }

    @Test("A failure in the middle: the decoded frames are heard, then the error is sent, then IDLE")
    func failingInTheMiddle() throws {
        let recording = ScriptedRecording("a", frames: 8000, available: 5000)
        let fixture = try PlayerFixture(source: ScriptedSource([recording]))
        recording.fail(with: .damaged(what: "all the rest"))
        fixture.card.playFreely()
        fixture.engine.load(recording.product)
        fixture.engine.play()
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "error m3 (a)", "IDLE"])
        #expect(fixture.card.recordings.map(\.samples) == [recording.samples(0..<5000)])
    }

    @Test("A failure while paused is raised when it is come to")
    func failingWhilePaused() throws {
        let recording = ScriptedRecording("a", frames: 8000, available: 5000)
        let fixture = try PlayerFixture(source: ScriptedSource([recording]))
        recording.fail(with: .damaged(what: "all the rest"))
        fixture.engine.load(recording.product)
        try fixture.wait(forTransitions: 1)
        fixture.settle()
        #expect(fixture.messages == ["NOT_PLAYING", "- > a"])
        fixture.card.playFreely()
        fixture.engine.play()
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "error m3 (a)", "IDLE"])
    }

    @Test("A seek behind a failure skips it")
    func seekPastFailure() throws {
        let recording = ScriptedRecording("a", frames: 20_000, available: 5000)
        let fixture = try PlayerFixture(source: ScriptedSource([recording]))
        recording.fail(with: .damaged(what: "a part"))
        try fixture.play(recording.product, hearing: 1000)
        // As if only these frames could not be read.
        recording.letDecode()
        fixture.engine.seek(2)
        try fixture.wait(forFrame: 16_000)
        fixture.settle()
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "a > -", "IDLE"])
        #expect(
            fixture.card.recordings.map(\.samples)
                == [recording.samples(0..<1000) + recording.samples(from: 16_000)])
    }

    @Test("A next product that fails in its middle plays up to there, then its error is raised")
    func nextFailingInTheMiddle() throws {
        let recordings = [ScriptedRecording("a", frames: 3000), ScriptedRecording("b", frames: 8000, available: 2000)]
        recordings[1].fail(with: .damaged(what: "all the rest"))
        let fixture = try PlayerFixture(source: ScriptedSource(recordings))
        fixture.engine.load(recordings[0].product)
        fixture.engine.setNext(recordings[1].product)
        fixture.engine.play()
        try fixture.waitForNext()
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "a > b", "error m3 (b)", "IDLE"])
        #expect(fixture.card.recordings.map(\.samples) == [recordings[0].samples + recordings[1].samples(0..<2000)])
    }

    @Test("The source's own errors come through, with the product")
    func sourceError() throws {
        let fixture = try PlayerFixture(source: ScriptedSource([]))
        fixture.engine.load(MediaProduct(productType: .track, productId: "unknown", referenceId: "a"))
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "error x1 (a)", "IDLE"])
        #expect(fixture.log.messages.compactMap(\.error?.kind) == [.notAllowed])
    }

    @Test("A read error in a file: the decoded frames are heard, then the error is sent")
    func vanishingFile() throws {
        let track = try Track("a", frames: 60_000)
        let source = VanishingFiles(readableBytes: 100_000)
        let fixture = try PlayerFixture(source: source)
        fixture.card.playFreely()
        fixture.engine.load(track.product)
        fixture.engine.play()
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "error s5 (a)", "IDLE"])
        let heard = fixture.card.recordings.flatMap(\.samples)
        #expect(heard.count > 20_000 && heard == Array(track.samples.prefix(heard.count)))
    }
}

/// Local files on a medium that is pulled out after some bytes.
private final class VanishingFiles: PlaybackSource {
    private let readableBytes: Int64

    init(readableBytes: Int64) { self.readableBytes = readableBytes }

    func open(
        _ product: MediaProduct, session: PlaybackSession, cancellation: Cancellation, medium: MediumAccess
    ) throws(PlayerError) -> OpenedProduct {
        do throws(MediaError) {
            let data = FileManager.default.contents(atPath: product.productId) ?? Data()
            let decoder = try AudioFile.open(Bytes(Array(data), readable: readableBytes))
            return OpenedProduct(decoder: decoder, productId: product.productId, replayGain: ReplayGain())
        } catch {
            throw PlayerError(error, product)
        }
    }

    private final class Bytes: ByteSource {
        private let bytes: [UInt8]
        private let readable: Int64
        var length: Int64? { Int64(bytes.count) }

        init(_ bytes: [UInt8], readable: Int64) {
            self.bytes = bytes
            self.readable = readable
        }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
            let end = min(offset + Int64(buffer.count), Int64(bytes.count))
            guard end > offset else { return .end }
            guard end <= readable else { throw .medium(SystemError(code: 5, operation: "read")) }
            buffer.copyBytes(from: bytes[Int(offset)..<Int(end)])
            return .bytes(Int(end - offset))
        }
    }
}
