import Foundation
import Media
import Network
import OfflineTestSupport
import PlayerTestSupport
import TestSupport
import Testing

@testable import Player

@Suite("Segments of which only a duration says that they are there (docs/playback.md, 15.5)", StreamTool.needed)
struct EstimatedEndTests {
    private let content: PackagedContent
    private let track: Track
    /// How many segments there are.
    private let count: Int

    init() throws {
        content = try PackagedContent()
        track = try Track("a", frames: 60_000, in: content.folder)
        try content.encode(track, to: "a.mp4")
        try content.package(["a.mp4"], ["--segment_duration", "1"])
        count = try FileManager.default.contentsOfDirectory(atPath: content.folder["a"]).count - 1
        try #require(count > 5)
    }

    /// - Parameter rest: more attributes of the template, besides its addresses.
    private func manifest(_ rest: String, _ timeline: String = "") -> String {
        """
        <MPD mediaPresentationDuration="PT\(Double(count) + 0.05)S"><Period><BaseURL>https://content/</BaseURL>
        <AdaptationSet contentType="audio" mimeType="audio/mp4"><Representation id="r" bandwidth="300000" codecs="flac">
        <SegmentTemplate initialization="a/init.mp4" media="a/$Number$.m4s" startNumber="1" \(rest)>\(timeline)
        </SegmentTemplate></Representation></AdaptationSet></Period></MPD>
        """
    }

    private func answerMissing(_ status: Int) {
        let inner = content.service.content
        let name = "a/\(count + 1).m4s"
        content.service.content = { count, transfer in
            if transfer.request.url.hasSuffix(name) { transfer.answer(status) } else { inner(count, transfer) }
        }
    }

    @Test("The last one that is not there is the end, streamed and downloaded", arguments: [404, 410])
    func isEnd(status: Int) throws {
        answerMissing(status)
        let text = manifest("duration=\"1\"")
        let played = try content.open(text).decodeRest().samples == track.samples
        #expect(played && content.service.playbackinfoRequests.count == 1)
        #expect(content.fetched.contains { $0.hasSuffix("a/\(count + 1).m4s") })

        let offline = try OfflineFixture(network: content.service.network)
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        try offline.wait(for: "done r7")
        let kept = try offline.open(7).decodeRest().samples == track.samples
        #expect(kept)
    }

    @Test("Refused in another way, or listed by number, it is an error")
    func isError() throws {
        answerMissing(403)
        let text = manifest("duration=\"1\"")
        #expect(throws: (any Error).self) { try content.open(text).decodeRest() }
        answerMissing(404)
        let listed = manifest("", "<SegmentTimeline><S d=\"1\" r=\"\(count)\"/></SegmentTimeline>")
        #expect(throws: (any Error).self) { try content.open(listed).decodeRest() }
    }
}

#if AAC
    @Suite("Offline copies of packed AAC (docs/playback.md, 16.4)", StreamTool.needed)
    struct DownloadedSegmentsTests {
        @Test("Segments with tags of their times are downloaded, and play as they are streamed")
        func kept() throws {
            let content = try PackagedContent()
            let track = try Track("a", frames: 200_000, rate: 44_100, in: content.folder)
            try content.encode(track, to: "a.mp4", ["-c:a", "aac", "-aac_pns", "0"])
            try StreamTool.run(
                StreamTool.packager,
                [
                    "in=a.mp4,stream=audio,segment_template=p/$Number$.aac,playlist_name=p.m3u8", "--segment_duration",
                    "1", "--hls_master_playlist_output", "master.m3u8",
                ], in: content.folder.path)
            let tag = try #require(PackagedContent.bytes(at: "p/1.aac", in: content.folder)).prefix(3)
            #expect(Array(tag) == Array("ID3".utf8))
            let playlist = try content.text("p.m3u8").replacingOccurrences(of: "p/", with: "https://content/p/")
            let type = "application/vnd.apple.mpegurl"
            let streamed = try content.open(playlist, type: type).decodeRest().samples
            #expect(streamed.count >= 400_000)
            let offline = try OfflineFixture(network: content.service.network)
            #expect(offline.engine.offline(OfflineFixture.product(7)))
            try offline.wait(for: "done r7")
            let isEqual = try offline.open(7).decodeRest().samples == streamed
            #expect(isEqual)
        }
    }
#endif
