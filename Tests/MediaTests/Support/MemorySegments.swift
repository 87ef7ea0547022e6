@testable import Media

/// Segments in memory. They count the requests, and are late or missing on demand.
final class MemorySegments: SegmentedSource {
    let initialization: (any ByteSource)?
    var timeline: SegmentTimeline
    /// Why a segment is missing.
    var failures: [Int: ByteSourceError] = [:]
    private(set) var asked: [Int] = []
    let sources: [MemorySource]

    init(_ initialization: [UInt8]?, _ segments: [[UInt8]], _ timeline: SegmentTimeline, notYetEvery: Int = 0) {
        func source(_ bytes: [UInt8]) -> MemorySource {
            let source = MemorySource(bytes, knowsLength: false)
            source.notYetEvery = notYetEvery
            return source
        }
        self.initialization = initialization.map(source)
        sources = segments.map(source)
        self.timeline = timeline
    }

    func forget() { asked = [] }

    func segment(_ index: Int) throws(ByteSourceError) -> (any ByteSource)? {
        asked.append(index)
        if let failure = failures[index] { throw failure }
        let place = index - timeline.firstIndex
        return sources.indices.contains(place) ? sources[place] : nil
    }
}
