/// Decoded samples that did not fit into the caller's buffer, until they are read.
struct SampleStore: ~Copyable {
    private var storage = UnsafeMutableBufferPointer<Int32>(start: nil, count: 0)
    /// Where the samples lie: in `storage`, or in the caller's buffer until the next `take`.
    private var pointer: UnsafeMutablePointer<Int32>?
    private var start = 0
    /// Samples that are left.
    private(set) var count = 0

    deinit { storage.deallocate() }

    /// Drops the remaining samples and makes room for `count` samples, which the caller writes.
    /// - Parameter target: the buffer of the next `take`, which will take all of them; nil when that is not known.
    ///   Samples that fit are written there, and need not be copied.
    mutating func replace(
        count: Int, in target: UnsafeMutableBufferPointer<Int32>? = nil
    ) -> UnsafeMutableBufferPointer<Int32> {
        start = 0
        self.count = count
        if let target, target.count >= count {
            pointer = target.baseAddress
            return UnsafeMutableBufferPointer(rebasing: target[..<count])
        }
        if storage.count < count {
            storage.deallocate()
            storage = .allocate(capacity: count)
        }
        pointer = storage.baseAddress
        return UnsafeMutableBufferPointer(rebasing: storage[..<count])
    }

    mutating func drop(_ count: Int) {
        let dropped = min(count, self.count)
        start += dropped
        self.count -= dropped
    }

    mutating func dropLast(_ count: Int) { self.count -= min(count, self.count) }

    /// Moves up to `limit` samples to the front of `target`.
    mutating func take(_ limit: Int, into target: UnsafeMutableBufferPointer<Int32>) -> Int {
        let taken = min(limit, min(count, target.count))
        guard taken > 0, let destination = target.baseAddress, let pointer else { return 0 }
        if pointer + start != destination {
            // `update` would copy them one by one in a program that is optimised for size.
            UnsafeMutableRawPointer(destination).copyMemory(
                from: pointer + start, byteCount: taken * MemoryLayout<Int32>.stride)
        }
        drop(taken)
        return taken
    }
}
