/// The downloads that found no room.
struct DownloadsWithoutRoom: Equatable {
    /// All of them are skipped each time that the next ones are looked for.
    private static let most = 1024
    /// How many are tried again when nothing tells that there is room: each of them asks the service first.
    private static let fewest = 8

    /// Those that found no room since some was given back, by their numbers.
    private(set) var waiting: Set<Int64> = []
    /// Those that found none before, and have not got any further.
    private(set) var triedAgain: Set<Int64> = []

    var isEmpty: Bool { waiting.isEmpty && triedAgain.isEmpty }
    var count: Int { waiting.count + triedAgain.count }
    var isFull: Bool { waiting.count >= Self.most }

    mutating func add(_ number: Int64) {
        triedAgain.remove(number)
        waiting.insert(number)
    }

    /// It was refused room, and some was given back meanwhile.
    mutating func tryAgain(_ number: Int64) { triedAgain.insert(number) }

    /// It has room, or has ended.
    /// - Returns: whether it was one of those that are tried again.
    mutating func remove(_ number: Int64) -> Bool { triedAgain.remove(number) != nil }

    /// Room was given back: all of them are tried again.
    mutating func freeAll() {
        triedAgain.formUnion(waiting)
        waiting = []
    }

    /// Some time has passed: the oldest of them are tried again.
    mutating func freeSome() {
        for number in waiting.sorted().prefix(Self.fewest) {
            waiting.remove(number)
            triedAgain.insert(number)
        }
    }

    /// Forgets those that were deleted or paused.
    mutating func keepTriedAgain(where isThere: (Int64) -> Bool) { triedAgain = triedAgain.filter(isThere) }
}
