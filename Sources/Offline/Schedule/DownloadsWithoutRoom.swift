/// The downloads that found no room, by the numbers of their downloads.
struct DownloadsWithoutRoom: Equatable {
    /// The limit of `waiting`: each search for the next downloads has to skip all of them.
    private static let most = 1024
    /// The number of downloads that are retried without a sign of free room. Each retry asks the service first.
    private static let fewest = 8

    /// The downloads that found no room since room was last freed.
    private(set) var waiting: Set<Int64> = []
    /// The downloads that found no room earlier and are retried, but have not progressed yet.
    private(set) var triedAgain: Set<Int64> = []

    var isEmpty: Bool { waiting.isEmpty && triedAgain.isEmpty }
    var count: Int { waiting.count + triedAgain.count }
    var isFull: Bool { waiting.count >= Self.most }

    mutating func add(_ number: Int64) {
        triedAgain.remove(number)
        waiting.insert(number)
    }

    /// Adds a download to be retried: it was refused room, and room was freed meanwhile.
    mutating func tryAgain(_ number: Int64) { triedAgain.insert(number) }

    /// Removes a download that has room or has ended.
    /// - Returns: whether it was a retried one.
    mutating func remove(_ number: Int64) -> Bool { triedAgain.remove(number) != nil }

    /// Retries all of them after room was freed.
    mutating func freeAll() {
        triedAgain.formUnion(waiting)
        waiting = []
    }

    /// Retries the oldest of them after some time.
    mutating func freeSome() {
        for number in waiting.sorted().prefix(Self.fewest) {
            waiting.remove(number)
            triedAgain.insert(number)
        }
    }

    /// Forgets retried downloads that were deleted or paused.
    mutating func keepTriedAgain(where isThere: (Int64) -> Bool) { triedAgain = triedAgain.filter(isThere) }
}
