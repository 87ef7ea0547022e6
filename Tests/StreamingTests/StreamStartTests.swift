import Foundation
import Media
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player
@testable import Fetching

@Suite("When a stream begins (docs/playback.md, 15.14)", StreamTool.needed)
struct StreamStartTests {
    private let content: PackagedContent
    private let track: Track
    private let manifest: String
    /// The segments that were asked for.
    private let asked = Recorder<AskedSegment>()

    init() throws {
        content = try PackagedContent()
        track = try Track("a", frames: 64_000, in: content.folder)
        try content.encode(track, to: "a.mp4")
        manifest = try content.package(["a.mp4"], ["--segment_duration", "2"])
    }

    /// A segment that arrives as the test wants.
    // @unchecked: the test's thread alone delivers.
    private final class AskedSegment: @unchecked Sendable {
        private let transfer: ScriptedNetwork.Ongoing
        private let bytes: [UInt8]
        private var place = 0

        init(_ transfer: ScriptedNetwork.Ongoing, _ bytes: [UInt8]) {
            (self.transfer, self.bytes) = (transfer, bytes)
            transfer.begin(200, [("Content-Length", "\(bytes.count)")])
        }

        func deliver(upTo share: Double) {
            let end = Int(Double(bytes.count) * share)
            transfer.deliver(Array(bytes[place..<end]))
            place = end
            if share == 1 { transfer.end() }
        }
    }

    /// Segments wait for the test; the rest arrives at once.
    private func holdSegments() {
        let answer = content.service.content
        content.service.content = { [folder = content.folder, asked] count, transfer in
            let url = transfer.request.url
            guard url.hasSuffix(".m4s"), let bytes = PackagedContent.bytes(at: url, in: folder) else {
                return answer(count, transfer)
            }
            asked.record(AskedSegment(transfer, bytes))
        }
    }

    private func segment(_ number: Int, _ fixture: PlayerFixture) throws -> AskedSegment {
        try fixture.spin("segment \(number)") { asked.elements.count >= number }
        return asked.elements[number - 1]
    }

    /// Waits until the decoder thread has found that too few bytes have arrived.
    private func decline(_ fixture: PlayerFixture) throws {
        try fixture.spin("a decoder that waits for more") {
            fixture.engine.published.value.pipeline?.stream.isAwaited ?? false
        }
    }

    @Test("It starts with one whole segment, and goes on after a stall with another; the next comes without a read")
    func segments() throws {
        let source = content.source(manifest)
        holdSegments()
        let fixture = try PlayerFixture(source: source)
        fixture.card.playFreely()
        fixture.engine.load(PackagedContent.product)
        fixture.engine.play()
        for share in [0.5, 0.9] {
            try segment(1, fixture).deliver(upTo: share)
            try decline(fixture)
            #expect(fixture.card.heardFrames == 0)
        }
        try segment(1, fixture).deliver(upTo: 1)
        try fixture.wait(for: .playing)
        // It is asked for when the one before is there.
        let second = try segment(2, fixture)
        try fixture.spin("the first segment") { fixture.engine.isWaitingForMedium || fixture.card.heardFrames > 15_000 }
        fixture.advance(by: 1_000_000_000)
        try fixture.wait(for: .stalled)
        let heard = fixture.card.heardFrames
        for share in [0.5, 0.9] {
            second.deliver(upTo: share)
            try decline(fixture)
            #expect(fixture.card.heardFrames == heard)
        }
        second.deliver(upTo: 1)
        try fixture.wait(for: .playing)
        try segment(3, fixture).deliver(upTo: 1)
        try segment(4, fixture).deliver(upTo: 1)
        try fixture.wait(for: .idle)
        let isEqual = fixture.card.recordings.flatMap { $0.samples } == track.samples
        #expect(isEqual)
        #expect(
            fixture.messages.filter { $0 == "PLAYING" || $0 == "STALLED" } == ["PLAYING", "STALLED", "PLAYING"],
            "\(fixture.messages)")
    }

    @Test("While playback is paused, the rest is fetched; so is what follows")
    func paused() throws {
        let fixture = try PlayerFixture(source: content.source(manifest))
        holdSegments()
        fixture.engine.load(PackagedContent.product)
        for number in 1...4 { try segment(number, fixture).deliver(upTo: 1) }
        let following = MediaProduct(productType: .track, productId: "tonearm:track/8", referenceId: "s")
        fixture.engine.setNext(following)
        try fixture.spin("the next product") { asked.elements.count == 5 }
        #expect(fixture.card.heardFrames == 0)
    }

    @Test(
        "On a line of any rate it stalls at most once, and not while the line is faster than the content",
        arguments: [0.3, 0.5, 0.8, 1.2, 4.0])
    func line(_ ratio: Double) throws {
        let bytes = try track.file
        let (held, file) = (Recorder<ScriptedNetwork.Ongoing>(), bytes)
        let source = content.source("")
        content.service.playbackinfo = { _, _ in (200, ScriptedService.info()) }
        content.service.content = { _, transfer in
            transfer.begin(200, [("Content-Length", "\(file.count)")])
            transfer.deliver(Array(file[..<20_000]))
            held.record(transfer)
        }
        let opened = try source.open(
            PackagedContent.product, session: PlaybackSession(), cancellation: try Cancellation(),
            medium: MediumAccess())
        let transfer = try #require(held.elements.first)

        // In steps of 10 ms.
        let step = 0.01
        let rate = ratio * Double(bytes.count) / track.duration
        var (arrived, delivered) = (20_000.0, 20_000)
        var (heard, decoded) = (0.0, 0.0)
        var (isPlaying, isOver, stalls) = (false, false, 0)
        var samples: [Int32] = []
        while heard < track.duration, stalls < 10 {
            content.clock.advance(by: Int64(step * 1e9))
            arrived = min(Double(bytes.count), arrived + rate * step)
            if Int(arrived) > delivered {
                transfer.deliver(Array(bytes[delivered..<Int(arrived)]))
                delivered = Int(arrived)
                if delivered == bytes.count { transfer.end() }
            }
            if !isPlaying { isPlaying = opened.fetching!.hasEnough(at: decoded) }
            guard isPlaying else { continue }
            // A ring of a second.
            if !isOver, decoded < heard + 1 {
                let more = try opened.decoder.decodeArrived()
                samples += more.samples
                isOver = more.isOver
                decoded = Double(samples.count / 2) / Double(track.format.sampleRate)
            }
            heard = min(decoded, heard + step)
            if heard == decoded, !isOver {
                isPlaying = false
                stalls += 1
            }
        }
        let isEqual = samples == track.samples
        #expect(isEqual)
        #expect(stalls <= (ratio < 1 ? 1 : 0))
    }
}
