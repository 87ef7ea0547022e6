import Media
import Network

/// The resources that a kept file consists of, in their order: for each part of the content one file, or the
/// initialization and all segments.
struct ContentResources {
    struct Resource {
        var reference: ResourceReference
        /// How it is encrypted as a whole.
        var protections: [ContentProtection]
        /// Of all that is kept, as far as it is known before the bytes: 1 for a file.
        var share: Double
        /// To which part of the content it belongs, from 0.
        var part: Int
        /// Whether it is all of that part, which is read by places.
        var isFile = false
        /// Whether it is the last one of its part, and only a duration says that it is there.
        var isEstimated = false
        /// Addresses that stand for one another, of its representation.
        var bases: [String] = []
        /// Its name in the cache, as a stream of the same content has it; nil: it does not come from there.
        var space: ContentSpace?
    }

    /// The resources of one part.
    private struct Part {
        /// Of the first one, among all.
        var first: Int
        var count: Int
        /// Of all that is kept.
        var share: Double
        var clip: Range<Double>?
        var mediaStart: Double?
        var duration: Double?
        /// The one with this number in the part; its `share` is of the part.
        var resource: (Int) -> Resource?
    }

    private(set) var count = 0
    /// The expected size of all, in bytes; nil when nothing says it.
    private(set) var expectedBytes: Int64? = 0
    private var parts: [Part] = []

    /// - Parameters:
    ///   - layout: of which the best encodings are taken.
    ///   - space: of the content in the cache; nil: it does not come from there.
    /// - Throws: `.unsupported` for content that has no end; `.damaged` without segments.
    init(_ layout: ContentLayout, in space: ContentSpace?) throws(MediaError) {
        for part in layout.parts { try add(part, in: space?.part(parts.count)) }
        let durations = parts.map { max(0, $0.duration ?? 0) }
        let total = durations.reduce(0, +)
        let isKnown = total > 0 && total.isFinite && parts.allSatisfy { $0.duration != nil }
        for index in parts.indices {
            parts[index].share = isKnown ? durations[index] / total : 1 / Double(parts.count)
        }
    }

    private mutating func add(_ part: ContentLayout.Part, in space: ContentSpace?) throws(MediaError) {
        guard let best = part.representations.last else { throw .damaged(what: "a manifest without audio") }
        let index = parts.count
        let space = space?.representation(best)
        switch best.segments {
        case .file(let file):
            append(part, count: 1, bytes: nil) { _ in
                let reference = ResourceReference(url: file.url)
                return Resource(
                    reference: reference, protections: [], share: 1, part: index, isFile: true,
                    bases: best.bases, space: space)
            }
        case .list(let list): try add(part, list, best, in: space)
        case .template(let template): try add(part, template, best, in: space)
        case .playlist: preconditionFailure("ContentResources: a playlist that was not followed")
        }
    }

    private mutating func add(
        _ part: ContentLayout.Part, _ segments: some SegmentReferences, _ best: Representation, in space: ContentSpace?
    ) throws(MediaError) {
        let timeline = segments.timeline
        guard timeline.isComplete else { throw .unsupported(what: "keeping live content") }
        guard timeline.count > 0, timeline.count < .max, let duration = timeline.duration else {
            throw .damaged(what: "a manifest without segments")
        }
        let initialization = segments.initialization
        let initializationProtections = segments.initializationProtections
        let first = initialization == nil ? 0 : 1
        let share = 1 / Double(timeline.count)
        let number = parts.count
        let bytes = best.bandwidth.flatMap { Int64(exactly: (Double($0) / 8 * duration).rounded()) }
        append(part, count: timeline.count + first, bytes: bytes) { index in
            if index < first, let initialization {
                return Resource(
                    reference: initialization, protections: initializationProtections, share: 0, part: number,
                    bases: best.bases, space: space)
            }
            let place = timeline.firstIndex + index - first
            return segments.segment(place).map {
                Resource(
                    reference: $0.resource, protections: $0.protections, share: share, part: number,
                    isEstimated: $0.isEstimated && index > first && segments.segment(place + 1) == nil,
                    bases: best.bases, space: space?.part(place))
            }
        }
    }

    private mutating func append(
        _ part: ContentLayout.Part, count: Int, bytes: Int64?, _ resource: @escaping (Int) -> Resource?
    ) {
        parts.append(
            Part(
                first: self.count, count: count, share: 1, clip: part.clip, mediaStart: part.mediaStart,
                duration: part.duration, resource: resource))
        self.count += count
        expectedBytes = expectedBytes.flatMap { sum in
            bytes.map {
                let (sum, isBeyond) = sum.addingReportingOverflow($0)
                return isBeyond ? .max : sum
            }
        }
    }

    /// - Parameter index: from 0.
    func at(_ index: Int) throws(MediaError) -> Resource {
        var (low, high) = (0, parts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if parts[middle].first <= index { low = middle } else { high = middle }
        }
        guard parts.indices.contains(low), index >= 0 else { throw .damaged(what: "a manifest without segments") }
        let part = parts[low]
        guard var found = part.resource(index - part.first) else {
            throw .damaged(what: "a manifest without segment \(index)")
        }
        found.share *= part.share
        return found
    }

    /// The parts of the kept file.
    /// - Parameter start: where a resource begins, in bytes of the file.
    func kept(_ start: (Int) -> Int64) -> [KeptPart] {
        parts.map {
            KeptPart(start: start($0.first), clip: $0.clip, duration: $0.duration, mediaStart: $0.mediaStart)
        }
    }
}
