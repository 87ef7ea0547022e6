import Media

/// A part of live content, which one decoder plays: to the next discontinuity, to a gap, or to where the
/// initialization or the keys of the samples are other ones. The last part grows, until another one follows.
///
/// Thread: the decoder thread.
struct LivePart: SegmentReferences {
    /// Of its first segment, which no other part has.
    let index: Int
    private let playlist: LivePlaylist

    init(_ index: Int, of playlist: LivePlaylist) {
        self.index = index
        self.playlist = playlist
    }

    /// The segments that are known by now, and still there.
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

    /// Whether that segment was in the playlist, and is not any more.
    func isGone(_ index: Int) -> Bool { playlist.isGone(index) }

    /// As `LivePlaylist.lose`.
    func lose(_ index: Int, after error: ByteSourceError) { playlist.lose(index, after: .source(error)) }

    /// A segment is needed that is gone.
    func fail() { playlist.fail(LivePlaylist.tooFar) }

    /// As `LivePlaylist.poll`.
    func poll() throws(ByteSourceError) { try playlist.poll() }

    /// As `LivePlaylist.whenLoaded`.
    func whenLoaded(_ wake: @escaping @Sendable () -> Void) { playlist.whenLoaded(wake) }
}
