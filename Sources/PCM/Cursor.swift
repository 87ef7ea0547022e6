import Synchronization

/// A counter that one thread advances and another reads. It keeps 120 bytes away from what is declared before it, so
/// that the two threads do not take each other's cache line away (some cores fetch lines in pairs).
struct Cursor: ~Copyable {
    private let padding: InlineArray<15, UInt64> = InlineArray(repeating: 0)
    private let value: Atomic<Int>

    init(_ initial: Int = 0) { value = Atomic(initial) }

    /// Everything that the owner did before its last `publish` is visible afterwards.
    @inline(__always)
    func read() -> Int { value.load(ordering: .acquiring) }

    /// The owner's own view.
    @inline(__always)
    func owned() -> Int { value.load(ordering: .relaxed) }

    @inline(__always)
    func publish(_ position: Int) { value.store(position, ordering: .releasing) }
}
