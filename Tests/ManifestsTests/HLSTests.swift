import Testing

@testable import Manifests

@Suite("HLS")
struct HLSTests {
    static let base = "https://h/a/b.m3u8"

    static func playlist(_ lines: String...) throws(ManifestError) -> MediaPlaylist {
        try MediaPlaylist(
            Array((["#EXTM3U", "#EXT-X-TARGETDURATION:4"] + lines).joined(separator: "\n").utf8), url: base)
    }

    static func manifest(_ text: String) throws(ManifestError) -> Manifest {
        try Manifest(Array(text.utf8), format: .hls, url: base)
    }

    @Test("The last segment of a playlist without an end may be cut off, if its line has no end")
    func openEnd() throws {
        func playlist(_ text: String) throws -> MediaPlaylist {
            try MediaPlaylist(Array(("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:1,\n1\n" + text).utf8), url: Self.base)
        }
        let cut = try playlist("#EXTINF:1,\n23")
        #expect(cut.openEnd == "https://h/a/23")
        #expect(cut.segments.segments.count == 2 && cut.certainSegments.segments.count == 1)
        for text in [
            "#EXTINF:1,\n23\n", "#EXTINF:1,\n23\r\n", "#EXTINF:1", "#EXTINF:1,\n23\n#EXT-X-ENDLIST", "#EXTINF:1,\n",
        ] {
            let whole = try playlist(text)
            #expect(whole.openEnd == nil && whole.certainSegments == whole.segments, "\(text)")
        }
        let ended = try playlist("#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:1,\n23")
        #expect(ended.openEnd == nil && ended.certainSegments.segments.count == 2)
        // The only one.
        let only = try Self.playlist("#EXTINF:1,", "1")
        #expect(only.openEnd == "https://h/a/1" && only.certainSegments.segments.count == 1)
    }

    @Test("A sequence number may be a time since 1970 in units of 100 ns")
    func largeSequence() throws {
        let playlist = try Self.playlist("#EXT-X-MEDIA-SEQUENCE:17950000000000001", "#EXTINF:1,", "1", "")
        #expect(playlist.segments.firstIndex == 17_950_000_000_000_001 % (1 << 30))
        #expect(throws: ManifestError.self) {
            try Self.playlist("#EXT-X-MEDIA-SEQUENCE:1152921504606846977", "#EXTINF:1,", "1")
        }
    }

    @Test(
        "Indices fit into 32 bits for all segments that follow; the vector has the whole number",
        arguments: [0, 7, 1_073_741_823, 1_073_741_824, 2_147_483_646, 2_147_483_647, 2_147_483_648, 1 << 60])
    func indices(number: Int64) throws {
        let list = try Self.playlist(
            "#EXT-X-MEDIA-SEQUENCE:\(number)", "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"", "#EXTINF:999999999,", "1",
            "#EXTINF:999999999,", "2", ""
        ).segments
        #expect(list.firstIndex >= 0 && Int64(list.firstIndex) % (1 << 30) == number % (1 << 30))
        #expect(list.firstIndex < 1 << 30)
        #expect(list.segment(list.firstIndex + 1)?.resource.url == "https://h/a/2")
        let vector = try #require(list.segments[1].protections.first?.initializationVector)
        #expect(vector.suffix(8).reduce(0) { $0 << 8 | UInt64($1) } == UInt64(number) + 1)
        #expect(list.timeline.index(at: 1e12) == list.firstIndex + 1)
    }

    @Test("Segments with durations, ranges, and what precedes them")
    func segments() throws {
        let playlist = try Self.playlist(
            "#EXT-X-VERSION:7", "#EXT-X-MEDIA-SEQUENCE:7", "# a comment", "",
            "#EXT-X-MAP:URI=\"i.mp4\",BYTERANGE=\"100@20\"",
            "#EXTINF:3.994,Title, with a comma", "1.mp4", "#EXTINF:4", "#EXT-X-BYTERANGE:50@1000", "all.mp4",
            "#EXTINF:2.5,\r",
            "#EXT-X-BYTERANGE:60", "all.mp4", "#EXT-X-UNKNOWN:x", "#EXT-X-MAP:URI=\"j.mp4\"", "#EXT-X-DISCONTINUITY",
            "#EXTINF:1,", "https://c/4.mp4?x=1", "#EXT-X-ENDLIST")
        let segments = playlist.segments.segments
        #expect(
            segments.map(\.resource.url) == [
                "https://h/a/1.mp4", "https://h/a/all.mp4", "https://h/a/all.mp4", "https://c/4.mp4?x=1",
            ])
        #expect(segments.map(\.resource.range) == [nil, 1000..<1050, 1050..<1110, nil])
        #expect(segments.map(\.start) == [0, 3.994, 7.994, 10.494] && segments.map(\.duration) == [3.994, 4, 2.5, 1])
        #expect(segments.map(\.isDiscontinuous) == [false, false, false, true])
        #expect(segments[0].initialization == ResourceReference(url: "https://h/a/i.mp4", range: 20..<120))
        #expect(segments[3].initialization == ResourceReference(url: "https://h/a/j.mp4"))
        #expect(playlist.segments.firstIndex == 7 && playlist.segments.isComplete && playlist.targetDuration == 4)
        #expect(playlist.segments.timeline.duration == 11.494 && playlist.segments.timeline.index(at: 5) == 8)
        #expect(playlist.segments.segment(10)?.duration == 1 && playlist.segments.segment(11) == nil)
    }

    @Test("The number of a discontinuity is known without the tags that have left the playlist")
    func discontinuitySequence() throws {
        let playlist = try Self.playlist(
            "#EXT-X-DISCONTINUITY-SEQUENCE:4", "#EXTINF:1,", "1", "#EXT-X-DISCONTINUITY", "#EXTINF:1,", "2",
            "#EXTINF:1,", "3", "#EXT-X-DISCONTINUITY", "#EXTINF:1,", "4")
        #expect(playlist.segments.segments.map(\.discontinuitySequence) == [4, 5, 5, 6])
        let first = try Self.playlist("#EXT-X-DISCONTINUITY-SEQUENCE:x", "#EXTINF:1,", "1")
        #expect(first.segments.segments.map(\.discontinuitySequence) == [0])
    }

    @Test("Gaps keep their places and numbers, and are in none of the lists that are played")
    func gaps() throws {
        let list = try Self.playlist(
            "#EXT-X-MEDIA-SEQUENCE:7", "#EXT-X-GAP", "#EXTINF:1,", "1", "#EXTINF:1,", "2", "#EXTINF:2,", "#EXT-X-GAP",
            "3", "#EXT-X-GAP", "#EXTINF:1,", "4", "#EXTINF:1,", "5", "#EXTINF:1,", "6", "#EXTINF:1,", "#EXT-X-GAP", "7",
            "#EXT-X-ENDLIST"
        ).segments
        #expect(list.segments.map(\.isGap) == [true, false, true, true, false, false, true])
        #expect(list.gaps == [0, 2, 3, 6])
        #expect(list.spans.map { $0.segments.map(\.start) } == [[1], [5, 6]])
        #expect(list.spans.map(\.firstIndex) == [8, 11] && list.spans.map(\.isComplete) == [true, true])
        #expect(list.spans[0].continued(by: list.spans[1]) == nil)
        let empty = try Self.playlist("#EXT-X-GAP", "#EXTINF:1,", "1", "#EXT-X-ENDLIST").segments
        #expect(empty.spans.isEmpty)
    }

    @Test("Keys: replaced by format, removed, and vectors from the sequence number")
    func keys() throws {
        let playlist = try Self.playlist(
            "#EXT-X-MEDIA-SEQUENCE:258", "#EXT-X-KEY:METHOD=AES-128,URI=\"k1\"", "#EXTINF:1,", "1",
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://KID\",KEYFORMAT=\"com.apple\",KEYFORMATVERSIONS=\"1\"",
            "#EXTINF:1,", "2", "#EXT-X-KEY:METHOD=AES-128,URI=\"k2\",IV=0x000102030405060708090A0B0C0D0E0F",
            "#EXTINF:1,", "3",
            "#EXT-X-KEY:METHOD=NONE", "#EXTINF:1,", "4", "#EXT-X-ENDLIST")
        let protections = playlist.segments.segments.map(\.protections)
        #expect(protections.map(\.count) == [1, 2, 2, 0])
        #expect(protections[0][0].keyURI == "https://h/a/k1" && protections[0][0].scheme == "identity")
        #expect(protections[0][0].initializationVector == [UInt8](repeating: 0, count: 14) + [1, 2])
        #expect(protections[1].map(\.keyURI) == ["https://h/a/k1", "skd://KID"])
        #expect(protections[1][0].initializationVector?.last == 3)
        #expect(protections[2].map(\.value) == ["SAMPLE-AES", "AES-128"])
        #expect(protections[2][1].initializationVector == Array(0...15))
    }

    @Test("The service's master playlist: media playlists in data: URLs, with their formats")
    func dataVariants() throws {
        func variant(_ format: String, _ more: String, _ count: Int) -> String {
            let segments = (0..<count).map { "#EXTINF:3.994,\nhttps://c/\(format)/\($0).mp4\n" }.joined()
            let playlist = """
                #EXTM3U
                #EXT-X-VERSION:7
                #EXT-X-TARGETDURATION:4
                #EXT-X-PLAYLIST-TYPE:VOD
                #EXT-X-DATERANGE:ID="\(format)",CLASS="com.tidal.format",X-COM-TIDAL-FORMAT="\(format)"\(more)
                #EXT-X-MAP:URI="https://c/\(format)/init.mp4"
                \(segments)#EXT-X-ENDLIST
                """
            return "data:application/vnd.apple.mpegurl;base64," + SampleText.base64(playlist)
        }
        let text = """
            #EXTM3U
            #EXT-X-VERSION:7
            #EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI="skd://0011",KEYFORMAT="com.apple.streamingkeydelivery"
            #EXT-X-STREAM-INF:BANDWIDTH=96000,AVERAGE-BANDWIDTH=90000,CODECS="mp4a.40.5"
            \(variant("HEAACV1", "", 3))
            #EXT-X-STREAM-INF:BANDWIDTH=3000000,CODECS="fLaC"
            \(variant("FLAC_HIRES", ",X-COM-TIDAL-SAMPLE-RATE=96000,X-COM-TIDAL-SAMPLE-DEPTH=24", 5))
            """
        let manifest = try Self.manifest(text)
        let representations = try #require(manifest.periods.first?.adaptationSets.first?.representations)
        #expect(representations.map(\.id) == ["HEAACV1", "FLAC_HIRES"])
        #expect(representations.map(\.codecs) == [["mp4a.40.5"], ["fLaC"]])
        #expect(representations.map(\.bandwidth) == [96_000, 3_000_000])
        #expect(representations.map(\.sampleRate) == [nil, 96_000] && representations.map(\.bitDepth) == [nil, 24])
        #expect(representations.allSatisfy { $0.contentProtections.first?.keyURI == "skd://0011" })
        guard case .list(let list) = representations[1].segments else {
            Issue.record("no list")
            return
        }
        #expect(
            list.segments.count == 5 && list.isComplete && list.segments[4].resource.url == "https://c/FLAC_HIRES/4.mp4"
        )
        #expect(!manifest.isLive && abs((manifest.duration ?? 0) - 11.982) < 1e-9)
    }

    @Test("Variants, shared sound, and pictures without sound")
    func variants() throws {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="low",NAME="English",LANGUAGE="en",URI="en-low.m3u8",CHANNELS="2"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="low",NAME="Deutsch",LANGUAGE="de",DEFAULT=YES,URI="de-low.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="high",NAME="English",LANGUAGE="en",URI="en-high.m3u8",CHANNELS="6/JOC"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="x",URI="s.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1000,CODECS="avc1.42e00a,mp4a.40.2",AUDIO="low"
            v1.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=2000,CODECS="avc1.42e00a,mp4a.40.2",AUDIO="low"
            v2.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=3000,CODECS="avc1.42e00a,ec-3",AUDIO="high"
            v3.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=4000,CODECS="avc1.42e00a"
            v4.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=5000
            v5.m3u8
            """
        let sets = try #require(try Self.manifest(text).periods.first?.adaptationSets)
        #expect(sets.map(\.id) == [nil, "Deutsch", "English"])
        func urls(_ set: AdaptationSet) -> [SegmentAddressing] { set.representations.map(\.segments) }
        let english = try #require(sets.first { $0.language == "en" })
        #expect(
            urls(english) == [.playlist(url: "https://h/a/en-low.m3u8"), .playlist(url: "https://h/a/en-high.m3u8")])
        #expect(english.representations.map(\.channelCount) == [2, 6])
        #expect(english.representations.map(\.codecs) == [["mp4a.40.2"], ["ec-3"]])
        #expect(urls(try #require(sets.first { $0.id == nil })) == [.playlist(url: "https://h/a/v5.m3u8")])
        #expect(throws: ManifestError.unsupported(what: "HLS without sound")) {
            try Self.manifest("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"avc1\"\nv.m3u8")
        }
    }

    @Test("A media playlist alone, complete and live")
    func alone() throws {
        let lines = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:5,\n1.mp4\n"
        let live = try Self.manifest(lines)
        #expect(live.live?.updatePeriod == 6 && live.duration == nil)
        let complete = try Self.manifest(lines + "#EXT-X-ENDLIST\n")
        #expect(!complete.isLive && complete.duration == 5)
    }

    @Test("Mistakes are named, with their line")
    func errors() {
        let cases: [(String, String)] = [
            ("", "HLS, line 1: a playlist begins with #EXTM3U"),
            ("#EXTM3", "HLS, line 1: a playlist begins with #EXTM3U"),
            ("\u{FEFF}#EXTM3U", "HLS, line 1: a playlist begins with #EXTM3U"),
            ("#EXTM3U", "HLS: a media playlist without EXT-X-TARGETDURATION"),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-ENDLIST", "HLS: a media playlist without a segment"),
            ("#EXTM3U\n1.mp4", "HLS, line 2: a segment without EXTINF"),
            ("#EXTM3U\n#EXTINF:x,\n1.mp4", "HLS, line 2: not a duration: x"),
            ("#EXTM3U\n#EXTINF:-1,\n1.mp4", "HLS, line 2: not a duration: -1"),
            (
                "#EXTM3U\n#EXTINF:1,\n#EXT-X-BYTERANGE:5\n1.mp4",
                "HLS, line 4: EXT-X-BYTERANGE without an offset, and no range before it"
            ),
            ("#EXTM3U\n#EXTINF:1,\n#EXT-X-BYTERANGE:5@x\n1.mp4", "HLS, line 3: not a range: 5@x"),
            ("#EXTM3U\n#EXT-X-MAP:URI=i.mp4,URI=j.mp4", "HLS, line 2: not a list of attributes"),
            ("#EXTM3U\n#EXT-X-MAP:BYTERANGE=\"5\"", "HLS, line 2: EXT-X-MAP without URI"),
            ("#EXTM3U\n#EXT-X-KEY:METHOD=AES-128", "HLS, line 2: a key without URI"),
            ("#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x12", "HLS, line 2: IV is not 128 bits"),
            ("#EXTM3U\n#EXTINF:1,\n1\u{1}.mp4", "HLS, line 3: a control character"),
            ("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1", "HLS, line 2: EXT-X-STREAM-INF without a variant"),
            ("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\nb", "HLS, line 4: a variant without EXT-X-STREAM-INF"),
        ]
        for (text, message) in cases {
            #expect(throws: ManifestError.malformed(what: message), "\(text)") { try Self.manifest(text) }
        }
        #expect(throws: ManifestError.unsupported(what: "HLS, line 2: encryption “X”")) {
            try Self.manifest("#EXTM3U\n#EXT-X-KEY:METHOD=X,URI=\"k\"")
        }
    }

    @Test("Lists of attributes")
    func attributes() {
        let list = HLSAttributes("A=1,B-2=\"x,y=z\" ,C=, D=0xAbCd,E=1x1")
        #expect(list?.text("B-2") == "x,y=z" && list?.text("C") == "" && list?.integer("A") == 1)
        #expect(list?.bytes("D") == [0xAB, 0xCD] && list?.text("F") == nil && list?.integer("E") == nil)
        for text in ["A", "=1", "A=\"x", "A=1,A=2", "a=1", "A=\"x\"y"] {
            #expect(HLSAttributes(text) == nil, "\(text)")
        }
        #expect(HLSAttributes("") != nil)
    }
}
