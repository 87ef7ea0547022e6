import PCM

/// Reads frames from the streams' rings for a device, keeps track of the frames that were heard, and reports boundaries
/// to control. `RenderLoop` drives the device.
///
/// Written frames stay in their ring until they are heard. After a pause, a lost device or a changed queue, the unheard
/// frames are dropped and read again from the exact sample (`goBack`).
///
/// Thread: the audio thread. Does not allocate after `init`.
struct PlayHead {
    /// The next frames to write. A writer may take only the first ones.
    struct Piece {
        var samples: UnsafePointer<Int32>
        var frames: Int
        var format: PCMFormat
        var entrance: Entrance
        var gain: Gain
        /// Whether the gain applies exactly from the first of these frames on; otherwise a change is ramped.
        var switchesGain: Bool
    }

    /// The sound before the next frames.
    enum Entrance {
        /// Other frames come directly before them.
        case none
        /// Silence comes before them, and they are the start of a track.
        case start
        /// Silence comes before them, and they are in the middle of a track.
        case middle
    }

    enum Reading {
        case frames(Piece)
        /// The producer is late.
        case nothingYet
        /// Too many boundaries are unheard, so that no other fits.
        case tooManyBoundaries
        /// The stream has ended, or continues in another format: the written frames have to be heard first. Then call
        /// `passBoundary`.
        case boundary
    }

    /// Events that one step of `RenderLoop` may cause, in addition to one for each segment of the timeline.
    private static let eventsOfAStep = 8

    private let channel: RendererChannel
    private var timeline = HeardTimeline()

    /// The run to read. It comes after `timeline.current` while its first frames are unheard.
    private var reading: HeardTimeline.Run?
    /// Whether `reading` has a segment on the timeline yet.
    private var isOnTimeline = false
    /// Whether the next frame is the first of a stream, or the first after a silence.
    private var switchesGain = true
    private var entrance = Entrance.start
    private var next: Unmanaged<PCMStream>?
    /// The last run of the previous stream, read to its end, while nothing of `reading`'s stream was heard.
    private var followed: HeardTimeline.Run?
    /// The stream that control counts as playing.
    private var announcedStream: UInt64 = 0
    private var announcedFormat: PCMFormat?

    init(channel: RendererChannel) { self.channel = channel }

    /// The format of the next frames to read; nil without a stream.
    var format: PCMFormat? { reading?.format }
    /// The stream to read next; 0 without one.
    var stream: UInt64 { reading?.streamID ?? 0 }
    /// Frames written since the device was silent.
    var written: Int64 { timeline.written }
    /// Frames of these that were not heard yet.
    var unheard: Int64 { timeline.unheard }
    /// Frames until the first one after a boundary is heard; nil when none was written.
    var framesToBoundary: Int64? { timeline.framesToNextSegment }
    /// Whether the stream that is read is not yet the one that control counts as playing, because none of its frames
    /// was heard.
    var hasJoined: Bool { followed != nil }
    /// Whether the events of the next step fit into their queue.
    var canReport: Bool { freeEvents > Self.eventsOfAStep }
    /// Whether another boundary fits, with all its later events.
    private var canBegin: Bool { !timeline.isFull && freeEvents > 2 * Self.eventsOfAStep }
    private var freeEvents: Int { channel.events.freeCapacity - timeline.segmentCount }

    /// Whether something can be read or passed now.
    var hasMore: Bool { reading.map { !$0.ring.readableRegion().isEmpty || $0.ring.pendingMarker != nil } ?? false }
    /// Whether the stream's producer may pause because its ring is full enough. There is no more room until frames were
    /// heard.
    var isRingFull: Bool { reading?.ring.isFullEnough ?? false }
    /// Whether an end or a format marker comes before the next frame.
    var isAtBoundary: Bool { reading.map { $0.ring.pendingMarker != nil } ?? false }

    // MARK: Streams; only when nothing is unheard, except for `follow` without a joined stream

    mutating func begin(_ stream: Unmanaged<PCMStream>) {
        unjoin()
        let run = HeardTimeline.Run(firstOf: stream)
        reading = run
        entrance = run.mediaStart == 0 ? .start : .middle
        announcedStream = run.streamID
        announcedFormat = run.format
        publishPosition()
    }

    /// Sets the stream that follows the current one. Replaces a joined stream.
    mutating func follow(_ stream: Unmanaged<PCMStream>?) {
        unjoin()
        next = stream
    }

    mutating func clear() {
        reading = nil
        next = nil
        followed = nil
    }

    /// The device cannot play the current stream. If it followed another one it is dropped, and the other one stays, at
    /// its end.
    /// - Returns: the stream.
    mutating func refuse() -> UInt64 {
        let refused = reading?.streamID ?? 0
        if followed == nil { reading = nil }
        unjoin()
        next = nil
        return refused
    }

    /// Makes a joined stream the next one again, from its start.
    private mutating func unjoin() {
        guard let followed, let reading else { return }
        reading.ring.rewind(to: reading.ring.releasedPosition)
        next = reading.stream
        self.reading = followed
        self.followed = nil
    }

    // MARK: Reading

    /// The next frames to write. Passes boundaries when the same device can continue after them.
    /// - Parameters:
    ///   - room: the room in frames, at least 1.
    ///   - joins: whether the device can continue with frames of this format.
    mutating func read(upTo room: Int, where joins: (PCMFormat) -> Bool) -> Reading {
        while let run = reading {
            let region = run.ring.readableRegion()
            let frames = min(room, region.count / run.format.channelCount)
            if frames > 0, let samples = region.baseAddress {
                guard isOnTimeline || canBegin else { return .tooManyBoundaries }
                let gain = run.stream._withUnsafeGuaranteedRef { $0.gain }
                return .frames(
                    Piece(
                        samples: samples, frames: frames, format: run.format, entrance: entrance, gain: gain,
                        switchesGain: switchesGain))
            }
            guard let marker = run.ring.pendingMarker else { return .nothingYet }
            guard let following = self.run(after: marker, run), joins(following.format) else { return .boundary }
            _ = passBoundary()
        }
        return .boundary
    }

    /// The first `frames` frames of the last piece were written to the device.
    mutating func wrote(_ frames: Int) {
        guard let reading else { return }
        if !isOnTimeline { timeline.begin(reading, at: reading.ring.readPosition) }
        isOnTimeline = true
        switchesGain = false
        entrance = .none
        timeline.wrote(frames)
        reading.ring.advance(frames * reading.format.channelCount)
    }

    /// Continues after the current marker.
    /// - Returns: false when the stream has ended and nothing follows it.
    mutating func passBoundary() -> Bool {
        guard let run = reading, let marker = run.ring.pendingMarker, let following = self.run(after: marker, run)
        else { return false }
        if case .end = marker.marker {
            // The marker is not passed: reading continues here if the following stream is replaced.
            followed = run
            next = nil
            switchesGain = true
            if entrance == .middle { entrance = .start }
        } else {
            run.ring.passMarker()
        }
        reading = following
        isOnTimeline = false
        return true
    }

    private func run(after marker: PCMRing.PlacedMarker, _ run: HeardTimeline.Run) -> HeardTimeline.Run? {
        switch marker.marker {
        case .format(let format):
            HeardTimeline.Run(
                stream: run.stream, streamID: run.streamID, format: format, ringStart: marker.resumption,
                mediaStart: run.media(at: marker.position))
        case .end:
            next.map { HeardTimeline.Run(firstOf: $0) }
        }
    }

    /// Ends the stream, because nothing follows it.
    /// - Returns: the stream.
    mutating func end() -> UInt64 {
        // Announces the stream, which may have had no frames.
        if let reading { announce(reading) }
        publishPosition()
        reading = nil
        return announcedStream
    }

    // MARK: Heard frames

    /// Applies the delay that the device reports, reports boundaries to control, and frees the parts of the rings that
    /// will not be read again.
    /// - Returns: whether more was heard than before.
    mutating func update(delayFrames: Int) -> Bool {
        let hasMoved = timeline.update(delayFrames: delayFrames)
        announceHeard()
        releaseHeard()
        publishPosition()
        return hasMoved
    }

    /// Notes that all written frames were heard, and that the device is silent.
    /// - Parameter entrance: the sound before the next frames.
    /// - Returns: whether more was heard than before.
    mutating func finish(_ entrance: Entrance) -> Bool {
        let hasMoved = update(delayFrames: 0)
        startAgain(entrance)
        return hasMoved
    }

    /// Returns to the first unheard frame, because the device is silent. Written frames that were not heard are read
    /// again.
    mutating func goBack() {
        if let position = timeline.heardRingPosition, let current = timeline.current {
            if reading?.streamID != current.run.streamID { unjoin() }
            current.run.ring.rewind(to: position)
            reading = current.run
        }
        startAgain(timeline.written == 0 ? entrance : reading?.isAtStart ?? true ? .start : .middle)
        publishPosition()
    }

    private mutating func startAgain(_ entrance: Entrance) {
        self.entrance = entrance
        timeline.clear()
        isOnTimeline = false
        switchesGain = true
    }

    private func releaseHeard() {
        // All samples of a stream that was not heard at all have to stay, even a marker before its first frame.
        guard let position = timeline.heardRingPosition, let current = timeline.current,
            timeline.heard > current.deviceStart
        else { return }
        current.run.ring.release(upTo: position)
    }

    private mutating func announceHeard() {
        if let first = timeline.current, timeline.heard > first.deviceStart { announce(first.run) }
        while let segment = timeline.advance() { announce(segment.run) }
    }

    private mutating func announce(_ run: HeardTimeline.Run) {
        if run.streamID != announcedStream {
            channel.post(.heard(stream: run.streamID))
            followed = nil
        } else if run.format != announcedFormat {
            channel.post(.formatHeard(stream: run.streamID, format: run.format))
        }
        announcedStream = run.streamID
        announcedFormat = run.format
    }

    private func publishPosition() {
        let (run, ringPosition): (HeardTimeline.Run, Int64)
        if let current = timeline.current, let position = timeline.heardRingPosition {
            (run, ringPosition) = (current.run, position)
        } else if let reading {
            (run, ringPosition) = (reading, reading.ring.readPosition)
        } else {
            return
        }
        // The stream that control counts as playing stays at its end until another one is heard.
        guard run.streamID == announcedStream else { return }
        let position = RenderPosition(stream: run.streamID, nanoseconds: run.media(at: ringPosition))
        channel.position.publish(position)
    }
}
