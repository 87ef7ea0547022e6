import Synchronization

/// A value of several words that one thread publishes and any number of threads read consistently: a sequence lock.
/// Writing never waits; a reader that meets a write retries. The words are atomics, so there is no data race.
/// `@unchecked Sendable` is safe because every word is an atomic, and the pointer never changes.
public final class Snapshot<Value: BitwiseCopyable>: @unchecked Sendable {
    private let words: UnsafeMutablePointer<Atomic<UInt>>
    private let wordCount: Int
    /// Odd while a write is under way.
    private let sequence = Atomic<UInt>(0)

    private static var wordSize: Int { MemoryLayout<UInt>.size }

    public init(_ initial: Value) {
        wordCount = (MemoryLayout<Value>.size + Self.wordSize - 1) / Self.wordSize
        words = .allocate(capacity: wordCount)
        for index in 0..<wordCount { (words + index).initialize(to: Atomic(0)) }
        publish(initial)
    }

    deinit {
        words.deinitialize(count: wordCount)
        words.deallocate()
    }

    /// Replaces the value. One thread only, always the same.
    public func publish(_ value: Value) {
        let begun = sequence.load(ordering: .relaxed) &+ 1
        sequence.store(begun, ordering: .relaxed)
        withUnsafeBytes(of: value) { bytes in
            for index in 0..<wordCount {
                let offset = index * Self.wordSize
                var word: UInt = 0
                withUnsafeMutableBytes(of: &word) { target in
                    target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset...].prefix(Self.wordSize)))
                }
                // Releasing: a reader that sees this word also sees the odd number before it.
                words[index].store(word, ordering: .releasing)
            }
        }
        sequence.store(begun &+ 1, ordering: .releasing)
    }

    /// The value published last. Any thread.
    public func read() -> Value {
        withUnsafeTemporaryAllocation(
            byteCount: wordCount * Self.wordSize, alignment: max(MemoryLayout<Value>.alignment, Self.wordSize)
        ) { copy in
            while true {
                let begun = sequence.load(ordering: .acquiring)
                for index in 0..<wordCount {
                    copy.storeBytes(
                        of: words[index].load(ordering: .acquiring), toByteOffset: index * Self.wordSize, as: UInt.self)
                }
                if begun & 1 == 0, sequence.load(ordering: .relaxed) == begun {
                    return copy.load(as: Value.self)
                }
            }
        }
    }
}
