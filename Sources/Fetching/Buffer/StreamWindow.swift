import Media
import Network
import Platform

/// The bytes of a resource that have arrived and are still in memory.
///
/// Thread: any. The network's thread fills it, the reader's thread empties it.
/// `@unchecked Sendable` is safe because `lock` guards everything.
final class StreamWindow: ResourceReceiver, @unchecked Sendable {
    /// The number of bytes before the reader that stay in memory: parsers look back a little.
    private static let kept: Int64 = 64 << 10
    /// The number of bytes before the reader that stay in memory for a segment. A repeated step reads the segment again
    /// from where the step began.
    private static let keptOfSegment: Int64 = 4 << 20

    private let kept: Int64
    /// Whether measuring resumes after a pause. The rest of a file may have been stored on the medium meanwhile, and be
    /// read from there.
    private let measuresOn: Bool
    private let lock = Lock()
    private var buffer: BoundedBuffer
    private var arrivingVersion = ResourceVersion()
    private var head: (isOfStation: Bool, endsWithConnection: Bool) = (false, false)
    /// The offset at which the last read ended.
    private var readEnd: Int64
    private var meter: TransferMeter?
    private let observer: StreamProgress?

    /// - Parameters:
    ///   - offset: the offset of the first byte that arrives.
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
        readEnd = offset
        buffer = BoundedBuffer(from: offset, capacity: capacity)
    }

    /// The length of the whole resource; nil while unknown.
    var length: Int64? { version.length }

    /// The version of the bytes, as far as it is known.
    var version: ResourceVersion { lock.withLock { arrivingVersion } }

    /// Whether the bytes are the endless stream of a station.
    var isOfStation: Bool { lock.withLock { head.isOfStation } }

    /// Whether the transfer has ended with a connection that may have broken too early.
    var mayHaveRest: Bool {
        lock.withLock { if case .complete = buffer.progress { head.endsWithConnection } else { false } }
    }

    /// Whether nothing more will arrive.
    var isOver: Bool { lock.withLock { if case .arriving = buffer.progress { false } else { true } } }

    var hasFailed: Bool { failure != nil }

    /// The failure that ended the transfer; nil without one.
    var failure: ResourceFailure? {
        lock.withLock { if case .failed(let failure) = buffer.progress { failure } else { nil } }
    }

    /// Whether more arrives without a read.
    var isGrowing: Bool { lock.withLock { if case .arriving = buffer.progress { !buffer.isFull } else { false } } }

    /// The length of the resource when it has arrived completely; nil before.
    var finalCount: Int64? { lock.withLock { if case .complete = buffer.progress { buffer.end } else { nil } } }

    /// The offset after the last byte that has arrived.
    var arrivedEnd: Int64 { lock.withLock { buffer.end } }

    /// The number of bytes after the last read.
    var buffered: Int64 { lock.withLock { max(0, buffer.end - readEnd) } }

    /// Returns whether a read at `offset` succeeds now, or after at most `patience` more bytes have arrived.
    func mayReach(_ offset: Int64, patience: Int64) -> Bool {
        lock.withLock {
            guard offset >= buffer.start else { return false }
            switch buffer.progress {
            case .arriving: return offset - buffer.end <= patience
            case .complete: return offset <= buffer.end
            // A read after the last byte throws the failure.
            case .failed: return true
            }
        }
    }

    /// - Returns: the result, and whether the transfer has room to continue.
    func read(
        into memory: UnsafeMutableRawBufferPointer, at offset: Int64
    ) throws(ByteSourceError) -> (ByteRead, wantsMore: Bool) {
        try lock.withLock { () throws(ByteSourceError) in
            readEnd = offset
            buffer.read(at: offset, looksBack: kept)
            let wantsMore = takesMore(below: buffer.capacity / 2)
            if offset < buffer.end {
                let count = buffer.copy(into: memory, from: offset)
                readEnd += Int64(count)
                return (.bytes(count), wantsMore)
            }
            switch buffer.progress {
            case .arriving: return (.notYet, wantsMore)
            case .complete: return (.end, wantsMore)
            case .failed(let failure): throw failure.byteSourceError
            }
        }
    }

    /// Takes no more bytes until `release`.
    func hold() { lock.withLock { buffer.isHeld = true } }

    /// Takes bytes again.
    /// - Returns: whether the transfer is waiting for this.
    func release() -> Bool {
        lock.withLock {
            buffer.isHeld = false
            return takesMore(below: buffer.capacity)
        }
    }

    /// Increases the number of bytes that may be held.
    /// - Returns: whether the transfer is waiting for this.
    func widen(to capacity: Int) -> Bool {
        lock.withLock {
            buffer.capacity = capacity
            return takesMore(below: capacity)
        }
    }

    /// Under the lock.
    private func takesMore(below limit: Int) -> Bool {
        guard buffer.wantsMore(below: limit) else { return false }
        if measuresOn { meter?.resume() }
        return true
    }

    /// Calls `wake` as `ByteSource.whenReadable` does, for the offset of the last read.
    func whenReadable(_ wake: @escaping @Sendable () -> Void) {
        if !lock.withLock({ buffer.wait(wake) }) { wake() }
    }

    // MARK: From the network

    func began(_ head: ResponseHead, length: Int64?) {
        lock.withLock {
            arrivingVersion = ResourceVersion(head)
            self.head = (head.isOfStation, head.endsWithConnection)
            if head.isFromCache { meter = nil }
        }
    }

    func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        var waiting: (@Sendable () -> Void)?
        let answer = lock.withLock {
            let answer = buffer.append(bytes)
            if answer == .enough {
                meter?.end()
            } else {
                meter?.count(bytes.count)
                waiting = buffer.takeWake()
            }
            return answer
        }
        waiting?()
        observer?.arrived(.bytes)
        return answer
    }

    func ended(_ failure: ResourceFailure?) {
        let waiting: (@Sendable () -> Void)? = lock.withLock {
            buffer.finish(failure)
            if failure == nil { meter?.end() }
            return buffer.takeWake()
        }
        waiting?()
        observer?.arrived(.end)
    }
}
