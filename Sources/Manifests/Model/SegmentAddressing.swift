import Media

/// The way in which a representation addresses its bytes.
public enum SegmentAddressing: Equatable, Sendable {
    /// One file.
    case file(IndexedFile)
    /// A list of segments.
    case list(SegmentList)
    /// Segments by the rule of a template.
    case template(SegmentTemplate)
    /// A media playlist, which is loaded first.
    case playlist(url: String)
}

/// Bytes at an absolute URL.
public struct ResourceReference: Equatable, Sendable {
    public var url: String
    /// nil: the whole resource. Empty where a packager wrote a segment without bytes: nothing has to be loaded.
    public var range: Range<Int64>?

    public init(url: String, range: Range<Int64>? = nil) {
        self.url = url
        self.range = range
    }
}

/// A segment of a representation.
public struct SegmentReference: Equatable, Sendable {
    public var resource: ResourceReference
    /// The start in seconds, from the beginning of the period.
    public var start: Double
    /// The duration in seconds.
    public var duration: Double
    /// The initialization segment that precedes it.
    public var initialization: ResourceReference?
    /// How the initialization segment is encrypted as a whole.
    public var initializationKeys = SegmentKeys()
    /// Whether its times and its format are unrelated to those of the segment before.
    public var isDiscontinuous = false
    /// The number of discontinuities that an HLS stream had up to here (RFC 8216, 4.3.3.3). It shows also those whose
    /// tags have left a live playlist together with all segments before.
    public var discontinuitySequence: Int64 = 0
    /// How the whole segment is encrypted in HLS. Empty: not encrypted.
    public var keys = SegmentKeys()
    /// Whether the segment is one of the last ones, and its number follows from a duration alone: a rounded duration
    /// may give some too many.
    public var isEstimated = false
    /// Whether an HLS segment only marks its position in the list, without bytes (RFC 8216bis, 4.4.4.7).
    public var isGap = false

    /// How the whole segment is encrypted; one entry for each key system.
    public var protections: [ContentProtection] { keys.protections }
}

/// A file, and the position of its segment index, if the manifest contains it.
public struct IndexedFile: Equatable, Sendable {
    public var url: String
    public var initialization: Range<Int64>?
    /// The range of a box `sidx`.
    public var index: Range<Int64>?
    /// The time in the file of the period's start, in seconds.
    public var mediaOffset = 0.0

    /// The segments of the file.
    /// - Parameter found: what the bytes of `index` have; nil when they have none, or are cut off.
    package func segments(by found: SegmentIndex?) throws(ManifestError) -> SegmentList {
        guard let index else { throw .malformed(what: "a file without an index") }
        guard let found else { throw .malformed(what: "the segment index (sidx) is missing or cut off") }
        var start: Int64 = 0
        var segments: [SegmentReference] = []
        for part in found.parts {
            guard !part.isIndex else { throw .unsupported(what: "a segment index (sidx) of other indices") }
            let (lower, isBeyond) = part.range.lowerBound.addingReportingOverflow(index.lowerBound)
            guard !isBeyond, lower <= AudioLimits.largestData else {
                throw .malformed(what: "the segment index (sidx) points beyond any file")
            }
            let range = lower..<(lower + Int64(part.range.count))
            segments.append(
                SegmentReference(
                    resource: ResourceReference(url: url, range: range),
                    start: Double(start) / Double(found.timescale),
                    duration: Double(part.duration) / Double(found.timescale),
                    initialization: initialization.map { ResourceReference(url: url, range: $0) }))
            start += part.duration
        }
        return SegmentList(segments: segments, isComplete: true)
    }
}

/// Segments that are listed one by one.
public struct SegmentList: Equatable, Sendable {
    /// The index of the first one; see `index(ofNumber:)`.
    public var firstIndex = 0
    public var segments: [SegmentReference]
    /// Whether no more segments will come.
    public var isComplete: Bool
    /// The media time of the period's start, in seconds.
    public var mediaOffset = 0.0
    /// Whether each segment has its own time. Segments of one duration may begin earlier or later than it implies.
    public var hasExactTimes = true

    public init(segments: [SegmentReference], isComplete: Bool) {
        self.segments = segments
        self.isComplete = isComplete
    }

    /// Returns the index of the segment with this number in a manifest. Larger numbers count from a multiple of 2^30,
    /// so that `Int` with 32 bits has room for the indices of all segments that follow.
    static func index(ofNumber number: Int64) -> Int { Int(number & Int64(SegmentTimeline.mostSegments - 1)) }

    public func segment(_ index: Int) -> SegmentReference? {
        let (place, isBeyond) = index.subtractingReportingOverflow(firstIndex)
        return !isBeyond && segments.indices.contains(place) ? segments[place] : nil
    }

    public var timeline: SegmentTimeline {
        SegmentTimeline(
            firstIndex: firstIndex,
            runs: segments.map { .init(start: $0.start, duration: $0.duration, count: 1) }, isComplete: isComplete)
    }
}
