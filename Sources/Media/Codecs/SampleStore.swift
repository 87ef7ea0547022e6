/// Decoded samples that did not fit into the caller's buffer, until they are read.
struct SampleStore: ~Copyable {
    private var storage = UnsafeMutableBufferPointer<Int32>(start: nil, count: 0)
    private var start = 0
    /// Samples that are left.
    private(set) var count = 0

    deinit { storage.deallocate() }

    /// Drops the remaining samples and makes room for `count` samples, which the caller writes.
    mutating func replace(count: Int) -> UnsafeMutableBufferPointer<Int32> {
        if storage.count < count {
            storage.deallocate()
            storage = .allocate(capacity: count)
        }
        start = 0
        self.count = count
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
        guard taken > 0, let destination = target.baseAddress, let source = storage.baseAddress else { return 0 }
        destination.update(from: source + start, count: taken)
        drop(taken)
        return taken
    }
}
