import Foundation
import Media
import PCM
import PlayerTestSupport
import TestSupport
import Testing

@testable import Player
@testable import Fetching

@Suite("The bounds of a period clip segments (docs/playback.md, 15.10)", StreamTool.needed)
struct PeriodBoundsTests {
    private let content: PackagedContent
    private let one: Track
    private let two: Track
    private static let rate = 16_000

    init() throws {
        content = try PackagedContent()
        one = try Track("one", frames: 100_003, rate: Self.rate, in: content.folder)
        two = try Track("two", frames: 30_001, rate: Self.rate, in: content.folder)
    }

    private typealias Segment = (start: Int, length: Int)

    /// Packages a recording, and returns its segments in frames.
    private func segments(of name: String, _ track: Track, _ options: [String]? = nil) throws -> [Segment] {
        if let options {
            try content.encode(track, to: "\(name).mp4", options)
        } else {
            try content.encode(track, to: "\(name).mp4")
        }
        let manifest = try content.package(["\(name).mp4"], ["--segment_duration", "0.5"])
        try #require(manifest.contains("timescale=\"16000\""))
        var found: [Segment] = []
        for match in manifest.matches(of: /<S t="(\d+)" d="(\d+)"(?: r="(\d+)")?/) {
            let (start, length) = (try #require(Int(match.1)), try #require(Int(match.2)))
            for place in 0...(match.3.flatMap { Int($0) } ?? 0) { found.append((start + place * length, length)) }
        }
        try #require(found.count > 3)
        return found
    }

    /// How a manifest lists segments.
    enum Addressing: CaseIterable { case timeline, numbers, list }

    /// A period that lists some segments of a recording.
    private func period(
        _ name: String, _ segments: [Segment], _ range: Range<Int>, offset: Int, _ attributes: String = "",
        codec: String = "flac", as addressing: Addressing = .timeline
    ) -> String {
        let entries = segments[range].map { "<S t=\"\($0.start)\" d=\"\($0.length)\"/>" }.joined()
        let times = "timescale=\"16000\" presentationTimeOffset=\"\(offset)\" startNumber=\"\(range.lowerBound + 1)\""
        let template = "media=\"\(name)/$Number$.m4s\" initialization=\"\(name)/init.mp4\""
        let own =
            switch addressing {
            case .timeline:
                "<SegmentTemplate \(times) \(template)><SegmentTimeline>\(entries)</SegmentTimeline></SegmentTemplate>"
            case .numbers:
                "<SegmentTemplate \(times) \(template) duration=\"\(segments[range.lowerBound].length)\"/>"
            case .list:
                "<SegmentList \(times)><Initialization sourceURL=\"\(name)/init.mp4\"/>"
                    + "<SegmentTimeline>\(entries)</SegmentTimeline>"
                    + range.map { "<SegmentURL media=\"\(name)/\($0 + 1).m4s\"/>" }.joined() + "</SegmentList>"
            }
        return """
            <Period \(attributes)><AdaptationSet contentType="audio" mimeType="audio/mp4">\(own)
            <Representation id="r" bandwidth="300000" codecs="\(codec)"/></AdaptationSet></Period>
            """
    }

    private func seconds(_ frames: Int) -> String { "PT\(Double(frames) / Double(Self.rate))S" }

    private func manifest(_ periods: [String], _ attributes: String = "") -> String {
        "<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" type=\"static\" \(attributes)>\(periods.joined())</MPD>"
    }

    private func keep(_ manifest: String) throws -> OfflineFixture {
        _ = content.source(manifest)
        let offline = try OfflineFixture(network: content.service.network)
        do { try offline.keep(7) } catch { throw Unexpected("\(String(describing: offline.status(of: 7)))") }
        return offline
    }

    /// Plays the content of the manifest, streamed and offline, from the beginning and after seeks.
    private func expect(_ manifest: String, plays samples: [Int32], isExact: Bool = true, _ what: String = "") throws {
        try expect(try content.open(manifest), plays: samples, isExact, "streamed \(what)")
        let offline = try keep(manifest)
        try expect(try offline.open(7), plays: samples, isExact, "kept \(what)")
    }

    private func expect(
        _ decoder: any AudioDecoder, plays samples: [Int32], _ isExact: Bool, _ what: String
    ) throws {
        let frames = samples.count / 2
        if isExact { #expect(decoder.properties.frameCount == Int64(frames), "\(what)") }
        for place in [0, frames / 2, 0, frames - 1, 777] {
            try decoder.seek(toFrame: Int64(place))
            let played = try decoder.decodeRest().samples
            let isEqual = played.elementsEqual(samples[(place * 2)...])
            #expect(isEqual, "\(what): \(played.count / 2) frames from \(place) of \(frames)")
        }
        #expect(decoder.damage.isEmpty, "\(what)")
    }

    @Test("An offset inside the first segment leaves out what lies before it", arguments: Addressing.allCases)
    func offsetInside(addressing: Addressing) throws {
        let segments = try segments(of: "one", one)
        let all = segments.count
        // One frame, in the middle, in a later segment, one frame before the end of it.
        var places = [(0, 1), (2, segments[2].start + 301)]
        // Numbers alone name too few segments for these.
        if addressing != .numbers { places += [(0, 5000), (2, segments[3].start - 1)] }
        for (first, offset) in places {
            let own = period(
                "one", segments, first..<all, offset: offset, "duration=\"\(seconds(one.frames - offset))\"",
                as: addressing)
            try expect(
                manifest([own]), plays: one.samples(from: offset), isExact: addressing != .numbers, "\(offset)")
        }
    }

    @Test("A period that ends inside its last segment, alone", arguments: [Addressing.timeline, .list])
    func endInside(addressing: Addressing) throws {
        let segments = try segments(of: "one", one)
        let (offset, end) = (segments[1].start + 100, segments[3].start + 2001)
        for start in [segments[1].start, offset] {
            let own = period(
                "one", segments, 1..<4, offset: start, "duration=\"\(seconds(end - start))\"", as: addressing)
            try expect(manifest([own]), plays: one.samples(start..<end))
        }
        // More segments than the period needs, in front and at the end.
        let wide = period(
            "one", segments, 0..<segments.count, offset: offset, "duration=\"\(seconds(end - offset))\"",
            as: addressing)
        try expect(manifest([wide]), plays: one.samples(offset..<end))
    }

    @Test("Another recording between two periods that meet inside a segment", arguments: Addressing.allCases)
    func inserted(addressing: Addressing) throws {
        let first = try segments(of: "one", one)
        let other = try segments(of: "two", two)
        let middle = first[2].start + 1234
        let late = two.frames - 500
        try expect(
            manifest([
                period("one", first, 0..<3, offset: 0, "duration=\"\(seconds(middle))\"", as: addressing),
                period("two", other, 0..<other.count, offset: 321, "duration=\"\(seconds(late - 321))\""),
                period(
                    "one", first, 2..<first.count, offset: middle, "duration=\"\(seconds(one.frames - middle))\"",
                    as: addressing),
            ]),
            plays: one.samples(0..<middle) + two.samples(321..<late) + one.samples(from: middle),
            isExact: addressing != .numbers)
    }

    @Test("The start of the next period ends the one before, and the same stretch may come twice")
    func starts() throws {
        let segments = try segments(of: "one", one)
        let (start, end) = (segments[1].start + 10, segments[2].start + 2000)
        let length = Double(end - start) / Double(Self.rate)
        let periods = (0..<3).map { place in
            period(
                "one", segments, 1..<3, offset: start,
                "start=\"PT\(length * Double(place))S\"" + (place == 2 ? " duration=\"PT\(length)S\"" : ""))
        }
        let stretch = one.samples(start..<end)
        try expect(manifest(periods), plays: stretch + stretch + stretch)
    }

    @Test(
        "A rounded length of the presentation cuts nothing off, a clearly shorter one does",
        arguments: [("PT6.25S", nil), ("PT6.2S", nil), ("PT6S", nil), ("PT0H0M6.250S", nil), ("PT4.5S", 72_000)])
    func roundedPresentation(duration: String, frames: Int?) throws {
        let segments = try segments(of: "one", one)
        let own = period("one", segments, 0..<segments.count, offset: 0)
        let decoder = try content.open(manifest([own], "mediaPresentationDuration=\"\(duration)\""))
        let played = try decoder.decodeRest().samples
        let isEqual = played == one.samples(0..<(frames ?? one.frames))
        #expect(isEqual, "\(played.count / 2) frames")
    }

    @Test("AAC is clipped in the time of what is heard")
    func lossy() throws {
        let options = ["-c:a", "aac", "-aac_pns", "0", "-b:a", "64k"]
        let segments = try segments(of: "one", one, options)
        let all = segments.count
        let whole = try content.open(try content.text("out.mpd")).decodeRest().samples
        let origin = segments[0].start
        let (offset, end) = (segments[0].start + 3333, segments[3].start + 777)
        let own = period(
            "one", segments, 0..<all, offset: offset, "duration=\"\(seconds(end - offset))\"", codec: "mp4a.40.2")
        let expected = Array(whole[((offset - origin) * 2)..<((end - origin) * 2)])
        try expect(manifest([own]), plays: expected)
    }

    @Test("Representations that take turns are clipped together")
    func adaptive() throws {
        content.throughput.add(bytes: 1 << 20, nanoseconds: 8_388_608)
        try content.encode(one, to: "low.mp4", ["-c:a", "flac", "-strict", "-2", "-frame_size", "1152"])
        try content.encode(one, to: "high.mp4", ["-c:a", "flac", "-strict", "-2", "-frame_size", "2304"])
        let (offset, length) = (2001, 90_000)
        let packaged = try content.package(["low.mp4", "high.mp4"], ["--segment_duration", "0.5"])
        let parts = packaged.components(separatedBy: "<Representation").map { part in
            let value = part.contains("\"low/") ? "100000" : "1000000"
            guard part.contains("SegmentTemplate") else { return part }
            return part.replacing(/bandwidth="\d+"/, with: "bandwidth=\"\(value)\"")
        }
        let clipped = parts.joined(separator: "<Representation")
            .replacing("<SegmentTemplate ", with: "<SegmentTemplate presentationTimeOffset=\"\(offset)\" ")
            .replacing("<Period ", with: "<Period duration=\"\(seconds(length))\" ")
        content.serve { [clock = content.clock] count in
            if count == 7 { clock.advance(by: 5_000_000_000) }
            return count < 7 ? 300_000 : 50_000_000
        }
        let decoder = try content.open(clipped)
        #expect(decoder.properties.frameCount == Int64(length))
        let played = try decoder.decodeRest()
        let isEqual = played.samples == one.samples(offset..<(offset + length))
        #expect(isEqual, "\(played.samples.count / 2) frames")
        #expect(!played.changes.isEmpty && decoder.damage.isEmpty)
        try decoder.seek(toFrame: 50_000)
        let isThere = try decoder.decodeRest().samples == one.samples((offset + 50_000)..<(offset + length))
        #expect(isThere)
    }
}
