import Foundation
import Media
import PCM
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("HLS in several parts, streamed and downloaded (docs/playback.md, 15.10 and 16.4)", StreamTool.needed)
struct PlaylistPartTests: PeriodSuite {
    let recordings: TwoRecordings

    init() throws { recordings = try TwoRecordings() }

    @Test("HLS: a discontinuity with another initialization, and one with the same")
    func discontinuity() throws {
        for (name, track) in [("one", one), ("two", two)] {
            try content.encode(
                track, to: "\(name).m3u8",
                [
                    "-c:a", "flac", "-strict", "-2", "-f", "hls", "-hls_time", "0.5", "-hls_segment_type", "fmp4",
                    "-hls_playlist_type", "vod", "-hls_fmp4_init_filename", "\(name)-init.mp4",
                    "-hls_segment_filename", "\(name)-%d.m4s",
                ])
        }
        func segments(_ name: String) throws -> String {
            let text = try content.text("\(name).m3u8").replacing("#EXT-X-ENDLIST", with: "")
            return String(text[try #require(text.range(of: "#EXT-X-MAP")).lowerBound...])
        }
        let (first, second) = (try segments("one"), try segments("two"))
        let head = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:1\n#EXT-X-PLAYLIST-TYPE:VOD\n"
        let mark = "#EXT-X-DISCONTINUITY\n"
        try expect(
            head + first + mark + second + mark + second + "#EXT-X-ENDLIST\n", type: "application/vnd.apple.mpegurl",
            isExact: false, plays: one.samples + two.samples + two.samples)
    }

    @Test("HLS: segments that are ranges of one file, also of a server without ranges", arguments: [true, false])
    func ranges(knowsRanges: Bool) throws {
        try content.encode(
            one, to: "one.m3u8",
            [
                "-c:a", "flac", "-strict", "-2", "-f", "hls", "-hls_time", "0.5", "-hls_segment_type", "fmp4",
                "-hls_playlist_type", "vod", "-hls_flags", "single_file",
            ])
        let playlist = try content.text("one.m3u8")
        #expect(playlist.contains("#EXT-X-BYTERANGE") && playlist.contains("BYTERANGE=\""))
        if !knowsRanges { content.serveWithoutRanges() }
        let streamed = try content.open(playlist, type: "application/vnd.apple.mpegurl")
        let kept = try keep(playlist, type: "application/vnd.apple.mpegurl")
        for decoder in [streamed, try kept.open(7)] {
            #expect(try decoder.decodeRest().samples == one.samples)
            for place in [60_000, 0, 99_000] {
                try decoder.seek(toFrame: Int64(place))
                #expect(try decoder.decodeRest().samples == one.samples(from: place), "\(place)")
            }
            #expect(decoder.damage.isEmpty)
        }
    }

    @Test("HLS as ffmpeg writes it, alone")
    func playlist() throws {
        try content.encode(
            two, to: "two.m3u8",
            [
                "-c:a", "flac", "-strict", "-2", "-f", "hls", "-hls_time", "0.5", "-hls_segment_type", "fmp4",
                "-hls_playlist_type", "vod",
            ])
        let text = try content.text("two.m3u8")
        for place in [49_001, 48_383, 47_000, 1] {
            let decoder = try content.open(text, type: "application/vnd.apple.mpegurl")
            try decoder.seek(toFrame: Int64(place))
            #expect(try decoder.decodeRest().samples == two.samples(from: place), "\(place) first")
            try decoder.seek(toFrame: Int64(place))
            #expect(try decoder.decodeRest().samples == two.samples(from: place), "\(place) at the end")
        }
        let decoder = try content.open(text, type: "application/vnd.apple.mpegurl")
        #expect(try decoder.decodeRest().samples == two.samples)
        for place in [49_001, 48_383, 50_000] {
            try decoder.seek(toFrame: Int64(place))
            #expect(try decoder.decodeRest().samples == two.samples(from: place), "\(place) after all")
        }
    }

    @Test("HLS: gaps are passed over, and not asked for")
    func gaps() throws {
        try content.encode(one, to: "one.mp4")
        var starts = [0]
        for match in try content.package(["one.mp4"], ["--segment_duration", "0.5"])
            .matches(of: /<S t="\d+" d="(\d+)"(?: r="(\d+)")?/)
        {
            for _ in 0...(match.2.flatMap { Int($0) } ?? 0) { starts.append((starts.last ?? 0) + (Int(match.1) ?? 0)) }
        }
        try #require(starts.count > 10 && starts.last == one.frames)
        let playlist = try content.text("one.m3u8")
        func with(gaps: [Int]) -> String {
            gaps.reduce(playlist) { text, number in
                text.replacing("\none/\(number).m4s", with: "\n#EXT-X-GAP\none/\(number).m4s")
            }
        }
        let gaps = [1, 4, 5, starts.count - 1]
        for number in gaps { try FileManager.default.removeItem(atPath: content.folder["one/\(number).m4s"]) }
        try expect(
            with(gaps: gaps), type: "application/vnd.apple.mpegurl", isExact: false,
            plays: one.samples(starts[1]..<starts[3]) + one.samples(starts[5]..<starts[starts.count - 2]))
        #expect(!gaps.contains { number in content.fetched.contains { $0.hasSuffix("one/\(number).m4s") } })
        let all = with(gaps: Array(1..<starts.count))
        #expect { try content.open(all, type: "application/vnd.apple.mpegurl") } throws: { error in
            (error as? PlayerError)?.message.contains("without audio") ?? false
        }
    }
}
