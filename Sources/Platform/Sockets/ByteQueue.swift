/// Bytes that wait between two sides of a transfer, in the order of their arrival. Its memory never grows.
///
///     var queue = ByteQueue(capacity: 4096)
///     queue.added(read(descriptor, queue.room()))
///     queue.removed(write(descriptor, queue.bytes))
///
/// Thread: one at a time.
public struct ByteQueue: ~Copyable {
    private let storage: UnsafeMutableRawBufferPointer
    private var start = 0
    private var end = 0

    public init(capacity: Int) {
        storage = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { storage.deallocate() }

    public var isEmpty: Bool { start == end }
    public var isFull: Bool { end - start == storage.count }

    /// All waiting bytes; valid until the next change.
    public var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: storage[start..<end]) }

    /// The memory for the next bytes; valid until the next change. It is empty only when the queue is full.
    public mutating func room() -> UnsafeMutableRawBufferPointer {
        if start == end {
            (start, end) = (0, 0)
        } else if end == storage.count {
            let count = end - start
            storage.copyMemory(from: bytes)
            (start, end) = (0, count)
        }
        return UnsafeMutableRawBufferPointer(rebasing: storage[end...])
    }

    /// Counts the first bytes of `room` as waiting bytes.
    public mutating func added(_ count: Int) {
        precondition(count >= 0 && count <= storage.count - end, "ByteQueue.added: more bytes than its room")
        end += count
    }

    /// Removes the first waiting bytes.
    public mutating func removed(_ count: Int) {
        precondition(count >= 0 && count <= end - start, "ByteQueue.removed: more bytes than wait")
        start += count
    }

    /// Copies as many bytes as fit.
    /// - Returns: their number.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) -> Int {
        let room = room()
        let count = min(room.count, bytes.count)
        if count > 0 { room.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count])) }
        added(count)
        return count
    }

    /// Moves as many of the first bytes as fit into `buffer`.
    /// - Returns: their number.
    public mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, end - start)
        if count > 0 { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count])) }
        removed(count)
        return count
    }

    public mutating func removeAll() { (start, end) = (0, 0) }
}
