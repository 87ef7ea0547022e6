import Media

/// A part of a live playlist, which one decoder plays: to the next discontinuity, or to where the initialization or the
/// keys of the samples are other ones. The last part grows, until another one follows.
///
/// Thread: the decoder thread.
struct LivePart: SegmentReferences {
    private let playlist: LivePlaylist
    private let place: Int

    init(_ place: Int, of playlist: LivePlaylist) {
        self.playlist = playlist
        self.place = place
    }

    /// What is known of it by now, and is still there.
    var list: SegmentList {
        let indices = playlist.indices(place)
        let segments = indices.compactMap { playlist.segment($0) }
        var list = SegmentList(segments: segments, isComplete: isComplete)
        list.firstIndex = indices.upperBound - segments.count
        return list
    }

    var initialization: ResourceReference? { list.initialization }
    var initializationProtections: [ContentProtection] { list.initializationProtections }
    var timeline: SegmentTimeline { playlist.timeline(place) }

    func segment(_ index: Int) -> SegmentReference? {
        playlist.indices(place).contains(index) ? playlist.segment(index) : nil
    }

    /// Whether no more segments will come.
    var isComplete: Bool { playlist.isComplete(place) }

    /// Whether that segment was in the playlist, and is not any more.
    func isGone(_ index: Int) -> Bool { playlist.isGone(index) }

    /// As `LivePlaylist.poll`.
    func poll() throws(ByteSourceError) { try playlist.poll() }

    /// As `LivePlaylist.whenLoaded`.
    func whenLoaded(_ wake: @escaping @Sendable () -> Void) { playlist.whenLoaded(wake) }
}

extension SegmentReference {
    /// Whether the decoder that has played `previous` can go on with this segment. Whole segments (AES-128) are
    /// decrypted before it, each with a key of its own.
    func continues(_ previous: SegmentReference) -> Bool {
        !isDiscontinuous && discontinuitySequence == previous.discontinuitySequence
            && initialization == previous.initialization && keysOfSamples == previous.keysOfSamples
    }

    private var keysOfSamples: [ContentProtection] {
        protections.filter { !$0.isOfWholeSegments }.map { key in
            var key = key
            // Without one in the playlist it is the segment's number. Samples have their own.
            key.initializationVector = nil
            return key
        }
    }
}

/// A segment of a live playlist that is not in it yet.
///
/// Thread: the decoder thread.
final class ComingSegment: ByteSource {
    private let index: Int
    private let live: LivePart
    private let open: (Int) throws(ByteSourceError) -> (any ByteSource)?
    private var source: (any ByteSource)?

    /// - Parameter open: gives the segment once it is in the part.
    init(_ index: Int, of live: LivePart, open: @escaping (Int) throws(ByteSourceError) -> (any ByteSource)?) {
        self.index = index
        self.live = live
        self.open = open
    }

    var length: Int64? { source?.length }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        if let source { return try source.read(into: buffer, at: offset) }
        try live.poll()
        guard live.segment(index) != nil, let opened = try open(index) else {
            return live.isComplete ? .end : .notYet
        }
        source = opened
        return try opened.read(into: buffer, at: offset)
    }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) {
        if let source { source.whenReadable(wake) } else { live.whenLoaded(wake) }
    }
}
