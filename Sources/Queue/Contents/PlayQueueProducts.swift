import Platform

/// The operations of the queue for products that are not packed yet.
extension PlayQueue {
    package mutating func set(
        _ products: [QueuedProduct], startingAt start: Int? = 0, random: any RandomSource
    ) throws(PlayQueueError) {
        try set(PackedProducts(products), startingAt: start, random: random)
    }

    @discardableResult
    package mutating func add(_ products: [QueuedProduct]) throws(PlayQueueError) -> [EntryID] {
        try add(PackedProducts(products))
    }

    @discardableResult
    package mutating func insertNext(_ products: [QueuedProduct]) throws(PlayQueueError) -> [EntryID] {
        try insertNext(PackedProducts(products))
    }

    @discardableResult
    package mutating func insert(_ products: [QueuedProduct], at index: Int) throws(PlayQueueError) -> [EntryID] {
        try insert(PackedProducts(products), at: index)
    }
}
