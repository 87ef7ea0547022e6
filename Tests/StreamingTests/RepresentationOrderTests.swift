import Manifests
import Media
import PlayerTestSupport
import Testing

@testable import Player
@testable import Streaming

@Suite("Which of several sounds is played (docs/playback.md, 15.11)")
struct RepresentationOrderTests {
    /// A set with representations: their ids, bandwidths and codecs.
    private func set(_ representations: (String, Int, String)..., roles: String...) -> String {
        let roles = roles.map { "<Role schemeIdUri=\"urn:mpeg:dash:role:2011\" value=\"\($0)\"/>" }.joined()
        return "<AdaptationSet contentType=\"audio\">" + roles
            + "<SegmentTemplate media=\"$RepresentationID$/$Number$\" initialization=\"$RepresentationID$\">"
            + "<SegmentTimeline><S t=\"0\" d=\"2\" r=\"3\"/></SegmentTimeline></SegmentTemplate>"
            + representations.map { "<Representation id=\"\($0)\" bandwidth=\"\($1)\" codecs=\"\($2)\"/>" }.joined()
            + "</AdaptationSet>"
    }

    private func manifest(_ periods: [String], isLive: Bool = false, quality: String? = nil) throws -> Manifest {
        let kind =
            isLive ? "type=\"dynamic\" minimumUpdatePeriod=\"PT2S\" availabilityStartTime=\"2026-01-01T00:00:00Z\"" : ""
        let text =
            "<MPD \(kind)>" + periods.map { "<Period duration=\"PT8S\">\($0)</Period>" }.joined() + "</MPD>"
        return try Manifest(Array(text.utf8), format: .dash, url: "https://h/").ordered(quality: quality)
    }

    /// The ids of the representations that are played, part by part; those of live content, too.
    private func played(_ sets: String..., quality: String? = nil) throws -> [String] {
        let layout = try ContentLayout(manifest([sets.joined()], quality: quality), quality: quality)
        #expect(layout.parts.count == 1)
        let live = try manifest([sets.joined()], isLive: true, quality: quality)
        let state = LiveRepresentation(live, quality: quality)?.state(in: live)
        let ids = layout.parts[0].representations.map { $0.id }
        #expect(state?.representation.id == ids.last)
        return ids
    }

    @Test("A set in a codec that is not supported does not hide one that can be decoded")
    func decodable() throws {
        let surround = set(("s", 640_000, "ec-3"))
        let stereo = set(("low", 96_000, "mp4a.40.2"), ("high", 320_000, "mp4a.40.2"))
        #expect(try played(surround, stereo) == ["low", "high"])
        #expect(try played(stereo, surround) == ["low", "high"])
        #expect(try played(surround) == ["s"])
        // Segments of WebM are not read.
        let webm = set(("w", 128_000, "opus")).replacing("contentType", with: "mimeType=\"audio/webm\" contentType")
        #expect(try played(webm, stereo) == ["low", "high"])
        #expect(try played(set(("o", 128_000, "opus")), surround) == ["o"])
        // Also when the one that can be decoded is a dubbed one.
        #expect(try played(surround, set(("d", 1, "flac"), roles: "dub")) == ["d"])
    }

    @Test("The quality that came is found in any set")
    func named() throws {
        let lossy = set(("LOW", 96_000, "mp4a.40.5"), ("HIGH", 320_000, "mp4a.40.2"))
        let lossless = set(("LOSSLESS", 900_000, "flac"), ("HI_RES_LOSSLESS", 3_000_000, "flac"))
        #expect(try played(lossy, lossless, quality: "LOSSLESS") == ["LOSSLESS"])
        #expect(try played(lossy, lossless, quality: "HIGH") == ["HIGH"])
        #expect(try played(lossless, lossy, quality: "HIGH") == ["HIGH"])
        #expect(try played(lossy, lossless, quality: "OTHER") == ["LOW", "HIGH"])
        // A set that cannot be decoded does not count.
        #expect(try played(set(("HIGH", 1, "ec-3")), lossless, quality: "HIGH") == ["LOSSLESS", "HI_RES_LOSSLESS"])
    }

    @Test("The main sound comes before a commentary and others, and else the first one in the manifest")
    func roles() throws {
        let main = set(("m", 1, "flac"), roles: "main")
        for role in ["commentary", "description", "dub", "alternate"] {
            #expect(try played(set(("o", 1, "flac"), roles: role), main) == ["m"], "\(role)")
            #expect(try played(set(("o", 1, "flac"), roles: role), set(("p", 1, "flac"))) == ["p"], "\(role)")
        }
        #expect(try played(set(("o", 1, "flac"), roles: "dub", "main"), main) == ["o"])
        #expect(try played(set(("o", 1, "flac")), main) == ["o"])
        #expect(try played(set(("o", 1, "flac"), roles: "dub"), set(("p", 1, "flac"), roles: "commentary")) == ["o"])
    }

    @Test("Sets that differ in codec and bandwidth only are one choice, up to the quality that is wanted")
    func codecs() throws {
        let lossy = set(("a", 96_000, "mp4a.40.2"), ("b", 320_000, "mp4a.40.2"))
        let lossless = set(("c", 900_000, "fLaC"))
        for quality in ["LOSSLESS", "HI_RES_LOSSLESS", "HI_RES"] {
            #expect(try played(lossy, lossless, quality: quality) == ["a", "b", "c"], "\(quality)")
            #expect(try played(lossless, lossy, quality: quality) == ["a", "b", "c"], "\(quality)")
        }
        // A limit that a user has set.
        for quality in ["LOW", "HIGH"] {
            #expect(try played(lossy, lossless, quality: quality) == ["a", "b"], "\(quality)")
            #expect(try played(lossless, lossy, quality: quality) == ["a", "b"], "\(quality)")
            #expect(try played(lossless, quality: quality) == ["c"], "\(quality)")
        }
        // One codec in two sets: something else differs.
        #expect(try played(lossless, set(("d", 950_000, "flac")), quality: "LOSSLESS") == ["c"])
        #expect(try played(lossy, set(("d", 1, "flac"), roles: "commentary"), quality: "LOSSLESS") == ["a", "b"])
        let french = lossless.replacingOccurrences(of: "<AdaptationSet", with: "<AdaptationSet lang=\"fr\"")
        #expect(try played(lossy, french, quality: "LOSSLESS") == ["a", "b"])
        #expect(try played(set(("s", 640_000, "ec-3")), lossless, lossy, quality: "LOSSLESS") == ["a", "b", "c"])
    }

    @Test("HLS: groups of renditions that differ in codec are one choice, two names in one group are two sounds")
    func groups() throws {
        func ids(_ groups: (String, String, String)...) throws -> [String] {
            let text =
                ["#EXTM3U"]
                + groups.map {
                    "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"\($0.0)\",NAME=\"\($0.1)\",URI=\"\($0.0)-\($0.1).m3u8\""
                }
                + groups.flatMap {
                    [
                        "#EXT-X-STREAM-INF:BANDWIDTH=\($0.2 == "fLaC" ? 9 : 3)00000,"
                            + "CODECS=\"\($0.2)\",AUDIO=\"\($0.0)\"",
                        "v",
                    ]
                }
            let manifest = try Manifest(
                Array(text.joined(separator: "\n").utf8), format: .hls, url: "https://h/a.m3u8")
            let set = manifest.ordered(quality: "LOSSLESS").periods[0].adaptationSets[0]
            return set.playable(quality: "LOSSLESS").map { representation in
                if case .playlist(let url) = representation.segments { String(url.dropFirst(10)) } else { "" }
            }
        }
        #expect(try ids(("aac", "one", "mp4a.40.2"), ("flac", "two", "fLaC")) == ["aac-one.m3u8", "flac-two.m3u8"])
        #expect(try ids(("aac", "one", "mp4a.40.2"), ("flac", "one", "fLaC")) == ["aac-one.m3u8", "flac-one.m3u8"])
        #expect(try ids(("all", "one", "mp4a.40.2"), ("all", "two", "mp4a.40.2")).count == 1)
    }

    @Test("A later period goes on with what was played before, if it can be decoded there")
    func periods() throws {
        let (one, two) = (set(("a", 1, "flac")), set(("b", 1, "flac")))
        let other = set(("a", 1, "ec-3"))
        let layout = try ContentLayout(manifest([one + two, two + one, other + two]), quality: nil)
        #expect(layout.parts.map { $0.representations.map { $0.id } } == [["a"], ["a"], ["b"]])
    }

    @Test("Renditions of HLS: a default in a codec that is not supported, and a description of the pictures")
    func renditions() throws {
        func first(_ media: String...) throws -> String? {
            let text =
                ["#EXTM3U"] + media.map { "#EXT-X-MEDIA:TYPE=AUDIO," + $0 } + [
                    "#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"avc1.42e00a,ec-3\",AUDIO=\"surround\"", "v1.m3u8",
                    "#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"avc1.42e00a,mp4a.40.2\",AUDIO=\"stereo\"", "v2.m3u8",
                ]
            let manifest = try Manifest(
                Array(text.joined(separator: "\n").utf8), format: .hls, url: "https://h/a.m3u8")
            return manifest.ordered(quality: nil).periods[0].adaptationSets.first?.id
        }
        let surround = "GROUP-ID=\"surround\",NAME=\"Surround\",DEFAULT=YES,URI=\"s.m3u8\""
        let stereo = "GROUP-ID=\"stereo\",NAME=\"Stereo\",URI=\"t.m3u8\""
        let described =
            "GROUP-ID=\"stereo\",NAME=\"Described\",URI=\"d.m3u8\","
            + "CHARACTERISTICS=\"public.easy-to-read,public.accessibility.describes-video\""
        #expect(try first(surround, stereo) == "Stereo")
        #expect(try first(surround, described, stereo) == "Stereo")
        #expect(try first(surround, described + ",DEFAULT=YES", stereo) == "Described")
    }
}
