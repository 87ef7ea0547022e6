import PCM

/// What is read and what is heard: takes frames out of the streams' rings for a device that somebody else drives, keeps
/// account of what that device has played, and tells control of the boundaries.
///
/// Frames that were written stay in their ring until they were heard. So a pause, a lost device or a changed queue
/// drops what is unheard and goes back to the exact sample (`goBack`).
///
/// Thread: the audio thread. Nothing allocates after `init`.
struct PlayHead {
    /// Frames to be written next, whole or the first of them.
    struct Piece {
        var samples: UnsafePointer<Int32>
        var frames: Int
        var format: PCMFormat
        var entrance: Entrance
        var gain: Gain
        /// The gain holds exactly from the first of these frames on; otherwise a change is ramped.
        var switchesGain: Bool
    }

    /// What comes before the frames that are read next.
    enum Entrance {
        /// Frames that they follow without a gap.
        case none
        /// Silence, and they are the start of a track.
        case start
        /// Silence, and they are in the middle of a track.
        case middle
    }

    enum Reading {
        case frames(Piece)
        /// The producer is behind.
        case nothingYet
        /// So many boundaries are unheard that no other can be taken.
        case tooManyBoundaries
        /// The stream has ended, or goes on in another format: what was written has to be heard out first. Then
        /// `passBoundary`.
        case boundary
    }

    /// Events that one step of `RenderLoop` may bring, beside one for each segment of the timeline.
    private static let eventsOfAStep = 8

    private let channel: RendererChannel
    private var timeline = HeardTimeline()

    /// The run that is read. Ahead of `timeline.current` while its first frames are unheard.
    private var reading: HeardTimeline.Run?
    /// Whether `reading` has a segment on the timeline yet.
    private var isOnTimeline = false
    /// Whether the next frame is the first of a stream, or the first after a silence.
    private var switchesGain = true
    private var entrance = Entrance.start
    private var next: Unmanaged<PCMStream>?
    /// While nothing of `reading`'s stream was heard and it follows another one: that one's last run, read to its end.
    private var followed: HeardTimeline.Run?
    /// The stream that control believes to be playing.
    private var announcedStream: UInt64 = 0
    private var announcedFormat: PCMFormat?

    init(channel: RendererChannel) { self.channel = channel }

    /// The format of the frames that are read next; nil without a stream.
    var format: PCMFormat? { reading?.format }
    /// The stream that is read next; 0 without one.
    var stream: UInt64 { reading?.streamID ?? 0 }
    /// Frames written since the device was silent.
    var written: Int64 { timeline.written }
    /// Frames of these that were not heard yet.
    var unheard: Int64 { timeline.unheard }
    /// Frames until the first one behind a boundary is heard; nil when none was written.
    var framesToBoundary: Int64? { timeline.framesToNextSegment }
    /// Whether a stream is read that control does not know to be playing, as nothing of it was heard.
    var hasJoined: Bool { followed != nil }
    /// Whether the events that the next step may bring fit into their queue.
    var canReport: Bool { freeEvents > Self.eventsOfAStep }
    /// Whether a boundary can be taken, with all events that it will bring later.
    private var canBegin: Bool { !timeline.isFull && freeEvents > 2 * Self.eventsOfAStep }
    private var freeEvents: Int { channel.events.freeCapacity - timeline.segmentCount }

    /// Whether something can be read or passed right now.
    var hasMore: Bool { reading.map { !$0.ring.readableRegion().isEmpty || $0.ring.pendingMarker != nil } ?? false }
    /// Whether the stream's producer may be resting, as its ring is full enough: no more comes before something of it
    /// was heard.
    var isRingFull: Bool { reading?.ring.isFullEnough ?? false }
    /// Whether an end or a format marker comes before the next frame.
    var isAtBoundary: Bool { reading.map { $0.ring.pendingMarker != nil } ?? false }

    // MARK: Which streams; only when nothing is unheard, but for `follow` without a joined stream

    mutating func begin(_ stream: Unmanaged<PCMStream>) {
        unjoin()
        let run = HeardTimeline.Run(firstOf: stream)
        reading = run
        entrance = run.mediaStart == 0 ? .start : .middle
        announcedStream = run.streamID
        announcedFormat = run.format
        publishPosition()
    }

    /// What follows the stream that plays, in the place of one that was joined.
    mutating func follow(_ stream: Unmanaged<PCMStream>?) {
        unjoin()
        next = stream
    }

    mutating func clear() {
        reading = nil
        next = nil
        followed = nil
    }

    /// The device cannot play what is read. A stream that followed another one is dropped; the other one stays, at its
    /// end.
    /// - Returns: the stream.
    mutating func refuse() -> UInt64 {
        let refused = reading?.streamID ?? 0
        if followed == nil { reading = nil }
        unjoin()
        next = nil
        return refused
    }

    /// A joined stream becomes the next one again, from its start.
    private mutating func unjoin() {
        guard let followed, let reading else { return }
        reading.ring.rewind(to: reading.ring.releasedPosition)
        next = reading.stream
        self.reading = followed
        self.followed = nil
    }

    // MARK: Reading

    /// What can be written next, passing the boundaries behind which the same device can go on.
    /// - Parameters:
    ///   - room: frames, at least 1.
    ///   - joins: whether the device can go on with frames of this format.
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
            guard let following = self.run(behind: marker, run), joins(following.format) else { return .boundary }
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

    /// Reads on behind the marker that was come to.
    /// - Returns: false when the stream has ended and nothing follows it.
    mutating func passBoundary() -> Bool {
        guard let run = reading, let marker = run.ring.pendingMarker, let following = self.run(behind: marker, run)
        else { return false }
        if case .end = marker.marker {
            // Not passed: here it goes on should the following stream be taken back.
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

    private func run(behind marker: PCMRing.PlacedMarker, _ run: HeardTimeline.Run) -> HeardTimeline.Run? {
        switch marker.marker {
        case .format(let format):
            HeardTimeline.Run(
                stream: run.stream, streamID: run.streamID, format: format, ringStart: marker.resumption,
                mediaStart: run.media(at: marker.position))
        case .end:
            next.map { HeardTimeline.Run(firstOf: $0) }
        }
    }

    /// The stream has ended and nothing follows it.
    /// - Returns: the stream.
    mutating func end() -> UInt64 {
        // It may have had no frames.
        if let reading { announce(reading) }
        publishPosition()
        reading = nil
        return announcedStream
    }

    // MARK: What was heard

    /// Takes what the device says, tells control of boundaries, and gives the rings back what will not be read again.
    /// - Returns: whether more was heard than before.
    mutating func update(delayFrames: Int) -> Bool {
        let hasMoved = timeline.update(delayFrames: delayFrames)
        announceHeard()
        releaseHeard()
        publishPosition()
        return hasMoved
    }

    /// Everything written was heard, and the device is silent.
    /// - Parameter entrance: of the frames that are read next.
    /// - Returns: whether more was heard than before.
    mutating func finish(_ entrance: Entrance) -> Bool {
        let hasMoved = update(delayFrames: 0)
        startAgain(entrance)
        return hasMoved
    }

    /// The device is silent: what was written and not heard will be read again.
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
        // Of a stream that was not heard at all everything has to stay, even a marker before its first frame.
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
        // What control believes to be playing stays where it ended until something else is heard.
        guard run.streamID == announcedStream else { return }
        let position = RenderPosition(stream: run.streamID, nanoseconds: run.media(at: ringPosition))
        channel.position.publish(position)
    }
}
