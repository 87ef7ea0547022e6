import Media
import Network
import Platform

/// The bytes of a resource that have arrived and are still in memory.
///
/// Thread: any. The network's thread fills it, the reader's thread empties it.
/// `@unchecked Sendable` is safe because `lock` guards everything.
final class StreamWindow: ResourceReceiver, @unchecked Sendable {
    private enum Progress {
        case arriving
        case complete
        case failed(ResourceFailure)
    }

    /// The number of bytes before the reader that stay in memory: parsers look back a little.
    private static let kept: Int64 = 64 << 10
    /// The same number for a segment. A repeated step reads the segment again from where the step began.
    private static let keptOfSegment: Int64 = 4 << 20

    private let kept: Int64
    /// Whether measuring resumes after a pause. The rest of a file may have been stored on the medium meanwhile, and be
    /// read from there.
    private let measuresOn: Bool
    private var capacity: Int
    private let lock = Lock()
    private var pieces: [[UInt8]] = []
    /// The offset of the first byte in `pieces`.
    private var start: Int64
    /// The offset after the last byte that has arrived.
    private var end: Int64
    private var progress = Progress.arriving
    private var arrivingVersion = ResourceVersion()
    /// Whether the transfer waits for room.
    private var isFull = false
    /// Whether the reader looks elsewhere in the resource, and may come back.
    private var isHeld = false
    /// The offset at which the last read began.
    private var position: Int64
    /// The offset at which the last read ended.
    private var readEnd: Int64
    private var wake: (@Sendable () -> Void)?
    private var meter: TransferMeter?
    private let observer: StreamProgress?

    /// - Parameters:
    ///   - offset: of the first byte that arrives.
    ///   - capacity: the maximum number of bytes held after the reader's offset; the last arrival may exceed it.
    ///   - observer: is notified when bytes arrive.
    ///   - throughput: receives measurements; nil to measure nothing.
    ///   - isSegment: whether the resource is one of many segments, not a file.
    init(
        from offset: Int64, capacity: Int, _ observer: StreamProgress? = nil, _ throughput: Throughput? = nil,
        isSegment: Bool = false
    ) {
        self.observer = observer
        kept = isSegment ? Self.keptOfSegment : Self.kept
        measuresOn = isSegment
        meter = throughput.map { TransferMeter($0) }
        start = offset
        end = offset
        position = offset
        readEnd = offset
        self.capacity = capacity
    }

    /// The length of the whole resource; nil while unknown.
    var length: Int64? { version.length }

    /// The version of the bytes, as far as it is known.
    var version: ResourceVersion { lock.withLock { arrivingVersion } }

    /// Whether nothing more will arrive.
    var isOver: Bool { lock.withLock { if case .arriving = progress { false } else { true } } }

    var hasFailed: Bool { failure != nil }

    /// The failure that ended the transfer; nil without one.
    var failure: ResourceFailure? { lock.withLock { if case .failed(let failure) = progress { failure } else { nil } } }

    /// Whether more arrives without a read.
    var isGrowing: Bool { lock.withLock { if case .arriving = progress { !isFull } else { false } } }

    /// The length of the resource when it has arrived completely; nil before.
    var finalCount: Int64? { lock.withLock { if case .complete = progress { end } else { nil } } }

    /// The offset after the last byte that has arrived.
    var arrivedEnd: Int64 { lock.withLock { end } }

    /// The number of bytes after the last read.
    var buffered: Int64 { lock.withLock { max(0, end - readEnd) } }

    /// Returns whether a read at `offset` succeeds now, or after at most `patience` more bytes have arrived.
    func mayReach(_ offset: Int64, patience: Int64) -> Bool {
        lock.withLock {
            guard offset >= start else { return false }
            switch progress {
            case .arriving: return offset - end <= patience
            case .complete: return offset <= end
            // A read after the last byte throws the failure.
            case .failed: return true
            }
        }
    }

    /// - Returns: the result, and whether the transfer has room to continue.
    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
    ) throws(ByteSourceError) -> (ByteRead, wantsMore: Bool) {
        try lock.withLock { () throws(ByteSourceError) in
            position = offset
            readEnd = offset
            drop(before: offset - kept)
            var wantsMore = false
            if isFull, !isHeld, end - max(offset, start) < Int64(capacity / 2) {
                isFull = false
                wantsMore = true
                if measuresOn { meter?.resume() }
            }
            if offset < end {
                let count = copy(into: buffer, from: offset)
                readEnd += Int64(count)
                return (.bytes(count), wantsMore)
            }
            switch progress {
            case .arriving: return (.notYet, wantsMore)
            case .complete: return (.end, wantsMore)
            case .failed(let failure): throw failure.byteSourceError
            }
        }
    }

    /// Takes no more bytes until `release`.
    func hold() { lock.withLock { isHeld = true } }

    /// Takes bytes again.
    /// - Returns: whether the transfer is waiting for this.
    func release() -> Bool {
        lock.withLock {
            isHeld = false
            return takesMore()
        }
    }

    /// Increases the number of bytes that may be held.
    /// - Returns: whether the transfer is waiting for this.
    func widen(to capacity: Int) -> Bool {
        lock.withLock {
            self.capacity = capacity
            return takesMore()
        }
    }

    private func takesMore() -> Bool {
        guard isFull, !isHeld, end - max(start, position) < Int64(capacity) else { return false }
        isFull = false
        if measuresOn { meter?.resume() }
        return true
    }

    /// Calls `wake` as `ByteSource.whenReadable` does, for the offset of the last read.
    func whenReadable(_ wake: @escaping @Sendable () -> Void) {
        let isReadable = lock.withLock {
            if case .arriving = progress, position >= end {
                self.wake = wake
                return false
            }
            return true
        }
        if isReadable { wake() }
    }

    private func drop(before offset: Int64) {
        var count = 0
        while count < pieces.count, start + Int64(pieces[count].count) <= offset {
            start += Int64(pieces[count].count)
            count += 1
        }
        if count > 0 { pieces.removeFirst(count) }
    }

    private func copy(into buffer: UnsafeMutableRawBufferPointer, from offset: Int64) -> Int {
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

    // MARK: From the network

    func began(_ head: ResponseHead, length: Int64?) {
        lock.withLock {
            arrivingVersion = ResourceVersion(head)
            if head.isFromCache { meter = nil }
        }
    }

    func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        var waiting: (@Sendable () -> Void)?
        let answer: SinkAnswer = lock.withLock {
            // Bytes before the reader's offset do not count.
            if isHeld || end - max(start, position) >= Int64(capacity) {
                isFull = true
                meter?.end()
                return .enough
            }
            pieces.append(copiedBytes(bytes))
            end += Int64(bytes.count)
            meter?.count(bytes.count)
            if position < end { waiting = takeWake() }
            return .more
        }
        waiting?()
        observer?.arrived(.bytes)
        return answer
    }

    func ended(_ failure: ResourceFailure?) {
        let waiting: (@Sendable () -> Void)? = lock.withLock {
            progress = if let failure { .failed(failure) } else { .complete }
            if failure == nil { meter?.end() }
            return takeWake()
        }
        waiting?()
        observer?.arrived(.end)
    }

    private func takeWake() -> (@Sendable () -> Void)? {
        defer { wake = nil }
        return wake
    }
}
