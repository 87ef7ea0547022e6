/// All segments as one source: each has its own region of offsets, and the initialization has the first one. So parsers
/// and repeatable steps work across segments (docs/decisions/segments.md).
///
/// Thread: only the decoder thread.
final class SegmentChain: ByteSource {
    /// Always nil: the regions are far apart, so that a length has no meaning.
    let length: Int64? = nil

    private let segments: any SegmentedSource
    /// The index of the segment in region 1.
    private let firstIndex: Int
    /// The regions of which bytes were read last.
    private var open: [(region: Int64, source: any ByteSource)] = []
    private var lastRead: (any ByteSource)?

    /// The bits of an offset in a region: 64 GiB a segment, and more than 130 million segments.
    private static let regionBits: Int64 = 36
    private static let mostRegions: Int64 = 1 << 26
    /// The most open sources: the initialization and two segments.
    private static let mostOpen = 3

    init(_ segments: any SegmentedSource) {
        self.segments = segments
        firstIndex = segments.timeline.firstIndex
    }

    static let initializationRegion: Int64 = 0
    static let firstRegion: Int64 = 1

    /// The error for a segment that is not the one in the manifest. Another request may return the right one.
    static func unusable(_ what: String) -> Interruption {
        .source(.integrity(reason: "a segment \(what)"))
    }

    var hasInitialization: Bool { segments.initialization != nil }

    static func offsets(of region: Int64) -> Range<Int64> { (region << regionBits)..<((region + 1) << regionBits) }

    static func region(of offset: Int64) -> Int64 { offset >> regionBits }

    /// Whether there is such a segment.
    func hasSegment(_ region: Int64) throws(Interruption) -> Bool {
        do throws(ByteSourceError) { return try source(of: region) != nil } catch { throw .source(error) }
    }

    /// The region that is played `seconds` after the start of the first one.
    func region(at seconds: Double) -> Int64 {
        let timeline = segments.timeline
        let start = timeline.start(of: firstIndex) ?? 0
        guard let index = timeline.index(at: start + seconds) else { return Self.firstRegion }
        return max(Self.firstRegion, min(Int64(index) - Int64(firstIndex) + Self.firstRegion, Self.mostRegions - 1))
    }

    /// The duration from the first segment on, in seconds; nil while it is not known.
    var duration: Double? { segments.timeline.duration }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        let region = offset >> Self.regionBits
        guard let source = try source(of: region) else { return .end }
        lastRead = source
        return try source.read(into: buffer, at: offset - region << Self.regionBits)
    }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) {
        if let lastRead { lastRead.whenReadable(wake) } else { wake() }
    }

    private func source(of region: Int64) throws(ByteSourceError) -> (any ByteSource)? {
        if let known = open.first(where: { $0.region == region }) { return known.source }
        guard region >= 0, region < Self.mostRegions else { return nil }
        let found: (any ByteSource)?
        if region == Self.initializationRegion {
            found = segments.initialization
        } else {
            let (index, isBeyond) = firstIndex.addingReportingOverflow(Int(region - Self.firstRegion))
            found = isBeyond ? nil : try segments.segment(index)
        }
        guard let found else { return nil }
        if open.count == Self.mostOpen { open.removeFirst() }
        open.append((region, found))
        return found
    }
}
