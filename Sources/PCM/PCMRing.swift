import CLinux

/// The samples between the decoder thread and the audio thread: interleaved `Int32`, with markers where the format
/// changes or the audio ends. It has one producer and one consumer. Neither thread locks, waits or allocates after
/// `init`.
///
/// A position is the number of a sample (not of a frame) since the ring was made; it never wraps. Three cursors move
/// through the positions, in this order:
///
///     released     read by the device and heard; the producer may overwrite everything before it
///     read         the next sample for the device; `rewind` brings it back as far as `released`
///     write        the end of what the producer has committed
///
/// A marker takes up the positions from its own to the next multiple of 840 (at least one), which hold no samples. The
/// audio after a marker therefore begins at a multiple of 840, the least common multiple of 1 to 8. So does the end of
/// the memory, so that a frame of up to 8 channels is contiguous. A position also shows on which side of a marker it
/// is. `@unchecked Sendable` is safe because each position has one owner at a time, which the atomic cursors determine.
public final class PCMRing: @unchecked Sendable {
    /// A mark between samples.
    public enum Marker: Equatable, Sendable, BitwiseCopyable {
        /// The samples after this have another format.
        case format(PCMFormat)
        /// No audio follows for now: all samples should be heard.
        case end
    }

    /// A marker and the positions around it.
    public struct PlacedMarker: Equatable, Sendable, BitwiseCopyable {
        public let marker: Marker
        /// The position after the last sample before the marker.
        public let position: Int64
        /// The position of the first sample after the marker; more than `position`.
        public let resumption: Int64
    }

    /// Least common multiple of the channel counts 1 to 8.
    public static let alignment: Int64 = 840

    /// Samples that fit, a multiple of `alignment`.
    public let capacity: Int

    private let byteCount: Int
    private let samples: UnsafeMutablePointer<Int32>
    /// A marker is put before the write cursor passes it.
    private let markers: MarkerSlots

    /// Owned by the producer.
    private let writeCursor = Cursor()
    /// Owned by the consumer.
    private let readCursor = Cursor()
    /// Owned by the consumer.
    private let releasedCursor = Cursor()

    // Only for the consumer.
    private var markersPassed: Int64 = 0

    /// - Parameters:
    ///   - capacity: the size in samples, rounded up to a multiple of 840 and to at least two of them. Memory that is
    ///     never written is never taken from the system.
    ///   - markerCapacity: markers between the released and the write cursor, at least 1.
    public init(capacity: Int64, markerCapacity: Int = 64) throws(OutOfMemory) {
        let blocks = max(capacity / Self.alignment + (capacity % Self.alignment > 0 ? 1 : 0), 2)
        let byteCount = FrameCount.product(blocks, Self.alignment * Int64(MemoryLayout<Int32>.stride))
        let memory = try ZeroPages.map(byteCount: byteCount)
        // `byteCount` fits into an `Int`, or there would be no memory.
        self.byteCount = Int(byteCount)
        self.capacity = self.byteCount / MemoryLayout<Int32>.stride
        samples = memory.bindMemory(to: Int32.self, capacity: self.capacity)
        markers = MarkerSlots(capacity: max(markerCapacity, 1))
    }

    deinit { munmap(samples, byteCount) }

    private func offset(of position: Int64) -> Int { Int(position % Int64(capacity)) }
}

// MARK: - Producer

extension PCMRing {
    /// A producer that found the ring full may pause until this many samples are free: a wake-up for fewer is not worth
    /// it.
    public var refillSamples: Int { capacity / 4 }

    /// Samples that can be written before the consumer releases more. Producer's thread.
    public var freeSamples: Int { capacity - Int(writeCursor.owned() - releasedCursor.read()) }

    /// Whether all written samples have been heard. Producer's thread.
    public var isEmpty: Bool { freeSamples == capacity }

    /// The free memory from the write cursor on, up to the end of its contiguous part; empty when the ring is full. At
    /// the end of the memory whole frames fit; before samples that were not released, the last frame may be incomplete.
    /// Producer's thread; valid until the next `commit` or `put`.
    public func writableRegion() -> UnsafeMutableBufferPointer<Int32> {
        let offset = offset(of: writeCursor.owned())
        return UnsafeMutableBufferPointer(start: samples + offset, count: min(freeSamples, capacity - offset))
    }

    /// Passes the first `count` samples of the writable region to the consumer. Producer's thread.
    public func commit(_ count: Int) {
        precondition(count >= 0 && count <= freeSamples)
        writeCursor.publish(writeCursor.owned() + Int64(count))
    }

    /// The position of the next sample to write. Any thread.
    public var writePosition: Int64 { writeCursor.read() }

    /// Puts a marker after the samples committed so far. Producer's thread.
    /// - Returns: false, with nothing changed, when there is no room for the marker or for the positions that it takes.
    public func put(_ marker: Marker) -> Bool {
        let position = writeCursor.owned()
        let resumption = (position / Self.alignment + 1) * Self.alignment
        guard markers.hasRoom, Int(resumption - position) <= freeSamples else { return false }
        markers.put(PlacedMarker(marker: marker, position: position, resumption: resumption))
        writeCursor.publish(resumption)
        return true
    }
}

// MARK: - Consumer

extension PCMRing {
    /// Whether the producer may pause until more is released. Consumer's thread.
    public var isFullEnough: Bool {
        capacity - Int(writeCursor.read() - releasedCursor.owned()) < refillSamples
    }

    /// The next sample for the device. Any thread.
    public var readPosition: Int64 { readCursor.read() }

    /// The first position that `rewind` can return to. Any thread.
    public var releasedPosition: Int64 { releasedCursor.read() }

    /// The samples from the read cursor on that are contiguous in memory and before the next marker; may be empty.
    /// Consumer's thread; valid until the samples are released.
    public func readableRegion() -> UnsafeBufferPointer<Int32> {
        let position = readCursor.owned()
        // The write cursor must be read first: the markers before it are visible then.
        let written = writeCursor.read()
        let end = nextMarker(before: written)?.position ?? written
        let offset = offset(of: position)
        return UnsafeBufferPointer(start: samples + offset, count: min(Int(end - position), capacity - offset))
    }

    /// Moves the read cursor over the first `count` samples of the readable region. Consumer's thread.
    public func advance(_ count: Int) {
        precondition(count >= 0 && count <= readableRegion().count)
        readCursor.publish(readCursor.owned() + Int64(count))
    }

    /// The marker exactly at the read cursor. Consumer's thread.
    public var pendingMarker: PlacedMarker? {
        guard let next = nextMarker(before: writeCursor.read()), next.position == readCursor.owned() else { return nil }
        return next
    }

    /// Moves the read cursor to the audio after the pending marker. Consumer's thread.
    public func passMarker() {
        guard let marker = pendingMarker else { preconditionFailure("no marker at the read cursor") }
        markersPassed += 1
        readCursor.publish(marker.resumption)
    }

    /// Returns all samples before `position` to the producer, because they were heard. Consumer's thread.
    /// - Parameter position: at most the read cursor. A position inside a marker counts as the marker's own; one that
    ///   was released already changes nothing.
    public func release(upTo position: Int64) {
        precondition(position <= readCursor.owned())
        var heard = position
        var released = markers.releasedCount
        while released < markersPassed {
            let marker = markers[released]
            guard marker.resumption <= position else {
                heard = min(heard, marker.position)
                break
            }
            released += 1
        }
        guard heard > releasedCursor.owned() else { return }
        markers.release(released)
        releasedCursor.publish(heard)
    }

    /// Moves the read cursor back, so that samples are read again, and markers at or after `position` too. Consumer's
    /// thread.
    /// - Parameter position: from the released to the read cursor. A position inside a marker counts as the marker's
    ///   own.
    public func rewind(to position: Int64) {
        precondition(position >= releasedCursor.owned() && position <= readCursor.owned())
        var target = position
        while markersPassed > markers.releasedCount {
            let marker = markers[markersPassed - 1]
            guard marker.resumption > position else { break }
            target = min(target, marker.position)
            markersPassed -= 1
        }
        readCursor.publish(target)
    }

    /// The first marker that was not passed, if it is completely before `written`.
    private func nextMarker(before written: Int64) -> PlacedMarker? {
        guard markersPassed < markers.putCount else { return nil }
        let next = markers[markersPassed]
        return next.resumption <= written ? next : nil
    }
}
