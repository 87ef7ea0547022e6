import Foundation
import Media
import PCM
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("Content in several parts, streamed and downloaded (docs/playback.md, 15.10 and 16.4)", StreamTool.needed)
struct PeriodTests: PeriodSuite {
    let recordings: TwoRecordings

    init() throws { recordings = try TwoRecordings() }

    /// The periods of a manifest of Shaka Packager, where a single period has no duration attribute.
    private func periods(_ manifest: String) -> [String] {
        let whole = manifest.firstMatch(of: /mediaPresentationDuration="([^"]*)"/).map { String($0.1) } ?? ""
        return manifest.components(separatedBy: "<Period").dropFirst().map {
            let period = $0.components(separatedBy: "</Period>")[0]
            let hasDuration = period.prefix { $0 != ">" }.contains("duration=")
            return "<Period" + (hasDuration ? "" : " duration=\"\(whole)\"") + period + "</Period>"
        }
    }

    private func manifest(_ periods: [String]) -> String {
        "<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" type=\"static\">" + periods.joined() + "</MPD>"
    }

    /// The first recording and another one, in segments, one after the other.
    private func bothParts(_ other: Track, _ name: String) throws -> String {
        try content.encode(one, to: "one.mp4")
        try content.encode(other, to: "\(name).mp4")
        return manifest(
            try ["one", name].flatMap { try periods(content.package(["\($0).mp4"], ["--segment_duration", "0.5"])) })
    }

    private let cues = ["--segment_duration", "0.5", "--ad_cues", "2;4"]

    @Test("Periods that only divide one recording are played as one")
    func divided() throws {
        try content.encode(one, to: "one.mp4")
        let manifest = try content.package(["one.mp4"], cues)
        #expect(periods(manifest).count == 3)
        try expect(manifest, plays: one.samples)
        #expect(content.fetched.prefix(20).filter { $0.hasSuffix("init.mp4") }.count == 1)
    }

    @Test("The same with AAC, which decodes every packet with the help of the one before")
    func dividedAAC() throws {
        try content.encode(one, to: "one.mp4", ["-c:a", "aac", "-aac_pns", "0", "-b:a", "64k"])
        let whole = try content.open(try content.package(["one.mp4"], ["--segment_duration", "0.5"])).decodeRest()
        let manifest = try content.package(["one.mp4"], cues)
        #expect(periods(manifest).count == 3)
        let streamed = try content.open(manifest).decodeRest().samples == whole.samples
        #expect(streamed)
        let kept = try keep(manifest).open(7).decodeRest().samples == whole.samples
        #expect(kept)
    }

    @Test("Recordings with their own initialization follow each other without a gap, also one inside another")
    func inserted() throws {
        try content.encode(one, to: "one.mp4")
        try content.encode(two, to: "two.mp4")
        let divided = periods(try content.package(["one.mp4"], cues))
        let other = periods(try content.package(["two.mp4"], ["--segment_duration", "0.7"]))
        try expect(manifest(other + other), plays: two.samples + two.samples)
        // The end of the first period, in frames: the second period contains it.
        let offset = try #require(divided[1].firstMatch(of: /presentationTimeOffset="(\d+)"/).flatMap { Int($0.1) })
        try expect(
            manifest([divided[0], other[0], divided[1], divided[2]]),
            plays: one.samples(0..<offset) + two.samples + one.samples(from: offset))
    }

    @Test("Periods that take parts of one file")
    func clips() throws {
        try content.encode(one, to: "one.mp4")
        try content.encode(two, to: "two.mp4")
        func file(_ name: String, _ options: [String]) throws -> [String] {
            try StreamTool.run(
                StreamTool.packager,
                ["in=\(name).mp4,stream=audio,output=\(name)-whole.mp4", "--mpd_output", "\(name).mpd"] + options,
                in: content.folder.path)
            return periods(try content.text("\(name).mpd"))
        }
        let divided = try file("one", cues)
        let other = try file("two", ["--segment_duration", "0.7"])
        try expect(manifest(divided), plays: one.samples)
        let offset = try #require(divided[1].firstMatch(of: /presentationTimeOffset="(\d+)"/).flatMap { Int($0.1) })
        try expect(
            manifest([divided[0], other[0], divided[1], divided[2]]),
            plays: one.samples(0..<offset) + two.samples + one.samples(from: offset))
    }

    /// A period with some of the segments of the first recording, and the played range of its media, in frames.
    private func period(_ segments: [(start: Int, length: Int)], _ range: Range<Int>, of media: Range<Int>) -> String {
        let entries = segments[range].map { "<S t=\"\($0.start)\" d=\"\($0.length)\"/>" }.joined()
        return """
            <Period duration="PT\(Double(media.count) / 16_000)S"><AdaptationSet contentType="audio">
            <SegmentTemplate timescale="16000" presentationTimeOffset="\(media.lowerBound)"
            startNumber="\(range.lowerBound + 1)" media="one/$Number$.m4s" initialization="one/init.mp4">
            <SegmentTimeline>\(entries)</SegmentTimeline></SegmentTemplate>
            <Representation id="r" bandwidth="300000" codecs="flac"/></AdaptationSet></Period>
            """
    }

    @Test("Periods that meet inside a segment, which both of them list: it is heard once")
    func sharedSegment() throws {
        try content.encode(one, to: "one.mp4")
        let packaged = try content.package(["one.mp4"], ["--segment_duration", "0.5"])
        var segments: [(start: Int, length: Int)] = []
        for match in packaged.matches(of: /<S t="(\d+)" d="(\d+)"(?: r="(\d+)")?/) {
            let (start, length) = (try #require(Int(match.1)), try #require(Int(match.2)))
            for place in 0...(match.3.flatMap { Int($0) } ?? 0) { segments.append((start + place * length, length)) }
        }
        try #require(segments.count > 6)
        let middle = segments[2].start + segments[2].length / 2
        let late = segments[5].start + 100
        let count = segments.count
        try expect(
            manifest([
                period(segments, 0..<3, of: 0..<middle), period(segments, 2..<6, of: middle..<late),
                period(segments, 5..<count, of: late..<one.frames),
            ]), plays: one.samples)
        // A boundary between segments, with more of them in both periods than needed.
        let boundary = segments[3].start
        try expect(
            manifest([
                period(segments, 0..<4, of: 0..<boundary), period(segments, 1..<count, of: boundary..<one.frames),
            ]), plays: one.samples)
    }

    @Test("A file whose media does not begin at 0, with that offset")
    func offsetFile() throws {
        try content.encode(two, to: "two.mp4")
        try StreamTool.run(
            StreamTool.packager,
            ["in=two.mp4,stream=audio,output=two-whole.mp4", "--mpd_output", "two.mpd", "--segment_duration", "0.7"],
            in: content.folder.path)
        // 100 s later.
        let file = URL(fileURLWithPath: content.folder["two-whole.mp4"])
        var bytes = [UInt8](try Data(contentsOf: file))
        for (type, offset) in [("tfdt", 8), ("sidx", 16)] {
            let boxes = bytes.indices.dropLast(32).filter { bytes[$0..<($0 + 4)].elementsEqual(type.utf8) }
            try #require(!boxes.isEmpty)
            for box in boxes {
                // The lower half of the time.
                let place = box + offset + (bytes[box + 4] > 0 ? 4 : 0)
                let time = bytes[place..<(place + 4)].reduce(0) { $0 << 8 | UInt32($1) } + 1_600_000
                for byte in 0..<4 { bytes[place + byte] = UInt8(truncatingIfNeeded: time >> (24 - 8 * UInt32(byte))) }
            }
        }
        try Data(bytes).write(to: file)
        let period = try #require(periods(try content.text("two.mpd")).first)
        try #require(period.contains("timescale=\"16000\""))
        let later = period.replacing("<SegmentBase ", with: "<SegmentBase presentationTimeOffset=\"1600000\" ")
        try expect(manifest([later]), plays: two.samples)
        try expect(manifest([later, later]), plays: two.samples + two.samples)
        // Without its offset it is played from its beginning on.
        try expect(manifest([period, period]), plays: two.samples + two.samples)
    }

    @Test("A part with another rate is announced, in both directions")
    func otherRate() throws {
        let other = try Track("other", frames: 30_000, rate: 8000, in: content.folder)
        let both = try bothParts(other, "other")
        let decoder = try content.open(both)
        #expect(decoder.properties.frameCount == Int64(one.frames + 2 * other.frames))
        let played = try decoder.decodeRest()
        #expect(played.samples == one.samples + other.samples)
        #expect(played.formats == [other.format])
        try decoder.seek(toFrame: 90_000)
        let again = try decoder.decodeRest()
        #expect(again.samples == one.samples(from: 90_000) + other.samples)
        #expect(again.formats == [one.format, other.format])
        // In frames of the first rate.
        try decoder.seek(toFrame: Int64(one.frames) + 2000)
        #expect(try decoder.decodeRest().samples == other.samples(from: 1000))
        let kept = try keep(both).open(7).decodeRest()
        let isEqual = kept.samples == played.samples
        #expect(isEqual)
        #expect(kept.formats == played.formats)
    }

    @Test("A part with another rate is heard whole: the device plays what it has, and is opened again")
    func drained() throws {
        let other = try Track("other", frames: 30_000, rate: 8000, in: content.folder)
        let fixture = try PlayerFixture(source: content.source(try bothParts(other, "other")))
        fixture.card.playFreely()
        fixture.engine.load(PackagedContent.product)
        fixture.engine.play()
        try fixture.wait(for: .idle)
        let recordings = fixture.card.recordings
        try #require(recordings.count == 2)
        #expect(recordings.map { $0.configuration.sampleRate } == [16_000, 8000])
        let isFirst = recordings[0].samples == one.samples
        let isSecond = recordings[1].samples == other.samples
        #expect(isFirst && isSecond, "\(recordings[0].frames) and \(recordings[1].frames) frames")
        #expect(fixture.messages.filter { $0.hasPrefix("quality") } == ["quality 8000/16"])
        #expect(!fixture.messages.contains { $0.hasPrefix("error") })
    }

    @Test("The next part is fetched when the one before has arrived, not when it has ended")
    func fetchedAhead() throws {
        let both = try bothParts(two, "two")
        let decoder = try content.open(both)
        _ = try decoder.decodeRest(frames: 90_000)
        #expect(content.fetched.contains { $0.hasSuffix("two/1.m4s") })
        try decoder.seek(toFrame: 90_000)
        let rest = try decoder.decodeRest(frames: 10_003 + 100).samples
        #expect(rest == one.samples(from: 90_000) + two.samples(0..<100))
    }

    @Test("A download that is stopped in its second part goes on there after a restart")
    func continued() throws {
        let both = try bothParts(two, "two")
        _ = content.source(both)
        let answer = content.service.content
        let isStopped = Locked(false)
        content.service.content = { count, transfer in
            // Without an answer.
            if transfer.request.url.hasSuffix("two/4.m4s") { return isStopped.set(true) }
            answer(count, transfer)
        }
        let state: ScratchFolder
        do {
            let offline = try OfflineFixture(network: content.service.network)
            #expect(offline.engine.offline(OfflineFixture.product(7)))
            try offline.spin("the fourth segment") { isStopped.value }
            state = offline.folder
        }
        let before = content.fetched.count
        content.service.content = answer
        let again = try OfflineFixture(in: state, network: content.service.network)
        try again.wait(for: "done r7")
        let isEqual = try again.open(7).decodeRest().samples == one.samples + two.samples
        #expect(isEqual)
        let fetched = content.fetched.dropFirst(before)
        #expect(!fetched.contains { $0.contains("one/1.m4s") || $0.contains("one/init.mp4") })
        #expect(fetched.contains { $0.hasSuffix("two/4.m4s") })
    }

    @Test("A period without sound is refused with a reason")
    func silent() throws {
        try content.encode(two, to: "two.mp4")
        let sound = periods(try content.package(["two.mp4"], ["--segment_duration", "0.7"]))
        let silent = "<Period duration=\"PT1S\"></Period>"
        #expect { try content.open(manifest(sound + [silent])) } throws: { error in
            (error as? PlayerError)?.message.contains("without sound") ?? false
        }
    }
}
