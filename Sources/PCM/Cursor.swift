import Synchronization

/// A counter that one thread advances and another reads. 120 bytes of padding separate it from earlier declarations, so
/// that the two threads do not share a cache line (some cores fetch lines in pairs). 64 bits on every board: 32 bits
/// would overflow after three hours of stereo at 96 kHz.
struct Cursor: ~Copyable {
    private let padding: InlineArray<15, UInt64> = InlineArray(repeating: 0)
    private let value: Atomic<Int64>

    init(_ initial: Int64 = 0) { value = Atomic(initial) }

    /// The value for another thread. All that the owner did before its last `publish` is visible afterwards.
    @inline(__always)
    func read() -> Int64 { value.load(ordering: .acquiring) }

    /// The value for the owner.
    @inline(__always)
    func owned() -> Int64 { value.load(ordering: .relaxed) }

    @inline(__always)
    func publish(_ position: Int64) { value.store(position, ordering: .releasing) }
}
