import Foundation
import Platform
import TestSupport
import Testing

@testable import Manifests

@Suite("MPEG-DASH")
struct DASHTests {
    static func manifest(_ text: String, url: String = "https://h/a/b.mpd") throws(ManifestError) -> Manifest {
        try Manifest(Array(text.utf8), format: .dash, url: url)
    }

    /// A manifest with one representation of sound.
    static func one(
        mpd: String = "type=\"static\" mediaPresentationDuration=\"PT10S\"", period: String = "", set: String = "",
        representation: String
    ) -> String {
        """
        <?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" xmlns:cenc="urn:mpeg:cenc:2013" \(mpd)>
        <Period>\(period)<AdaptationSet contentType="audio" mimeType="audio/mp4">\(set)
        <Representation id="r" bandwidth="1000" codecs="flac">\(representation)</Representation>
        </AdaptationSet></Period></MPD>
        """
    }

    static func first(_ manifest: Manifest) throws -> Representation {
        try #require(manifest.periods.first?.adaptationSets.first?.representations.first)
    }

    static func template(_ text: String) throws -> SegmentTemplate {
        guard case .template(let template) = try first(try manifest(text)).segments else {
            throw Unexpected("no template")
        }
        return template
    }

    @Test("Numbers beyond 2^53: times since 1970 in units of 100 ns, with an offset or without, and as numbers")
    func largeNumbers() throws {
        func template(_ attributes: String, _ entries: String) throws -> SegmentTemplate {
            try Self.template(
                Self.one(
                    representation: "<SegmentTemplate timescale=\"10000000\" media=\"$Number$-$Time$\" \(attributes)>"
                        + "<SegmentTimeline>\(entries)</SegmentTimeline></SegmentTemplate>"))
        }
        let times = "<S t=\"17950000000000001\" d=\"40000000\" r=\"1\"/>"
        let offset = try template(
            "presentationTimeOffset=\"17949999990000001\" startNumber=\"18014398509481985\"", times)
        let index = offset.timeline().firstIndex
        let first = try #require(offset.segment(index))
        #expect(first.resource.url.hasSuffix("/18014398509481985-17950000000000001") && first.start == 1)
        #expect(offset.segment(index + 1)?.start == 5)
        #expect(offset.timeline().runs == [.init(start: 1, duration: 4, count: 2)])
        #expect(try template("", times).segment(2)?.start == 1_795_000_004.0000001)
        // The first number that would not be safe to add.
        for large in ["1152921504606846977", "9223372036854775807", "99999999999999999999"] {
            #expect(throws: ManifestError.self) { try template("", "<S t=\"\(large)\" d=\"1\"/>") }
            #expect(throws: ManifestError.self) { try template("presentationTimeOffset=\"\(large)\"", times) }
        }
    }

    @Test(
        "Every address of a manifest is taken without white space and line breaks around and in it",
        arguments: ["\n\t  %@\n ", "%@", "\r\n%@"])
    func addressesWithBreaks(frame: String) throws {
        func framed(_ address: String) -> String {
            frame.replacingOccurrences(of: "%@", with: address)
        }
        let manifest = try Self.manifest(
            Self.one(
                set: "<BaseURL>\(framed("https://c/x/\n"))</BaseURL>"
                    + "<ContentProtection schemeIdUri=\"urn:uuid:e2719d58-a985-b3c9-781a-b030af78d30e\">"
                    + "<Laurl>\(framed("https://l/key\n?id=1"))</Laurl></ContentProtection>"
                    + "<ContentProtection schemeIdUri=\"urn:x\"><Laurl> \n</Laurl></ContentProtection>",
                representation: "<SegmentTemplate media=\"$Number$\" duration=\"2\"/>"))
        let representation = try Self.first(manifest)
        #expect(representation.contentProtections.map { $0.keyURI } == ["https://l/key?id=1", nil])
        guard case .template(let template) = representation.segments else { throw Unexpected("none") }
        #expect(template.segment(1)?.resource.url == "https://c/x/1")
    }

    @Test("The service's manifest: a template with a timeline and absolute URLs")
    func service() throws {
        let text = """
            <?xml version='1.0' encoding='UTF-8'?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"
             xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:cenc="urn:mpeg:cenc:2013"
             profiles="urn:mpeg:dash:profile:isoff-main:2011" type="static" minBufferTime="PT3.993S"
             mediaPresentationDuration="PT3M50.861S"><Period id="0">
            <AdaptationSet id="0" group="main" contentType="audio" mimeType="audio/mp4" lang="und"
             segmentAlignment="true">
            <ContentProtection schemeIdUri="urn:mpeg:dash:mp4protection:2011" value="cbcs"
             cenc:default_KID="00112233-4455-6677-8899-AABBCCDDEEFF"/>
            <ContentProtection schemeIdUri="urn:uuid:EDEF8BA9-79D6-4ACE-A3C8-27DCD51D21ED"><cenc:pssh>AAEC
            </cenc:pssh></ContentProtection>
            <Representation id="FLAC_HIRES,96000,24" codecs="flac" bandwidth="1000000">
            <AudioChannelConfiguration schemeIdUri="x" value="2"/>
            <SegmentTemplate timescale="44100" initialization="https://c/mediatracks/x/0.mp4?token=1~a"
             media="https://c/mediatracks/x/$Number$.mp4?token=1~a" startNumber="1"><SegmentTimeline>
            <S d="176128" r="56"/><S d="141690"/></SegmentTimeline></SegmentTemplate></Representation>
            </AdaptationSet></Period></MPD>
            """
        let manifest = try Self.manifest(text, url: "data:application/dash+xml;base64,AAAA")
        #expect(!manifest.isLive && manifest.duration == 230.861 && manifest.periods.count == 1)
        let set = try #require(manifest.periods[0].adaptationSets.first)
        #expect(set.language == "und" && manifest.periods[0].duration == 230.861)
        let representation = try Self.first(manifest)
        #expect(representation.id == "FLAC_HIRES,96000,24" && representation.codecs == ["flac"])
        #expect(
            representation.sampleRate == 96_000 && representation.bitDepth == 24 && representation.channelCount == 2)
        #expect(representation.bandwidth == 1_000_000 && representation.mimeType == "audio/mp4")
        let protections = representation.contentProtections
        #expect(
            protections.map(\.scheme) == [
                "urn:mpeg:dash:mp4protection:2011", "urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed",
            ])
        #expect(protections.first?.value == "cbcs" && protections.first?.defaultKeyID?.count == 16)
        #expect(protections.last?.initializationData == [0, 1, 2])
        let template = try Self.template(text)
        #expect(template.initialization?.url == "https://c/mediatracks/x/0.mp4?token=1~a")
        #expect(template.segment(0) == nil && template.segment(59) == nil)
        #expect(template.segment(1)?.resource.url == "https://c/mediatracks/x/1.mp4?token=1~a")
        #expect(template.segment(58)?.resource.url == "https://c/mediatracks/x/58.mp4?token=1~a")
        let timeline = template.timeline()
        #expect(timeline.firstIndex == 1 && timeline.count == 58 && timeline.isComplete)
        #expect(abs((timeline.duration ?? 0) - 230.861) < 0.001)
        #expect(timeline.index(at: 4) == 2 && timeline.index(at: 0) == 1 && timeline.index(at: 1000) == 58)
    }

    @Test(
        "Templates: numbers, times, widths, and dollars",
        arguments: [
            ("$Number$", "7"), ("$Number%05d$", "00007"), ("$Time$", "1234"), ("$Time%02d$.m4s", "1234.m4s"),
            ("$RepresentationID$/$Bandwidth$/$Number%01d$", "r/1000/7"), ("a$$b", "a$b"), ("$Bandwidth%06d$", "001000"),
            ("plain", "plain"), ("$Number", nil), ("$Unknown$", nil), ("$Number%5d$", nil), ("$Number%0d$", nil),
            ("$Number%099d$", nil), ("$Number%05x$", nil), ("$number$", nil),
        ] as [(String, String?)])
    func templates(text: String, expected: String?) {
        let template = URLTemplate(text, representation: "r", bandwidth: 1000)
        #expect(template?.text(number: 7, time: 1234) == expected)
    }

    @Test("A constant duration gives as many segments as fill the period")
    func constantDuration() throws {
        let cases: [(String, String, Int, Double?)] = [
            ("PT10S", "timescale=\"1000\" duration=\"2000\"", 5, 10), ("PT10S", "duration=\"3\"", 4, 12),
            ("PT10S", "timescale=\"44100\" duration=\"176128\" startNumber=\"0\"", 3, 11.98),
            ("PT10.0001S", "duration=\"2\"", 5, 10), ("PT0.5S", "duration=\"2\"", 1, 2),
        ]
        for (length, attributes, count, duration) in cases {
            let template = try Self.template(
                Self.one(
                    mpd: "mediaPresentationDuration=\"\(length)\"",
                    representation: "<SegmentTemplate \(attributes) media=\"$Number$\" initialization=\"i\"/>"))
            let timeline = template.timeline()
            #expect(timeline.count == count && timeline.isComplete)
            #expect(abs((timeline.duration ?? 0) - (duration ?? 0)) < 0.01)
            #expect(template.segment(timeline.firstIndex + count) == nil)
            #expect(template.segment(timeline.firstIndex + count - 1) != nil)
        }
    }

    @Test("Timelines: starts, repetitions to the next entry and to the end, gaps, offsets")
    func timelines() throws {
        let cases: [(String, [Double], String)] = [
            ("<S d=\"2\"/><S d=\"3\"/>", [0, 2], "2"), ("<S t=\"4\" d=\"2\" r=\"2\"/>", [4, 6, 8], "8"),
            ("<S d=\"2\" r=\"-1\"/>", [0, 2, 4, 6, 8], "8"), ("<S d=\"3\" r=\"-1\"/>", [0, 3, 6, 9], "9"),
            ("<S d=\"2\" r=\"-1\"/><S t=\"6\" d=\"4\"/>", [0, 2, 4, 6], "6"),
            ("<S d=\"2\"/><S t=\"5\" d=\"2\"/>", [0, 5], "5"),
        ]
        for (entries, starts, lastTime) in cases {
            let template = try Self.template(
                Self.one(
                    representation: """
                        <SegmentTemplate media="$Time$" startNumber="10">
                        <SegmentTimeline>\(entries)</SegmentTimeline></SegmentTemplate>
                        """))
            let timeline = template.timeline()
            #expect(timeline.count == starts.count)
            #expect(starts.indices.map { timeline.start(of: 10 + $0) } == starts)
            #expect(template.segment(9 + starts.count)?.resource.url == "https://h/a/\(lastTime)")
        }
        let shifted = try Self.template(
            Self.one(
                representation: """
                    <SegmentTemplate media="$Time$" timescale="10" presentationTimeOffset="500">
                    <SegmentTimeline><S t="500" d="20" r="3"/></SegmentTimeline></SegmentTemplate>
                    """))
        #expect(shifted.segment(1)?.start == 0 && shifted.segment(4)?.start == 6)
        #expect(shifted.segment(4)?.resource.url == "https://h/a/560")
    }

    @Test("Base URLs of all levels, and attributes that inner levels override")
    func inheritance() throws {
        let text = """
            <MPD mediaPresentationDuration="PT4S"><BaseURL>sub/</BaseURL><BaseURL>http://other/</BaseURL>
            <Period><BaseURL>p/</BaseURL><SegmentTemplate duration="2" timescale="1" media="no" startNumber="3"/>
            <AdaptationSet contentType="audio" mimeType="audio/mp4"><BaseURL>../as/</BaseURL>
            <SegmentTemplate media="$RepresentationID$-$Number$.m4s"/>
            <Representation id="x"><BaseURL>r/</BaseURL></Representation>
            <Representation id="y"><BaseURL>https://cdn/y/</BaseURL><SegmentTemplate startNumber="8" duration="4"/>
            </Representation></AdaptationSet></Period></MPD>
            """
        let set = try #require(try Self.manifest(text).periods.first?.adaptationSets.first)
        let urls = set.representations.map { representation -> [String] in
            guard case .template(let template) = representation.segments else { return [] }
            let first = template.timeline().firstIndex
            return (0..<template.timeline().count).compactMap { template.segment(first + $0)?.resource.url }
        }
        #expect(
            urls == [
                ["https://h/a/sub/as/r/x-3.m4s", "https://h/a/sub/as/r/x-4.m4s"], ["https://cdn/y/y-8.m4s"],
            ])
    }

    @Test("Lists of segments")
    func lists() throws {
        let text = Self.one(
            representation: """
                <SegmentList timescale="10" duration="20"><Initialization sourceURL="i.mp4" range="0-99"/>
                <SegmentURL media="1.m4s"/><SegmentURL media="2.m4s" mediaRange="5-9"/><SegmentURL mediaRange="0-0"/>
                </SegmentList>
                """)
        guard case .list(let list) = try Self.first(try Self.manifest(text)).segments else {
            Issue.record("no list")
            return
        }
        #expect(list.segments.map(\.resource.url) == ["https://h/a/1.m4s", "https://h/a/2.m4s", "https://h/a/b.mpd"])
        #expect(list.segments.map(\.resource.range) == [nil, 5..<10, 0..<1])
        #expect(list.segments.map(\.start) == [0, 2, 4])
        #expect(list.segments[0].initialization == ResourceReference(url: "https://h/a/i.mp4", range: 0..<100))
        #expect(list.firstIndex == 1 && list.segment(4) == nil && list.segment(0) == nil)
        #expect(list.segment(2)?.resource.range == 5..<10)
    }

    @Test("Periods: starts, durations, and what is between")
    func periods() throws {
        func period(_ attributes: String, _ type: String = "audio") -> String {
            "<Period \(attributes)><AdaptationSet contentType=\"\(type)\"><Representation id=\"a\"/></AdaptationSet>"
                + "</Period>"
        }
        let manifest = try Self.manifest(
            "<MPD mediaPresentationDuration=\"PT1M\">" + period("id=\"1\" duration=\"PT10S\"") + period("")
                + period("start=\"PT30S\"", "video") + period("start=\"PT40S\" id=\"4\"") + "</MPD>")
        #expect(manifest.periods.map(\.start) == [0, 10, 30, 40])
        #expect(manifest.periods.map(\.duration) == [10, 20, 10, 20])
        #expect(manifest.periods.map { $0.adaptationSets.count } == [1, 1, 0, 1])
        #expect(throws: ManifestError.malformed(what: "DASH, line 1: a period of which the start is not known")) {
            try Self.manifest("<MPD>" + period("") + period("") + "</MPD>")
        }
    }

    @Test("Live: availability, what is gone, what is not there yet, and where it is loaded again")
    func live() throws {
        let text = Self.one(
            mpd: """
                type="dynamic" availabilityStartTime="2026-11-22T06:00:00Z" minimumUpdatePeriod="PT5S"
                timeShiftBufferDepth="PT20S" suggestedPresentationDelay="PT8S"
                """, representation: "<SegmentTemplate media=\"$Number$\" duration=\"2\" startNumber=\"100\"/>")
        let live = try #require(try Self.manifest(text).live)
        let start = 1_795_327_200.0
        #expect(live.availabilityStart == start && live.updatePeriod == 5 && live.timeShift == 20)
        #expect(live.suggestedDelay == 8 && live.location == nil)
        let template = try Self.template(text)
        let none = template.timeline(now: start + 1)
        #expect(none.count == 0 && !none.isComplete)
        let first = template.timeline(now: start + 2)
        #expect(first.firstIndex == 100 && first.count == 1)
        let later = template.timeline(now: start + 3601)
        #expect(later.start(of: later.firstIndex) == Double(later.firstIndex - 100) * 2)
        #expect(later.firstIndex + later.count == 100 + 1800)
        #expect(10...12 ~= later.count && !later.isComplete)
        #expect(template.segment(5000)?.resource.url == "https://h/a/5000")
        // With a list, the list determines them.
        let listed = try Self.template(
            Self.one(
                mpd: "type=\"dynamic\" availabilityStartTime=\"2026-11-22T06:00:00+01:30\"",
                representation: """
                    <SegmentTemplate media="$Time$"><SegmentTimeline><S t="50" d="2" r="3"/></SegmentTimeline>
                    </SegmentTemplate>
                    """))
        #expect(listed.timeline().count == 4 && !listed.timeline().isComplete)
    }

    @Test("One file, with and without an index")
    func files() throws {
        let plain = try Self.first(try Self.manifest(Self.one(representation: "<BaseURL>x.mp4</BaseURL>")))
        #expect(plain.segments == .file(IndexedFile(url: "https://h/a/x.mp4")))
        let indexed = try Self.first(
            try Self.manifest(
                Self.one(
                    representation: """
                        <BaseURL>x.mp4</BaseURL><SegmentBase indexRange="779-870"><Initialization range="0-778"/>
                        </SegmentBase>
                        """)))
        #expect(
            indexed.segments
                == .file(IndexedFile(url: "https://h/a/x.mp4", initialization: 0..<779, index: 779..<871)))
    }

    @Test("Sound is found by type, by content, and by codec; pictures are left out")
    func sound() throws {
        func set(_ attributes: String, _ representation: String, _ inside: String = "") -> String {
            "<AdaptationSet \(attributes)>\(inside)<Representation id=\"a\" \(representation)/></AdaptationSet>"
        }
        let cases = [
            (set("mimeType=\"audio/mp4\"", ""), 1), (set("", "mimeType=\"audio/mp4\""), 1),
            (set("contentType=\"audio\"", ""), 1),
            (set("contentType=\"video\"", "mimeType=\"video/mp4\" codecs=\"avc1.4D401E\""), 0),
            (set("mimeType=\"video/mp4\"", "codecs=\"avc1.4D401E, mp4a.40.2\""), 1),
            (set("", "", "<ContentComponent contentType=\"audio\"/>"), 1), (set("mimeType=\"text/vtt\"", ""), 0),
        ]
        for (text, count) in cases {
            let document = "<MPD><Period>" + text + set("contentType=\"audio\"", "") + "</Period></MPD>"
            #expect(try Self.manifest(document).periods[0].adaptationSets.count == count + 1)
        }
        #expect(throws: ManifestError.unsupported(what: "DASH without sound")) {
            try Self.manifest("<MPD><Period>" + set("contentType=\"video\"", "") + "</Period></MPD>")
        }
    }

    @Test("Mistakes are named, with their line")
    func errors() {
        func template(_ attributes: String, _ inside: String = "") -> String {
            Self.one(representation: "\n<SegmentTemplate \(attributes)>\(inside)</SegmentTemplate>")
        }
        let cases: [(String, String)] = [
            ("", "DASH, line 1: no element found"), ("<MPD>", "DASH, line 1: no element found"),
            ("<html></html>", "DASH, line 1: html is not an MPD"),
            ("<MPD>\n<a></b></MPD>", "DASH, line 2: mismatched tag"),
            ("<!DOCTYPE x [<!ENTITY a \"b\">]><MPD/>", "DASH, line 1: a document type, which no manifest has"),
            (
                "\n<MPD mediaPresentationDuration=\"10\"/>",
                "DASH, line 2: mediaPresentationDuration is not a duration: 10"
            ),
            (template("duration=\"2\""), "DASH, line 3: SegmentTemplate without media"),
            (template("media=\"a\""), "DASH, line 3: segments without a duration"),
            (template("media=\"$x$\" duration=\"2\""), "DASH, line 3: a template with an unknown identifier: $x$"),
            (template("media=\"a\" duration=\"x\""), "DASH, line 4: duration is not a number: x"),
            (template("media=\"a\" timescale=\"0\" duration=\"1\""), "DASH, line 4: a timescale of 0"),
            (template("media=\"a\"", "<SegmentTimeline/>"), "DASH, line 4: SegmentTimeline without S"),
            (template("media=\"a\"", "<SegmentTimeline>\n<S/></SegmentTimeline>"), "DASH, line 5: S without d"),
            (
                template(
                    "media=\"a\"", "<SegmentTimeline><S d=\"9007199254740991\" r=\"4294967295\"/></SegmentTimeline>"),
                "DASH, line 4: a time that is too large"
            ),
            (
                template("media=\"a\"", "<SegmentTimeline><S d=\"1\" r=\"-1\"/><S d=\"1\"/></SegmentTimeline>"),
                "DASH, line 4: repetitions up to an entry without a time"
            ),
            (String(repeating: "<a>", count: 40), "DASH, line 1: elements lie deeper in each other than 32"),
            ("<MPD>" + String(repeating: "<a/>", count: 60_000) + "</MPD>", "DASH, line 1: more than 50,000 elements"),
        ]
        for (text, message) in cases {
            #expect(throws: ManifestError.malformed(what: message), "\(text.prefix(300))") { try Self.manifest(text) }
        }
    }

    @Test("Durations and moments of XML Schema")
    func values() {
        let durations: [(String, Double?)] = [
            ("PT1H2M3.5S", 3723.5), ("PT193.918S", 193.918), ("P1DT1S", 86_401), ("P1Y2M", 36_720_000), ("PT0S", 0),
            ("PT", nil), ("P", nil), ("", nil), ("-PT1S", nil), ("PT1", nil), ("P1H", nil), ("PT1.2.3S", nil),
            ("PT99999999999999S", nil),
            (" PT2S ", 2),
        ]
        for (text, seconds) in durations { #expect(XMLValue.duration(text) == seconds, "\(text)") }
        let moments: [(String, Double?)] = [
            ("1970-01-01T00:00:00Z", 0), ("2000-02-29T12:00:00.25Z", 951_825_600.25),
            ("2026-11-22T06:08:20", 1_795_327_700),
            ("2026-11-22T06:08:20+01:30", 1_795_322_300), ("2026-11-22T06:08:20-01:00", 1_795_331_300),
            ("1969-12-31T23:59:59Z", -1), ("2026-13-01T00:00:00Z", nil), ("2026-11-22", nil), ("x", nil),
            ("2026-11-22T06:08:20Zx", nil), ("2026-11-22T06:08:20.Z", nil), ("0001-01-01T00:00:00Z", -62_135_596_800),
        ]
        for (text, seconds) in moments { #expect(XMLValue.moment(text) == seconds, "\(text)") }
        #expect(
            XMLValue.byteRange("5-9") == 5..<10 && XMLValue.byteRange("9-5") == nil && XMLValue.byteRange("5-") == nil)
    }
}
