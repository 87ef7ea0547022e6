import Network
import Platform

/// Bytes of a resource that wait in memory for a reader: at most a number of them, so that the server waits when the
/// reader does.
///
///     var buffer = BoundedBuffer(from: 0, capacity: 1 << 20)
///     buffer.append(bytes)                 // .more: taken
///     buffer.append(bytes)                 // .enough, once a megabyte waits
///     buffer.read(at: 0, looksBack: 0)     // The reader is at byte 0,
///     buffer.copy(into: memory, from: 0)   // and reads.
///     buffer.wantsMore(below: 1 << 19)     // true once half of the buffer is free: resume the transfer
///
/// A value: the owner serialises calls, and calls `takeWake` after `append` and `finish`.
package struct BoundedBuffer {
    package enum Progress {
        case arriving
        case complete
        case failed(ResourceFailure)
    }

    /// The number of waiting bytes that are worth waking the reader for.
    private let worthWaking: Int
    /// The maximum number of bytes after the reader's offset; the last arrival may exceed it.
    var capacity: Int
    /// Whether the buffer takes no more bytes, even if it has room.
    var isHeld = false
    private var pieces: [[UInt8]] = []
    /// The offset of the first byte that is still there.
    private(set) var start: Int64
    /// The offset after the last byte that has arrived.
    private(set) var end: Int64
    /// The offset at which the last read began. Bytes before it do not count as waiting.
    private(set) var position: Int64
    /// Whether the transfer waits for room.
    private(set) var isFull = false
    package private(set) var progress = Progress.arriving
    /// Wakes the reader; nil while it does not wait.
    private var wake: (@Sendable () -> Void)?

    /// - Parameters:
    ///   - offset: the offset of the first byte that arrives.
    ///   - capacity: the maximum number of bytes after the reader's offset.
    ///   - worthWaking: the number of waiting bytes that wake the reader. The end always wakes it.
    package init(from offset: Int64, capacity: Int, worthWaking: Int = 1) {
        (start, end, position) = (offset, offset, offset)
        (self.capacity, self.worthWaking) = (capacity, worthWaking)
    }

    /// The number of bytes that wait for the reader.
    private var waiting: Int64 { end - max(start, position) }

    // MARK: From the network

    /// Takes bytes, unless the buffer is full.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        if isHeld || waiting >= Int64(capacity) {
            isFull = true
            return .enough
        }
        pieces.append(copiedBytes(bytes))
        end += Int64(bytes.count)
        return .more
    }

    /// Notes that nothing more arrives; nil when everything has arrived.
    package mutating func finish(_ failure: ResourceFailure?) { progress = failure.map { .failed($0) } ?? .complete }

    /// Returns the reader's wake-up once, when enough bytes wait or nothing more arrives.
    package mutating func takeWake() -> (@Sendable () -> Void)? {
        if case .arriving = progress, end - position < Int64(worthWaking) { return nil }
        defer { wake = nil }
        return wake
    }

    // MARK: For the reader

    /// Moves the reader, and forgets the bytes that are more than `looksBack` before it.
    package mutating func read(at offset: Int64, looksBack: Int64) {
        position = offset
        var count = 0
        while count < pieces.count, start + Int64(pieces[count].count) <= offset - looksBack {
            start += Int64(pieces[count].count)
            count += 1
        }
        if count > 0 { pieces.removeFirst(count) }
    }

    /// Copies bytes that are there.
    /// - Parameter offset: from `start` to `end`.
    /// - Returns: the number of bytes.
    func copy(into buffer: UnsafeMutableRawBufferPointer, from offset: Int64) -> Int {
        var skip = Int(offset - start)
        var done = 0
        for piece in pieces {
            if skip >= piece.count {
                skip -= piece.count
                continue
            }
            let count = min(piece.count - skip, buffer.count - done)
            piece.withUnsafeBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: buffer[done...]).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: bytes[skip..<skip + count]))
            }
            done += count
            skip = 0
            if done == buffer.count { break }
        }
        return done
    }

    /// Removes and returns all bytes, in the pieces in which they have arrived. Moves the reader after them.
    package mutating func takeAll() -> [[UInt8]] {
        defer { (pieces, start, position) = ([], end, end) }
        return pieces
    }

    /// Returns whether the transfer waits and is to be resumed, because fewer than `limit` bytes wait.
    package mutating func wantsMore(below limit: Int) -> Bool {
        guard isFull, !isHeld, waiting < Int64(limit) else { return false }
        isFull = false
        return true
    }

    /// Stores the reader's wake-up for the next bytes.
    /// - Returns: false when the reader need not wait: bytes wait for it, or nothing more arrives.
    package mutating func wait(_ wake: @escaping @Sendable () -> Void) -> Bool {
        guard case .arriving = progress, position >= end else { return false }
        self.wake = wake
        return true
    }
}
