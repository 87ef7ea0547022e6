import Testing

@testable import Manifests

@Suite("Manifests that are a little other than the standards say")
struct ManifestToleranceTests {
    private func segments(_ template: String, duration: String = "PT10.005S") throws -> SegmentAddressing {
        let text = """
            <MPD mediaPresentationDuration="\(duration)"><Period>
            <AdaptationSet contentType="audio" mimeType="audio/mp4">
            <Representation id="r" bandwidth="1">\(template)</Representation></AdaptationSet></Period></MPD>
            """
        let manifest = try Manifest(Array(text.utf8), format: .dash, url: "https://h/")
        return try #require(manifest.periods.first?.adaptationSets.first?.representations.first).segments
    }

    @Test("The last numbers that follow from a duration are estimates, those in a list are none")
    func estimates() throws {
        guard case .template(let counted) = try segments(#"<SegmentTemplate media="$Number$" duration="2"/>"#) else {
            Issue.record("no template")
            return
        }
        #expect((1...6).map { counted.segment($0)?.isEstimated } == [false, false, false, true, true, true])
        let timeline =
            #"<SegmentTemplate media="$Number$"><SegmentTimeline><S d="2" r="4"/></SegmentTimeline></SegmentTemplate>"#
        guard case .template(let listed) = try segments(timeline) else {
            Issue.record("no template")
            return
        }
        #expect((1...5).allSatisfy { listed.segment($0)?.isEstimated == false } && listed.segment(6) == nil)
    }

    @Test("An entry without a duration is a number that no segment has", arguments: [0, 2, -1])
    func empty(repetitions: Int) throws {
        let skipped = max(0, repetitions) + 1
        let timeline = """
            <SegmentTemplate media="$Number$-$Time$" startNumber="5"><SegmentTimeline><S t="0" d="2" r="1"/>
            <S d="0" r="\(repetitions)"/><S d="3"/></SegmentTimeline></SegmentTemplate>
            """
        guard case .list(let list) = try segments(timeline) else {
            Issue.record("no list")
            return
        }
        #expect(
            list.segments.map { $0.resource.url } == ["https://h/5-0", "https://h/6-2", "https://h/\(7 + skipped)-4"])
        #expect(list.segments.map { $0.duration } == [2, 2, 3])
    }

    @Test("Blanks around the values of a playlist")
    func blanks() throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION: 4 \n#EXTINF:  3.5 , title\na\n#EXTINF:\t2\t,\nb\n#EXT-X-ENDLIST\n"
        let playlist = try MediaPlaylist(Array(text.utf8), url: "https://h/")
        #expect(playlist.targetDuration == 4 && playlist.segments.segments.map { $0.duration } == [3.5, 2])
        #expect(playlist.segments.firstIndex == 0)
    }
}
