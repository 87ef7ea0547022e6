import Foundation
import Media
import PCM
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player
@testable import Fetching

@Suite("Several representations of one sound (docs/playback.md, 15.11)", StreamTool.needed)
struct AdaptiveTests {
    private let content: PackagedContent
    private let track: Track

    init() throws {
        content = try PackagedContent.onFastLine()
        track = try Track("a", frames: 480_001, in: content.folder)
    }

    /// Two lossless representations. By the manifest, one needs a tenth of the other's bit rate.
    private func lossless() throws -> String {
        try content.encode(track, to: "low.mp4", ["-c:a", "flac", "-strict", "-2", "-frame_size", "1152"])
        try content.encode(track, to: "high.mp4", ["-c:a", "flac", "-strict", "-2", "-frame_size", "2304"])
        return PackagedContent.bandwidths(try content.package(["low.mp4", "high.mp4"], ["--segment_duration", "1"]))
    }

    @Test("A line that gets slow and fast again: the representation follows, and not a frame is lost or heard twice")
    func follows() throws {
        let manifest = try lossless()
        content.serve(fastFrom: 12)
        let decoder = try content.open(manifest)
        #expect(decoder.properties.bitRate == 1_000_000)
        let played = try decoder.decodeRest()
        #expect(played.samples == track.samples)
        #expect(played.formats.isEmpty && decoder.damage.isEmpty)
        #expect(played.changes.map { $0.bitRate } == [100_000, 1_000_000])
        #expect(content.fetched.contains { $0.hasSuffix("low/5.m4s") })
        #expect(!content.fetched.contains { $0.hasSuffix("high/5.m4s") })
        for place in [400_000, 0, 100_000] {
            try decoder.seek(toFrame: Int64(place))
            #expect(try decoder.decodeRest(frames: 60_000).samples == track.samples(place..<place + 60_000), "\(place)")
        }
    }

    @Test("The first representation of a later product is what the line has carried")
    func begins() throws {
        let manifest = try lossless()
        content.serve { _ in 300_000 }
        _ = try content.open(manifest).decodeRest(frames: 20_000)
        #expect(try content.open(manifest).properties.bitRate == 100_000)
    }

    @Test("A seek while another representation is about to follow")
    func seekBeforeBoundary() throws {
        let manifest = try lossless()
        content.serve { _ in 300_000 }
        let decoder = try content.open(manifest)
        var position = 0
        // The next representation is prepared during the first segments.
        for place in [30_000, 5000, 200_000, 3] {
            #expect(try decoder.decodeRest(frames: 3000).samples == track.samples(position..<position + 3000))
            try decoder.seek(toFrame: Int64(place))
            position = place
        }
        #expect(try decoder.decodeRest().samples == track.samples(from: 3))
    }

    @Test("A representation that is refused is not used, and the present one goes on")
    func refused() throws {
        let manifest = try lossless()
        try FileManager.default.removeItem(atPath: content.folder["low/init.mp4"])
        content.serve { _ in 300_000 }
        let played = try content.open(manifest).decodeRest()
        #expect(played.samples == track.samples)
        #expect(played.changes.isEmpty)
        #expect(content.fetched.filter { $0.hasSuffix("low/init.mp4") }.count == 1)
    }

    private let master = """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=100000,CODECS="fLaC"
        low.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=1000000,CODECS="fLaC"
        high.m3u8
        """

    private func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: content.folder[name]) }

    /// The line was slow before, so the lowest representation is the first.
    private func wasSlow() { content.throughput.add(bytes: 1 << 20, nanoseconds: 83_886_080_000) }

    @Test(
        "HLS: a variant whose playlist is not there is not used, streamed and downloaded", arguments: ["low", "high"])
    func missingPlaylist(name: String) throws {
        _ = try lossless()
        try remove("\(name).m3u8")
        let type = "application/vnd.apple.mpegurl"
        let played = try content.open(master, type: type).decodeRest().samples == track.samples
        #expect(played && content.service.playbackinfoRequests.count == 1)
        #expect(!content.fetched.contains { $0.contains("\(name)/") })
        _ = content.source(master, type: type)
        let offline = try OfflineFixture(network: content.service.network)
        try offline.keep(7)
        let kept = try offline.open(7).decodeRest().samples == track.samples
        #expect(kept)
    }

    @Test("HLS: the error of the best variant when no playlist is there, after a second session")
    func missingPlaylists() throws {
        _ = try lossless()
        for name in ["low", "high"] { try remove("\(name).m3u8") }
        #expect { try content.open(master, type: "application/vnd.apple.mpegurl") } throws: { error in
            (error as? PlayerError)?.code.hasSuffix("404") ?? false
        }
        #expect(content.service.playbackinfoRequests.count == 2)
    }

    @Test("A representation in a codec that cannot be decoded is not begun with, also on a slow line")
    func otherCodec() throws {
        let manifest = try lossless().components(separatedBy: "<Representation").map { part in
            part.contains("\"low/") ? part.replacing("codecs=\"flac\"", with: "codecs=\"mp4a.40.42\"") : part
        }.joined(separator: "<Representation")
        try #require(manifest.contains("mp4a.40.42"))
        wasSlow()
        let played = try content.open(manifest).decodeRest().samples == track.samples
        #expect(played && !content.fetched.contains { $0.contains("low/") })
    }

    @Test("A representation whose codec is another one than the manifest says: the next one plays, in the same session")
    func hiddenCodec() throws {
        let manifest = try lossless()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: content.folder["low/init.mp4"]))
        bytes.replaceSubrange(try #require(bytes.range(of: Data("fLaC".utf8))), with: Data("ac-4".utf8))
        try bytes.write(to: URL(fileURLWithPath: content.folder["low/init.mp4"]))
        wasSlow()
        let decoder = try content.open(manifest)
        #expect(decoder.properties.bitRate == 1_000_000)
        let played = try decoder.decodeRest()
        let isEqual = played.samples == track.samples
        #expect(isEqual && played.changes.isEmpty)
        #expect(content.fetched.filter { $0.hasSuffix("low/init.mp4") }.count == 1)
        #expect(content.service.playbackinfoRequests.count == 1)
    }

    @Test("A representation that is refused at the start: a second session, and then the next one")
    func refusedAtStart() throws {
        let manifest = try lossless()
        try remove("low/init.mp4")
        wasSlow()
        let played = try content.open(manifest).decodeRest().samples == track.samples
        #expect(played && content.service.playbackinfoRequests.count == 2)
    }

    @Test("A quality that the manifest names is the only one")
    func fixed() throws {
        let manifest = try lossless()
        content.serve { _ in 300_000 }
        let named = manifest.components(separatedBy: "<Representation").map { part in
            part.contains("\"high/") ? part.replacing(/id="\d+"/, with: "id=\"LOSSLESS\"", maxReplacements: 1) : part
        }.joined(separator: "<Representation")
        let played = try content.open(named).decodeRest()
        #expect(played.samples == track.samples && played.changes.isEmpty)
        #expect(!content.fetched.contains { $0.contains("low/") })
    }

    /// The same two representations, each in one file with an index of its parts.
    private func files() throws -> String {
        try content.encode(track, to: "low.mp4", ["-c:a", "flac", "-strict", "-2", "-frame_size", "1152"])
        try content.encode(track, to: "high.mp4", ["-c:a", "flac", "-strict", "-2", "-frame_size", "2304"])
        try StreamTool.run(
            StreamTool.packager,
            [
                "in=low.mp4,stream=audio,output=low-whole.mp4", "in=high.mp4,stream=audio,output=high-whole.mp4",
                "--segment_duration", "1", "--mpd_output", "out.mpd",
            ], in: content.folder.path)
        let manifest = try content.text("out.mpd")
        try #require(manifest.contains("indexRange"))
        return manifest.components(separatedBy: "<Representation").map { part in
            let value = part.contains("low-whole.mp4") ? "100000" : "1000000"
            return part.replacing(/bandwidth="\d+"/, with: "bandwidth=\"\(value)\"")
        }.joined(separator: "<Representation")
    }

    @Test("Files with an index: the representation follows at the boundary of a part, and not a frame is lost")
    func indexedFiles() throws {
        let manifest = try files()
        content.serve(fastFrom: 14)
        let decoder = try content.open(manifest)
        #expect(decoder.properties.bitRate == 1_000_000)
        let played = try decoder.decodeRest()
        let isEqual = played.samples == track.samples
        #expect(isEqual, "\(played.samples.count) samples instead of \(track.samples.count)")
        #expect(played.formats.isEmpty && decoder.damage.isEmpty)
        #expect(played.changes.map { $0.bitRate } == [100_000, 1_000_000])
        for place in [400_000, 0, 100_000] {
            try decoder.seek(toFrame: Int64(place))
            let heard = try decoder.decodeRest(frames: 60_000).samples == track.samples(place..<place + 60_000)
            #expect(heard, "\(place)")
        }
    }

    @Test("Files with an index, and a quality that the manifest names: it is the only one")
    func fixedFile() throws {
        let manifest = try files()
        content.serve { _ in 300_000 }
        let named = manifest.components(separatedBy: "<Representation").map { part in
            part.contains("high-whole.mp4")
                ? part.replacing(/id="\d+"/, with: "id=\"LOSSLESS\"", maxReplacements: 1) : part
        }.joined(separator: "<Representation")
        let played = try content.open(named).decodeRest()
        let isEqual = played.samples == track.samples
        #expect(isEqual && played.changes.isEmpty)
        #expect(!content.fetched.contains { $0.contains("low-whole") })
    }

    @Test("Files with an index: a host that is silent is not waited for when its file is not the one to begin with")
    func silentFile() throws {
        let manifest = try files().replacingOccurrences(of: "low-whole.mp4", with: "https://dead/low-whole.mp4")
        let answer = content.service.content
        content.service.content = { count, transfer in
            if !transfer.request.url.hasPrefix("https://dead/") { answer(count, transfer) }
        }
        let played = try content.open(manifest).decodeRest().samples == track.samples
        #expect(played && content.fetched.filter { $0.hasPrefix("https://dead/") }.count == 1)
    }

    @Test("Files of which one is not there: the other one plays")
    func missingFile() throws {
        let manifest = try files()
        try remove("low-whole.mp4")
        let played = try content.open(manifest).decodeRest().samples == track.samples
        #expect(played && content.service.playbackinfoRequests.count == 1)
    }

    @Test("Files of which an index cannot be read: the best one plays as it is")
    func damagedIndex() throws {
        let manifest = try files()
        let broken = manifest.replacing(/indexRange="\d+-\d+"/, with: "indexRange=\"8-16\"")
        content.serve { _ in 300_000 }
        let played = try content.open(broken).decodeRest()
        let isEqual = played.samples == track.samples
        #expect(isEqual && played.changes.isEmpty)
    }

    @Test("AAC: each side of the boundary is what that representation alone gives")
    func aac() throws {
        try content.encode(track, to: "low.mp4", ["-c:a", "aac", "-aac_pns", "0", "-b:a", "16k"])
        try content.encode(track, to: "high.mp4", ["-c:a", "aac", "-aac_pns", "0", "-b:a", "48k"])
        let alone = try ["low", "high"].map { name in
            try content.open(try content.package(["\(name).mp4"], ["--segment_duration", "1"])).decodeRest().samples
        }
        let manifest = PackagedContent.bandwidths(
            try content.package(["low.mp4", "high.mp4"], ["--segment_duration", "1"]))
        content.serve { _ in 20_000 }
        // Transfers of this size are not measured.
        content.throughput.add(bytes: 1 << 20, nanoseconds: 8_388_608)
        let decoder = try content.open(manifest)
        #expect(decoder.properties.bitRate == 1_000_000)
        content.throughput.add(bytes: 1 << 20, nanoseconds: 83_886_080_000)
        let played = try decoder.decodeRest()
        #expect(played.changes.count == 1)
        let boundary = try #require(played.changes.first?.frame) * 2
        #expect(boundary > 0 && boundary < played.samples.count)
        #expect(played.samples[..<boundary] == alone[1][..<boundary])
        #expect(played.samples[boundary...] == alone[0][boundary...])
    }

    @Test("The change is reported when it is heard, with a whole context")
    func message() throws {
        let manifest = try lossless()
        content.serve { _ in 300_000 }
        let fixture = try PlayerFixture(source: content.source(manifest))
        try fixture.play(PackagedContent.product)
        let before = fixture.engine.playbackContext
        #expect(before?.audioBitRate == 1_000_000 && before?.audioQuality == .lossless)
        try fixture.hear(4000)
        #expect(!fixture.messages.contains { $0.hasPrefix("quality") })
        try fixture.hear(60_000)
        try fixture.log.wait("the new quality") { messages in
            messages.contains { if case .playbackQualityChanged = $0 { true } else { false } }
        }
        var expected = try #require(before)
        expected.audioBitRate = 100_000
        #expect(fixture.engine.playbackContext == expected)
    }
}
