import Foundation
import Media
import PlayerTestSupport
import TestSupport
import Testing

@testable import Player

@Suite("A pause that is longer than addresses are good (docs/playback.md, 15.5)", StreamTool.needed)
struct PausedStreamTests {
    private let content: PackagedContent
    private let track: Track

    init() throws {
        content = try PackagedContent()
        track = try Track("a", frames: 240_000, in: content.folder)
    }

    @Test("The addresses of the first session expire during a pause: one new session, and every frame is heard once")
    func expired() throws {
        try content.encode(track, to: "a.mp4")
        let manifest = try content.package(["a.mp4"], ["--segment_duration", "1"])
        let source = content.source(manifest, readAhead: 40_000)
        content.service.playbackinfo = { count, _ in
            let signed = manifest.replacingOccurrences(of: ".m4s", with: ".m4s?token=\(count)")
                .replacingOccurrences(of: "init.mp4", with: "init.mp4?token=\(count)")
            return (200, PackagedContent.info(signed))
        }
        let answer = content.service.content
        let isExpired = Locked(false)
        let refusals = Recorder<Void>()
        content.service.content = { count, transfer in
            if isExpired.value, transfer.request.url.hasSuffix("token=1") {
                refusals.record(())
                return transfer.answer(403)
            }
            answer(count, transfer)
        }

        let fixture = try PlayerFixture(source: source)
        try fixture.play(PackagedContent.product, hearing: 8000)
        fixture.engine.pause()
        try fixture.wait(for: .notPlaying)
        fixture.settle()
        isExpired.set(true)
        fixture.advance(by: 3_600_000_000_000)
        fixture.card.playFreely()
        fixture.engine.play()
        try fixture.wait(for: .idle)

        let heard = fixture.card.recordings.flatMap { $0.samples }
        let isEqual = heard == track.samples
        #expect(isEqual, "\(heard.count) samples instead of \(track.samples.count)")
        #expect(refusals.elements.count >= 1)
        #expect(content.service.playbackinfoRequests.count == 2)
        let messages = fixture.messages
        #expect(!messages.contains { $0.hasPrefix("error") })
        // It has the id of the new session.
        #expect(messages.filter { $0.hasPrefix("quality") }.count == 1)
        #expect(messages.filter { $0.contains(">") } == ["- > r", "r > -"])
    }

    @Test("Behind a refused segment no other is asked for, whatever has room: one refusal, one new session")
    func refusedAhead() throws {
        try content.encode(track, to: "a.mp4")
        let manifest = try content.package(["a.mp4"], ["--segment_duration", "0.5"])
        let source = content.source(manifest, readAhead: 1 << 30)
        content.service.playbackinfo = { count, _ in
            (200, PackagedContent.info(manifest.replacingOccurrences(of: ".m4s", with: ".m4s?token=\(count)")))
        }
        let answer = content.service.content
        let (segments, refusals) = (Locked(0), Recorder<Void>())
        content.service.content = { count, transfer in
            if transfer.request.url.hasSuffix("token=1") {
                segments.set(segments.value + 1)
                if segments.value > 3 {
                    refusals.record(())
                    return transfer.answer(403)
                }
            }
            answer(count, transfer)
        }

        let fixture = try PlayerFixture(source: source)
        fixture.card.playFreely()
        fixture.engine.load(PackagedContent.product)
        fixture.engine.play()
        try fixture.wait(for: .idle)

        let heard = fixture.card.recordings.flatMap { $0.samples }
        let isEqual = heard == track.samples
        #expect(isEqual, "\(heard.count) samples instead of \(track.samples.count)")
        #expect(refusals.elements.count == 1)
        #expect(content.service.playbackinfoRequests.count == 2)
    }
}
