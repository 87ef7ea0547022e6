import Synchronization

/// A counter that one thread advances and another reads. It fills its cache lines alone, so that the two threads do
/// not take each other's line away (128 bytes: some cores fetch lines in pairs).
struct Cursor: ~Copyable {
    private let value: Atomic<Int>
    private let padding: InlineArray<15, UInt64> = InlineArray(repeating: 0)

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
