import PCM

/// Maps frames of the device to positions in streams: which sample of which stream is heard after the device has played
/// a number of frames. Arithmetic only.
///
/// Thread: the audio thread. Does not allocate after `init`.
struct HeardTimeline {
    /// Consecutive frames of one format in one stream.
    struct Run: BitwiseCopyable {
        var stream: Unmanaged<PCMStream>
        var streamID: UInt64
        var format: PCMFormat
        /// Position of the run's first sample in the ring.
        var ringStart: Int64
        /// Position of the run's first frame in the product, in nanoseconds.
        var mediaStart: Int64

        init(stream: Unmanaged<PCMStream>, streamID: UInt64, format: PCMFormat, ringStart: Int64, mediaStart: Int64) {
            self.stream = stream
            self.streamID = streamID
            self.format = format
            self.ringStart = ringStart
            self.mediaStart = mediaStart
        }

        /// The first run of `stream`.
        init(firstOf stream: Unmanaged<PCMStream>) {
            self = stream._withUnsafeGuaranteedRef {
                Self(stream: stream, streamID: $0.id, format: $0.format, ringStart: 0, mediaStart: $0.startPosition)
            }
        }

        var ring: PCMRing { stream._withUnsafeGuaranteedRef { $0.ring } }

        /// Whether the next frame to read is the first one of the product.
        var isAtStart: Bool { mediaStart == 0 && ring.readPosition == ringStart }

        /// Position of the frame at `ringPosition` in the product, in nanoseconds.
        func media(at ringPosition: Int64) -> Int64 {
            let frames = (ringPosition - ringStart) / Int64(format.channelCount)
            let rate = Int64(format.sampleRate)
            return mediaStart + frames / rate * 1_000_000_000 + frames % rate * 1_000_000_000 / rate
        }
    }

    /// A run, from its first frame that was written to the device.
    struct Segment: BitwiseCopyable {
        /// Frames written to the device before this segment.
        var deviceStart: Int64
        /// Position of the segment's first sample in the ring.
        var ringStart: Int64
        var run: Run
    }

    static let capacity = 32
    /// Segments that are not completely heard, in a circular buffer from `first` on. An inline array, because an
    /// `Array` would allocate in a build without optimisation.
    private var segments = InlineArray<32, Segment?>(repeating: nil)
    private var first = 0
    private(set) var segmentCount = 0
    /// Frames written to the device since the last `clear`.
    private(set) var written: Int64 = 0
    /// The number of written frames that were heard, as last reported.
    private(set) var heard: Int64 = 0

    /// Whether no other segment fits before one was heard. This happens with very short runs.
    var isFull: Bool { segmentCount == Self.capacity }
    /// Frames written and not heard yet.
    var unheard: Int64 { written - heard }
    /// The segment that is heard now.
    var current: Segment? { segmentCount > 0 ? segments[first] : nil }

    /// Begins a new run with the next written frame. Must not be called when the timeline is full.
    mutating func begin(_ run: Run, at ringPosition: Int64) {
        precondition(!isFull)
        segments[slot(segmentCount)] = Segment(deviceStart: written, ringStart: ringPosition, run: run)
        segmentCount += 1
    }

    mutating func wrote(_ frames: Int) { written += Int64(frames) }

    /// Applies the delay that the device reports. Never moves backwards, or beyond the written frames.
    /// - Returns: whether more was heard than before.
    mutating func update(delayFrames: Int) -> Bool {
        let before = heard
        heard = min(written, max(heard, written - Int64(delayFrames)))
        return heard > before
    }

    /// Moves to the next segment when its first frame was heard.
    /// - Returns: that segment, or nil while the current one is heard.
    mutating func advance() -> Segment? {
        guard segmentCount > 1, let next = segments[slot(1)], next.deviceStart < heard else { return nil }
        first = slot(1)
        segmentCount -= 1
        return next
    }

    /// Frames to be heard until `advance` moves to the next segment; nil without one.
    var framesToNextSegment: Int64? {
        guard segmentCount > 1, let next = segments[slot(1)] else { return nil }
        return max(0, next.deviceStart - heard) + 1
    }

    /// Position in the ring of the next sample to be heard; it is in the current segment.
    var heardRingPosition: Int64? {
        guard let current else { return nil }
        return current.ringStart + (heard - current.deviceStart) * Int64(current.run.format.channelCount)
    }

    /// Starts counting at 0 again, because the device is silent.
    mutating func clear() {
        segmentCount = 0
        written = 0
        heard = 0
    }

    private func slot(_ index: Int) -> Int { (first + index) % Self.capacity }
}
