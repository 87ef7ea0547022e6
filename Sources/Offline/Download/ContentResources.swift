import Manifests
import Media
import Network
import Streaming

/// The resources of the file of an offline copy, in order: for each part of the content one file, or the initialization
/// segment and all segments.
struct ContentResources {
    struct Resource {
        var reference: ResourceReference
        /// The encryption of the resource as a whole.
        var protections: [ContentProtection]
        /// The share of the resource in the whole content, as far as it is known before the bytes arrive; 1 for a
        /// single file.
        var share: Double
        /// The index of the part of the content to which the resource belongs, from 0.
        var part: Int
        /// Whether the resource is all of that part, which is then read at any offset.
        var isFile = false
        /// Whether the resource is one of the last of its part, and only a duration implies that it exists.
        var isEstimated = false
        /// The alternative base addresses of its representation.
        var bases: [String] = []
        /// The name of the resource in the cache, equal to that of a stream of the same content; nil when the cache is
        /// not used.
        var space: ContentSpace?
    }

    /// The resources of one part.
    private struct Part {
        /// The index of its first resource among all resources.
        var first: Int
        var count: Int
        /// Its share of the whole content.
        var share: Double
        var clip: Range<Double>?
        var mediaStart: Double?
        var duration: Double?
        /// Returns the resource with this number in the part; its `share` is relative to the part.
        var resource: (Int) -> Resource?
    }

    private(set) var count = 0
    /// The expected size of all resources, in bytes; nil when it is unknown.
    private(set) var expectedBytes: Int64? = 0
    private var parts: [Part] = []

    /// - Parameters:
    ///   - layout: the content; the best representation of each part is taken.
    ///   - space: the place of the content in the cache; nil when the cache is not used.
    /// - Throws: `.unsupported` for content without an end; `.damaged` for content without segments.
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
        guard timeline.isComplete else { throw .unsupported(what: "downloading live content") }
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
                    isEstimated: $0.isEstimated && index > first,
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

    /// Returns the parts of the file of the offline copy.
    /// - Parameter start: returns the position of a resource, in bytes of the file.
    func copyParts(_ start: (Int) -> Int64) -> [OfflineCopyPart] {
        parts.map {
            OfflineCopyPart(start: start($0.first), clip: $0.clip, duration: $0.duration, mediaStart: $0.mediaStart)
        }
    }
}
