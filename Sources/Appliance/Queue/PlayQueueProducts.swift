import Platform

/// The operations of the queue for products that are not packed yet.
extension PlayQueue {
    public mutating func set(
        _ products: [QueuedProduct], startingAt start: Int? = 0, random: any RandomSource
    ) throws(PlayQueueError) {
        try set(PackedProducts(products), startingAt: start, random: random)
    }

    @discardableResult
    public mutating func add(_ products: [QueuedProduct]) throws(PlayQueueError) -> [EntryID] {
        try add(PackedProducts(products))
    }

    @discardableResult
    public mutating func insertNext(_ products: [QueuedProduct]) throws(PlayQueueError) -> [EntryID] {
        try insertNext(PackedProducts(products))
    }

    @discardableResult
    public mutating func insert(_ products: [QueuedProduct], at index: Int) throws(PlayQueueError) -> [EntryID] {
        try insert(PackedProducts(products), at: index)
    }
}
