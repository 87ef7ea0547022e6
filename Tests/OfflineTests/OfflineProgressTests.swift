import Foundation
import Network
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Player

@Suite("The progress of content in segments (docs/playback.md, 16.2)", .serialized)
struct OfflineProgressTests {
    private static let segments = 10

    private let folder: ScratchFolder
    private let track: Track
    private let service = ScriptedService()

    init() throws {
        folder = try ScratchFolder()
        // Ten seconds: one for each segment.
        track = try Track("a", frames: 80_000, in: folder)
        let file = try track.file
        let size = (file.count + Self.segments - 1) / Self.segments
        service.content = { _, transfer in
            let name = transfer.request.url.split(separator: "/").last.map { String($0) } ?? ""
            guard let number = Int(name), number < Self.segments else { return transfer.answer(404) }
            let segment = Array(file[(number * size)..<min(file.count, (number + 1) * size)])
            transfer.begin(200, [("Content-Length", "\(segment.count)")])
            for start in stride(from: 0, to: segment.count, by: 1000) {
                transfer.deliver(Array(segment[start..<min(segment.count, start + 1000)]))
            }
            transfer.end()
        }
    }

    private static let playlist =
        "#EXTM3U\n#EXT-X-TARGETDURATION:1\n"
        + (0..<segments).map { "#EXTINF:1.0,\nhttps://content/\($0)\n" }.joined() + "#EXT-X-ENDLIST\n"

    private static let presentation = """
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT10S"><Period>
        <AdaptationSet mimeType="audio/mp4">
        <SegmentTemplate media="https://content/$Number$" startNumber="0" duration="1" timescale="1"/>
        <Representation id="0" bandwidth="1000" codecs="flac"/></AdaptationSet></Period></MPD>
        """

    @Test(
        "It never falls, is told once a percent by bytes and not by segments, and stays below 100 until it is done",
        arguments: [("application/vnd.apple.mpegurl", playlist), ("application/dash+xml", presentation)])
    func percents(_ type: String, _ manifest: String) throws {
        let info = """
            {"trackId": 42, "assetPresentation": "FULL", "audioMode": "STEREO", "audioQuality": "LOSSLESS",
             "manifestMimeType": "\(type)", "manifest": "\(Data(manifest.utf8).base64EncodedString())"}
            """
        service.playbackinfo = { _, _ in (200, info) }
        let offline = try OfflineFixture(network: service.network)
        try offline.keep(7)
        let percents = offline.log.messages.compactMap { message -> Int? in
            if case .progress(_, let percent) = message { percent } else { nil }
        }
        #expect(percents == percents.sorted() && Set(percents).count == percents.count, "\(percents)")
        #expect(percents.count > 5 * Self.segments, "\(percents)")
        #expect(percents.dropLast().allSatisfy { (0..<100).contains($0) })
        #expect(offline.log.lines.first == "started r7")
        #expect(offline.log.lines.suffix(2) == ["100 r7", "done r7"])
        let isEqual = try offline.open(7).decodeRest().samples == track.samples
        #expect(isEqual)
    }
}
