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
    /// - Parameter extra: how many segments too many the duration gives.
    private func manifest(_ rest: String, _ timeline: String = "", extra: Int = 1) -> String {
        """
        <MPD mediaPresentationDuration="PT\(Double(count + extra) - 0.95)S"><Period><BaseURL>https://content/</BaseURL>
        <AdaptationSet contentType="audio" mimeType="audio/mp4"><Representation id="r" bandwidth="300000" codecs="flac">
        <SegmentTemplate initialization="a/init.mp4" media="a/$Number$.m4s" startNumber="1" \(rest)>\(timeline)
        </SegmentTemplate></Representation></AdaptationSet></Period></MPD>
        """
    }

    /// - Parameter numbers: of the segments, after the last one that is there.
    private func answerMissing(_ status: Int, _ numbers: [Int] = [1], _ body: String = "") {
        let inner = content.service.content
        let names = numbers.map { "a/\(count + $0).m4s" }
        content.service.content = { count, transfer in
            if names.contains(where: { transfer.request.url.hasSuffix($0) }) {
                transfer.answer(status, [], Array(body.utf8))
            } else {
                inner(count, transfer)
            }
        }
    }

    @Test(
        "The last ones that are not there are the end, streamed and downloaded",
        arguments: [
            (404, "", 1), (410, "", 1), (204, "", 1), (403, "", 1), (400, "", 1), (404, "", 2), (403, "", 3),
            (403, #"{"status": 403}"#, 1),
        ])
    func isEnd(status: Int, body: String, extra: Int) throws {
        answerMissing(status, Array(1...extra), body)
        let text = manifest("duration=\"1\"", extra: extra)
        let played = try content.open(text).decodeRest().samples == track.samples
        // A refusal may mean that the address has expired: another session shows that it is the end.
        #expect(played && content.service.playbackinfoRequests.count == (status == 403 || status == 400 ? 2 : 1))
        #expect(content.fetched.contains { $0.hasSuffix("a/\(count + 1).m4s") })

        let offline = try OfflineFixture(network: content.service.network)
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        try offline.wait(for: "done r7")
        let kept = try offline.open(7).decodeRest().samples == track.samples
        #expect(kept)
    }

    @Test("A page, or one in the middle that is missing while the next one is there, is an error", arguments: [0, -1])
    func isHole(number: Int) throws {
        answerMissing(404, [number])
        let text = manifest("duration=\"1\"", extra: 0)
        if number < 0 { #expect(throws: (any Error).self) { try content.open(text).decodeRest() } }
        answerMissing(200, [0], "<html>Log in</html>")
        #expect(throws: (any Error).self) { try content.open(text).decodeRest() }
    }

    @Test("Listed by number, it is an error")
    func isError() throws {
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
