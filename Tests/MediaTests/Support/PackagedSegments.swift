import Testing

@testable import Manifests
@testable import Media

/// The segments of a manifest, from files by the last part of their URL.
final class PackagedSegments: SegmentedSource {
    let initialization: (any ByteSource)?
    let timeline: SegmentTimeline
    private let files: [String: [UInt8]]
    private let reference: (Int) -> SegmentReference?

    /// The first representation of a manifest.
    static func first(_ manifest: Manifest) throws -> Representation {
        try #require(manifest.periods.first?.adaptationSets.first?.representations.first)
    }

    init(_ addressing: SegmentAddressing, _ files: [String: [UInt8]]) throws {
        self.files = files
        var addressing = addressing
        if case .playlist(let url) = addressing {
            addressing = .list(try MediaPlaylist(try #require(files[Self.name(url)]), url: url).segments)
        }
        if case .file(let file) = addressing, let index = file.index {
            let bytes = try #require(files[Self.name(file.url)])
            addressing = .list(
                try file.segments(
                    by: AudioFile.segmentIndex(in: Array(bytes[Int(index.lowerBound)..<Int(index.upperBound)]))))
        }
        var first: ResourceReference?
        switch addressing {
        case .template(let template):
            timeline = template.timeline()
            reference = { template.segment($0) }
            first = template.initialization
        case .list(let list):
            timeline = list.timeline
            reference = { list.segment($0) }
            first = list.segments.first?.initialization
        case .file(let file):
            timeline = SegmentTimeline(runs: [], isComplete: true)
            reference = {
                $0 == 0
                    ? SegmentReference(resource: ResourceReference(url: file.url), start: 0, duration: 0) : nil
            }
        case .playlist: throw Tool.Failure(description: "a playlist in a playlist")
        }
        initialization = first.flatMap { Self.bytes($0, files) }.map { MemorySource($0, knowsLength: false) }
    }

    func segment(_ index: Int) throws(ByteSourceError) -> (any ByteSource)? {
        guard let reference = reference(index) else { return nil }
        guard let bytes = Self.bytes(reference.resource, files) else { throw .status(404) }
        return MemorySource(bytes, knowsLength: false)
    }

    private static func name(_ url: String) -> String { String(url.split(separator: "/").last ?? "") }

    private static func bytes(_ resource: ResourceReference, _ files: [String: [UInt8]]) -> [UInt8]? {
        guard let file = files[name(resource.url)] else { return nil }
        guard let range = resource.range else { return file }
        return Array(file[Int(range.lowerBound)..<min(file.count, Int(range.upperBound))])
    }
}
