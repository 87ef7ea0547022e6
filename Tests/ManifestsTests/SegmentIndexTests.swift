import Testing

@testable import Manifests

@Suite("Numbers of segments in manifests, on boards where Int has 32 bits")
struct SegmentIndexTests {
    private static func template(_ number: Int64, _ timeline: String) throws -> SegmentTemplate {
        try DASHTests.template(
            DASHTests.one(
                representation: "<SegmentTemplate timescale=\"1\" media=\"$Number$\" startNumber=\"\(number)\">"
                    + "<SegmentTimeline>\(timeline)</SegmentTimeline></SegmentTemplate>"))
    }

    private static func list(_ number: Int64) throws -> SegmentList? {
        let segments = try DASHTests.first(
            try DASHTests.manifest(
                DASHTests.one(
                    representation: "<SegmentList duration=\"1\" startNumber=\"\(number)\">"
                        + "<SegmentURL media=\"a\"/><SegmentURL media=\"b\"/></SegmentList>"))
        ).segments
        if case .list(let list) = segments { return list }
        return nil
    }

    @Test(
        "Indices fit into 32 bits for all segments that follow, and addresses have the whole number",
        arguments: [0, 1, 1_073_741_823, 2_147_483_647, 2_147_483_648, 4_294_967_296, 1 << 53])
    func indices(number: Int64) throws {
        let template = try Self.template(number, "<S t=\"0\" d=\"1\" r=\"2000000000\"/><S d=\"1\" r=\"4000000000\"/>")
        let timeline = template.timeline()
        #expect(0..<(1 << 30) ~= timeline.firstIndex && timeline.count == 1 << 30)
        #expect(timeline.index(at: 1e18).map { $0 <= Int(Int32.max) } == true)
        #expect(template.segment(timeline.firstIndex)?.resource.url.hasSuffix("/\(number)") == true)
        #expect(template.segment(timeline.firstIndex + 5)?.resource.url.hasSuffix("/\(number + 5)") == true)
        #expect(template.segment(timeline.firstIndex - 1) == nil)
        let list = try #require(try Self.list(number))
        #expect(0..<(1 << 30) ~= list.firstIndex)
        #expect(list.segment(list.firstIndex + 1)?.resource.url.hasSuffix("/b") == true)
    }
}
