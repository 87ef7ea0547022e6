import Foundation
import Media
import PlayerTestSupport
import TestSupport
import Testing

@testable import Player

@Suite("Segments that are not what the manifest names (docs/playback.md, 15.5)", StreamTool.needed)
struct UnusableSegmentTests {
    private let content: PackagedContent
    private let track: Track

    /// A body that a server sends instead of a segment, with status 200.
    enum Body: CaseIterable {
        case cutInSample, cutInHeader, page, json, text, nothing

        /// Whether it does not come from the service.
        var isMessage: Bool { self == .page || self == .json || self == .text }

        func bytes(of segment: [UInt8]) -> [UInt8] {
            switch self {
            case .cutInSample: Array(segment.dropLast(10))
            case .cutInHeader: Array(segment.prefix(100))
            case .page: Array("<!DOCTYPE html><html><body>Please log in to this network.</body></html>".utf8)
            case .json: Array(#"{"error": "blocked", "message": "für dieses Netz gesperrt"}"#.utf8)
            case .text: Array("Blocked by the administrator of this network.".utf8)
            case .nothing: []
            }
        }
    }

    init() throws {
        content = try PackagedContent()
        track = try Track("a", frames: 64_000, in: content.folder)
    }

    /// Answers for one segment with another body, so many times.
    private func replace(_ name: String, by body: Body, times: Int) {
        let answer = content.service.content
        let left = Locked(times)
        content.service.content = { [folder = content.folder] count, transfer in
            let url = transfer.request.url
            guard left.value > 0, url.hasSuffix(name), let bytes = PackagedContent.bytes(at: url, in: folder) else {
                return answer(count, transfer)
            }
            left.set(left.value - 1)
            let other = body.bytes(of: bytes)
            transfer.answer(200, [("Content-Length", "\(other.count)")], other)
        }
    }

    @Test(
        "One file: a page or nothing in place of it once, and the product is requested again",
        arguments: [Body.page, .nothing])
    func file(body: Body) throws {
        try content.encode(track, to: "a.mp4", ["-c:a", "flac", "-strict", "-2", "-movflags", "faststart"])
        replace("a.mp4", by: body, times: 1)
        let manifest = #"{"mimeType": "audio/mp4", "codecs": "flac", "urls": ["https://content/a.mp4"]}"#
        let played = try content.open(manifest, type: "application/vnd.tidal.bts").decodeRest()
        let isEqual = played.samples == track.samples
        #expect(isEqual && content.service.playbackinfoRequests.count == 2)
    }

    @Test("MP4: once, the product is requested again, and not a frame is missing", arguments: Body.allCases)
    func once(body: Body) throws {
        try content.encode(track, to: "a.mp4")
        let manifest = try content.package(["a.mp4"], ["--segment_duration", "2"])
        replace("a/3.m4s", by: body, times: 1)
        let played = try content.open(manifest).decodeRest()
        let isEqual = played.samples == track.samples
        #expect(isEqual)
        #expect(content.service.playbackinfoRequests.count == 2)
        // A cache would have the same bytes again.
        let again = content.service.contentRequests.last { $0.url.hasSuffix("a/3.m4s") }
        #expect(again?.headers.contains { $0.isNamed("cache-control") && $0.value == "no-cache" } == true)
    }

    @Test("MP4: each time, it is an error, behind the last whole frame", arguments: Body.allCases)
    func always(body: Body) throws {
        try content.encode(track, to: "a.mp4")
        let manifest = try content.package(["a.mp4"], ["--segment_duration", "2"])
        replace("a/3.m4s", by: body, times: .max)
        let decoder = try content.open(manifest)
        #expect {
            try decoder.decodeRest()
        } throws: { error in
            switch error as? MediaError {
            case .source(.integrity)?: !body.isMessage
            case .source(.foreign(status: 200, _))?: body.isMessage
            default: false
            }
        }
        #expect(content.service.playbackinfoRequests.count == 2)
    }

    @Test("Packed AAC", arguments: [Body.cutInSample, .page, .json, .text, .nothing])
    func packed(body: Body) throws {
        try StreamTool.run(
            StreamTool.ffmpeg,
            [
                "-loglevel", "error", "-i", track.product.productId, "-c:a", "aac", "-aac_pns", "0", "-f", "segment",
                "-segment_format", "adts", "-segment_time", "2", "%d.aac",
            ], in: content.folder.path)
        let names = try FileManager.default.contentsOfDirectory(atPath: content.folder.path).filter {
            $0.hasSuffix(".aac")
        }
        let playlist =
            "#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXT-X-MEDIA-SEQUENCE:0\n"
            + (0..<names.count).map { "#EXTINF:2,\nhttps://content/\($0).aac\n" }.joined() + "#EXT-X-ENDLIST\n"
        let expected = try content.open(playlist, type: "application/vnd.apple.mpegurl").decodeRest().samples
        #expect(names.count >= 4 && expected.count > 120_000)
        replace("/2.aac", by: body, times: 1)
        let before = content.service.playbackinfoRequests.count
        let played = try content.open(playlist, type: "application/vnd.apple.mpegurl").decodeRest()
        #expect(content.service.playbackinfoRequests.count == before + 2)
        let isEqual = played.samples == expected
        #expect(isEqual, "\(played.samples.count) samples instead of \(expected.count)")
    }
}
