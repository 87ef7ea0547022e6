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
        content = try PackagedContent()
        track = try Track("a", frames: 480_001, in: content.folder)
        // The line was fast before, so the best representation is the first.
        content.throughput.add(bytes: 1 << 20, nanoseconds: 8_388_608)
    }

    /// A line that is slow at first, and fast from a request on, before which the next change may be made.
    private func serve(fastFrom request: Int) {
        content.serve { [clock = content.clock] count in
            if count == request { clock.advance(by: 5_000_000_000) }
            return count < request ? 300_000 : 50_000_000
        }
    }

    /// Two lossless representations. By the manifest, one needs a tenth of the other's bit rate.
    private func lossless() throws -> String {
        try content.encode(track, to: "low.mp4", ["-c:a", "flac", "-strict", "-2", "-frame_size", "1152"])
        try content.encode(track, to: "high.mp4", ["-c:a", "flac", "-strict", "-2", "-frame_size", "2304"])
        return bandwidths(try content.package(["low.mp4", "high.mp4"], ["--segment_duration", "1"]))
    }

    /// The order of the representations in the manifest is not that of the files.
    private func bandwidths(_ manifest: String) -> String {
        manifest.components(separatedBy: "<Representation").map { part in
            guard part.contains("SegmentTemplate") else { return part }
            let value = part.contains("\"low/") ? "100000" : "1000000"
            return part.replacing(/bandwidth="\d+"/, with: "bandwidth=\"\(value)\"")
        }.joined(separator: "<Representation")
    }

    @Test("A line that gets slow and fast again: the representation follows, and not a frame is lost or heard twice")
    func follows() throws {
        let manifest = try lossless()
        serve(fastFrom: 12)
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

    /// Two representations with different sample rates. Every sample shows from which one it is.
    private func ofTwoRates(_ high: Track, _ low: Track) throws -> String {
        try content.encode(high, to: "high.mp4")
        try content.encode(low, to: "low.mp4")
        let sets = try ["high", "low"].map { name in
            let manifest = bandwidths(try content.package(["\(name).mp4"], ["--segment_duration", "1"]))
            let parts = manifest.components(separatedBy: "<Representation")
            let representation = parts[1].components(separatedBy: "</Representation>")[0]
            let named = representation.replacing(/id="\d+"/, with: "id=\"\(name)\"", maxReplacements: 1)
            return (head: parts[0], text: "<Representation" + named + "</Representation>")
        }
        return sets[0].head + sets[1].text + sets[0].text + "</AdaptationSet></Period></MPD>"
    }

    /// The frame of another rate that is played at the same time.
    private func frame(_ frame: Int, of one: Track, in other: Track) -> Int {
        Int((Double(frame) * Double(other.format.sampleRate) / Double(one.format.sampleRate)).rounded())
    }

    @Test("Representations with other rates follow the line, too: the format is announced, and the time goes on")
    func otherRates() throws {
        let high = try Track("high", frames: 960_000, rate: 16_000, in: content.folder)
        let low = try Track("low", frames: 661_500, rate: 11_025, in: content.folder)
        let manifest = try ofTwoRates(high, low)
        serve(fastFrom: 12)
        let decoder = try content.open(manifest)
        let played = try decoder.decodeRest()
        #expect(played.formats == [low.format, high.format] && decoder.damage.isEmpty)
        try #require(played.changes.map { $0.bitRate } == [100_000, 1_000_000])
        let (down, up) = (played.changes[0].frame, played.changes[1].frame)
        let begin = frame(down, of: high, in: low)
        let end = begin + up - down
        let isEqual =
            played.samples
            == high.samples(0..<down) + low.samples(begin..<end) + high.samples(from: frame(end, of: low, in: high))
        #expect(isEqual, "\(played.samples.count) samples, changed at \(down) and \(up)")
        #expect(decoder.properties.format == high.format && decoder.properties.frameCount == 960_000)
        for place in [800_000, 0, 200_000] {
            try decoder.seek(toFrame: Int64(place))
            let again = try decoder.decodeRest(frames: 30_000)
            let isThere = again.samples == high.samples(place..<place + 30_000)
            #expect(isThere && again.formats.isEmpty, "\(place)")
        }
    }

    @Test("A seek counts in frames of the first representation, whichever is the present one")
    func seekInOtherRate() throws {
        let high = try Track("high", frames: 960_000, rate: 16_000, in: content.folder)
        let low = try Track("low", frames: 661_500, rate: 11_025, in: content.folder)
        let manifest = try ofTwoRates(high, low)
        content.serve { _ in 300_000 }
        let decoder = try content.open(manifest)
        let played = try decoder.decodeRest()
        #expect(played.formats == [low.format])
        for place in [800_001, 0, 200_003] {
            try decoder.seek(toFrame: Int64(place))
            let again = try decoder.decodeRest(frames: 30_000)
            let target = frame(place, of: high, in: low)
            let isThere = again.samples == low.samples(target..<target + 30_000)
            #expect(isThere && again.formats.isEmpty, "\(place)")
        }
    }

    @Test("A representation with another channel count follows, too")
    func otherChannels() throws {
        let high = try Track("high", frames: 480_000, in: content.folder)
        let low = try Track("low", frames: 480_000, channels: 1, in: content.folder)
        let manifest = try ofTwoRates(high, low)
        content.serve { _ in 300_000 }
        let played = try content.open(manifest).decodeRest()
        #expect(played.formats == [low.format])
        let boundary = try #require(played.changes.first?.frame)
        let isEqual = played.samples == high.samples(0..<boundary) + low.samples(from: boundary)
        #expect(isEqual)
    }

    @Test("A new session begins with another representation of another rate, and goes on where the first one was")
    func restartInOtherRate() throws {
        let high = try Track("high", frames: 480_000, rate: 16_000, in: content.folder)
        let low = try Track("low", frames: 330_750, rate: 11_025, in: content.folder)
        let manifest = try ofTwoRates(high, low)
        content.serve { _ in 300_000 }
        let decoder = try content.open(manifest)
        let before = try decoder.decodeRest(frames: 1000)
        #expect(before.samples == high.samples(0..<1000))
        // The next segment is refused once.
        let answer = content.service.content
        let isRefused = Locked(false)
        content.service.content = { count, transfer in
            guard !isRefused.value, transfer.request.url.hasSuffix("low/20.m4s") else { return answer(count, transfer) }
            isRefused.set(true)
            transfer.answer(403)
        }
        let rest = try decoder.decodeRest()
        #expect(isRefused.value && content.service.playbackinfoRequests.count == 2)
        #expect(rest.formats == [low.format])
        let tail = low.samples(from: 200_000)
        let isWhole = Array(rest.samples.suffix(tail.count)) == tail
        #expect(isWhole)
        try decoder.seek(toFrame: 240_000)
        let again = try decoder.decodeRest(frames: 5000).samples == low.samples(165_375..<170_375)
        #expect(again && decoder.properties.format == high.format && decoder.properties.frameCount == 480_000)
    }

    /// Plays until the second representation is heard.
    /// - Returns: the player, and the number of frames that were heard.
    private func heardPastChange(
        _ manifest: String, from high: Track, to low: Track
    ) throws -> (fixture: PlayerFixture, heard: Int) {
        let fixture = try PlayerFixture(source: content.source(manifest))
        try fixture.play(PackagedContent.product)
        #expect(fixture.engine.playbackContext?.audioSampleRate == high.format.sampleRate)
        let step = high.format.sampleRate / 20
        var heard = 0
        func hear() throws {
            try fixture.hear(step)
            heard += step
        }
        while fixture.card.recordings.count < 2, heard < high.frames { try hear() }
        try hear()
        try fixture.log.wait("the new rate") { $0.contains { $0.line == "quality \(low.format.sampleRate)/16" } }
        return (fixture, heard)
    }

    @Test("Another rate is heard: the device plays what it has and is opened again, and the position continues")
    func drained() throws {
        let high = try Track("high", frames: 960_000, rate: 96_000, in: content.folder)
        let low = try Track("low", frames: 441_000, rate: 44_100, in: content.folder)
        let manifest = try ofTwoRates(high, low)
        content.serve { _ in 300_000 }
        let (fixture, heard) = try heardPastChange(manifest, from: high, to: low)
        let recordings = fixture.card.recordings
        try #require(recordings.map { $0.configuration.sampleRate } == [96_000, 44_100])
        let boundary = recordings[0].frames
        let position = Double(boundary) / 96_000 + Double(heard - boundary) / 44_100
        try fixture.spin("the position") {
            fixture.engine.assetPosition.map { abs($0 - position) < 1e-6 } ?? false
        }
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        let isFirst = fixture.card.recordings[0].samples == high.samples(0..<boundary)
        let isSecond = fixture.card.recordings[1].samples == low.samples(from: frame(boundary, of: high, in: low))
        #expect(isFirst && isSecond, "\(boundary) and \(fixture.card.recordings[1].frames) frames")
        #expect(!fixture.messages.contains { $0.hasPrefix("error") })
    }

    @Test("A rate that the device does not have: that representation is not used, and the present one is heard whole")
    func rateThatTheDeviceLacks() throws {
        let high = try Track("high", frames: 441_000, rate: 44_100, in: content.folder)
        let low = try Track("low", frames: 110_250, rate: 11_025, in: content.folder)
        let manifest = try ofTwoRates(high, low)
        // Slow after the ring is full: the device is open when the other representation would follow.
        content.serve { $0 < 8 ? 50_000_000 : 300_000 }
        let fixture = try PlayerFixture(source: content.source(manifest))
        fixture.card.support([.s16], rates: [44_100, 48_000])
        try fixture.play(PackagedContent.product)
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        let isWhole = fixture.card.recordings.map { $0.samples } == [high.samples]
        #expect(isWhole && !fixture.messages.contains { $0.hasPrefix("error") || $0.hasPrefix("quality") })
        // It was tried once.
        #expect(content.fetched.filter { $0.hasSuffix("low/init.mp4") }.count == 1)
        // The next one does not begin with it, although the line has carried no more.
        fixture.engine.load(PackagedContent.product)
        fixture.engine.play()
        try fixture.log.wait("the end") { $0.count { $0 == .playbackStateChanged(.idle) } == 2 }
        let isAgain = fixture.card.recordings.map { $0.samples } == [high.samples, high.samples]
        #expect(isAgain && !fixture.messages.contains { $0.hasPrefix("error") || $0.hasPrefix("quality") })
    }

    @Test("A seek in a representation of another rate is heard at that rate, and the context has it")
    func contextAfterSeek() throws {
        let high = try Track("high", frames: 480_000, rate: 16_000, in: content.folder)
        let low = try Track("low", frames: 330_750, rate: 11_025, in: content.folder)
        let manifest = try ofTwoRates(high, low)
        content.serve { _ in 300_000 }
        let (fixture, _) = try heardPastChange(manifest, from: high, to: low)
        fixture.engine.seek(20)
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        let messages = fixture.messages
        #expect(!messages.contains("quality 16000/16") && !messages.contains { $0.hasPrefix("error") })
        let last = try #require(fixture.card.recordings.last)
        let tail = low.samples(from: 220_500)
        let isThere = Array(last.samples.suffix(tail.count)) == tail
        #expect(isThere && last.configuration.sampleRate == 11_025)
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
        serve(fastFrom: 14)
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
        let manifest = bandwidths(try content.package(["low.mp4", "high.mp4"], ["--segment_duration", "1"]))
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
