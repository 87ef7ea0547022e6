import Media
import Network

/// The resources that a kept file consists of, in their order: one file, or the initialization and all segments.
struct ContentResources {
    struct Resource {
        var reference: ResourceReference
        /// How it is encrypted as a whole.
        var protections: [ContentProtection]
        /// Of all that is kept, as far as it is known before the bytes: 1 for a file.
        var share: Double
    }

    let count: Int
    /// The expected size of all, in bytes; nil when nothing says it.
    let expectedBytes: Int64?
    private let resource: (Int) -> Resource?

    /// - Throws: `.unsupported` for content that has no end, or that is not one stream; `.damaged` without segments.
    init(_ representation: Representation) throws(MediaError) {
        switch representation.segments {
        case .file(let file):
            count = 1
            expectedBytes = nil
            resource = { _ in Resource(reference: ResourceReference(url: file.url), protections: [], share: 1) }
        case .list(let list):
            let initialization = list.initialization
            guard
                list.segments.allSatisfy({ $0.initialization == initialization }),
                list.segments.dropFirst().allSatisfy({ !$0.isDiscontinuous })
            else {
                throw .unsupported(what: "keeping content of several parts")
            }
            self = try Self(of: list, representation.bandwidth)
        case .template(let template): self = try Self(of: template, representation.bandwidth)
        case .playlist: preconditionFailure("ContentResources: a playlist that was not followed")
        }
    }

    private init(of segments: some SegmentReferences, _ bandwidth: Int?) throws(MediaError) {
        let timeline = segments.timeline
        guard timeline.isComplete else { throw .unsupported(what: "keeping live content") }
        guard timeline.count > 0, timeline.count < .max, let duration = timeline.duration else {
            throw .damaged(what: "a manifest without segments")
        }
        let initialization = segments.initialization
        let initializationProtections = segments.initializationProtections
        let first = initialization == nil ? 0 : 1
        count = timeline.count + first
        expectedBytes = bandwidth.flatMap { Int64(exactly: (Double($0) / 8 * duration).rounded()) }
        let share = 1 / Double(timeline.count)
        resource = { index in
            if index < first, let initialization {
                return Resource(reference: initialization, protections: initializationProtections, share: 0)
            }
            return segments.segment(timeline.firstIndex + index - first).map {
                Resource(reference: $0.resource, protections: $0.protections, share: share)
            }
        }
    }

    /// - Parameter index: from 0.
    func at(_ index: Int) throws(MediaError) -> Resource {
        guard let found = resource(index) else { throw .damaged(what: "a manifest without segment \(index)") }
        return found
    }
}
