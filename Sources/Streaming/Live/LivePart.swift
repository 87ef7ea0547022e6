import Manifests
import Media

/// A part of live content, which one decoder plays. It ends at a discontinuity, at a gap, or where the initialization
/// or the keys of the samples change. The last part grows until another one follows.
///
/// Thread: the decoder thread.
struct LivePart: SegmentReferences {
    /// The index of its first segment, which identifies the part.
    let index: Int
    private let playlist: LivePlaylist

    init(_ index: Int, of playlist: LivePlaylist) {
        self.index = index
        self.playlist = playlist
    }

    /// The segments that are known now and have not been forgotten.
    var list: SegmentList {
        let indices = playlist.parts.indices(index)
        let segments = indices.compactMap { playlist.segment($0) }
        var list = SegmentList(segments: segments, isComplete: isComplete)
        list.firstIndex = indices.upperBound - segments.count
        return list
    }

    var initialization: ResourceReference? { list.initialization }
    var initializationProtections: [ContentProtection] { list.initializationProtections }
    var timeline: SegmentTimeline { playlist.parts.timeline(index) }

    func segment(_ index: Int) -> SegmentReference? {
        playlist.parts.indices(self.index).contains(index) ? playlist.segment(index) : nil
    }

    /// Whether no more segments will come.
    var isComplete: Bool { playlist.parts.isComplete(index) }

    /// Returns whether the segment was in the playlist and has been forgotten.
    func isGone(_ index: Int) -> Bool { playlist.isGone(index) }

    /// Counts a segment as a gap, as `LivePlaylist.lose` does.
    func lose(_ index: Int, after error: ByteSourceError) { playlist.lose(index, after: .source(error)) }

    /// Reports that a needed segment has been forgotten.
    func fail() { playlist.fail(LivePlaylist.tooFar) }

    /// Handles the result of a load, as `LivePlaylist.poll` does.
    func poll() throws(ByteSourceError) { try playlist.poll() }

    /// Calls `wake` after a load, as `LivePlaylist.whenLoaded` does.
    func whenLoaded(_ wake: @escaping @Sendable () -> Void) { playlist.whenLoaded(wake) }
}
