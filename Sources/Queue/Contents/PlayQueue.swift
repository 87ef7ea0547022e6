import Platform

/// The entries to play, their order, and the entries that were played (docs/playback.md, 11). A value
/// without I/O: `QueueConductor` plays it, `QueueStore` stores it.
///
/// Every operation is at most linear in the number of entries, over arrays of four bytes an entry.
package struct PlayQueue: Sendable {
    /// The most entries; more are refused.
    package static let capacity = 100_000
    /// The most bytes of all product ids together: a small board has no memory for more.
    static let idBytes = 128 << 20
    /// The most played entries in the history.
    package static let historyLimit = 100

    private(set) var table = EntryTable()
    /// The order in which the entries were added or to which they were moved.
    package private(set) var originalOrder: [EntryID] = []
    /// The order while shuffled; empty otherwise.
    package private(set) var shuffledOrder: [EntryID] = []
    package private(set) var isShuffled = false
    package var repeatMode = RepeatMode.off
    /// The entry that plays or will play; nil before the first one and after the end.
    package private(set) var current: EntryID?
    /// The entries that played before the current one, oldest first. An entry may be in it several times.
    package private(set) var history: [EntryID] = []
    private(set) var nextNumber: UInt32 = 1
    /// The media of the entries.
    package private(set) var media = MusicMedia()
    /// Chooses random positions from a seed, so that `upNext` is known before a round begins.
    private var mixer = QueueMixer()

    package init() {}

    // MARK: Entries and order

    package var count: Int { originalOrder.count }
    package var isEmpty: Bool { originalOrder.isEmpty }

    /// The number of consecutive entries after which each entry was played at least once. A shuffled queue gets another
    /// order between two rounds, so this takes almost two rounds.
    package var roundLength: Int { isShuffled && repeatMode == .all ? max(0, 2 * count - 1) : count }

    /// All entries in the order in which they are played.
    package var playOrder: [EntryID] { isShuffled ? shuffledOrder : originalOrder }

    package func contains(_ id: EntryID) -> Bool { table.contains(id) }

    /// Returns the entry's product; nil when there is no such entry (any more).
    package func product(_ id: EntryID) -> QueuedProduct? { table[id] }

    /// The entry's index in the order of playing, from 0.
    package func index(of id: EntryID) -> Int? { playOrder.firstIndex(of: id) }

    /// The entries in this range of the order of playing; indices beyond the end are left out.
    package func entries(_ range: Range<Int>) -> [QueueEntry] {
        playOrder[range.clamped(to: 0..<count)].compactMap { id in
            table[id].map { QueueEntry(id: id, product: $0) }
        }
    }

    // MARK: Playback

    /// The entry that follows the current one when it ends, and after `next`; nil at the end. It is passed to the
    /// engine's `setNext` after each change.
    package var upNext: EntryID? {
        guard let current else { return playOrder.first }
        return repeatMode == .one ? current : following(current)
    }

    /// The entry after `id` in the order of playing. With repeat all, the first one follows the last one; while
    /// shuffled, the next round begins with any entry except the last one.
    private func following(_ id: EntryID) -> EntryID? {
        guard let index = index(of: id) else { return nil }
        if index + 1 < count { return playOrder[index + 1] }
        guard repeatMode == .all else { return nil }
        return isShuffled ? shuffledOrder[nextRoundStart] : originalOrder.first
    }

    /// The index of the entry that begins the next round of a shuffled queue: any except the last index.
    private var nextRoundStart: Int { mixer.index(below: count - 1) }

    /// Gives a shuffled queue the order of its next round.
    private mutating func beginRound() {
        guard count > 1 else { return }
        var order = shuffledOrder
        shuffledOrder = []
        order.swapAt(0, nextRoundStart)
        mixer.advance()
        for place in stride(from: count - 1, to: 1, by: -1) { order.swapAt(place, 1 + mixer.next(below: place)) }
        shuffledOrder = order
    }

    /// Begins the next round when `next` follows the last entry of a shuffled queue.
    private mutating func beginRound(with next: EntryID?, after last: EntryID?) {
        guard isShuffled, repeatMode == .all, let next, let last, last == shuffledOrder.last, next != last,
            next == shuffledOrder[nextRoundStart]
        else { return }
        beginRound()
    }

    /// Makes the next entry current. With repeat one that is the current entry.
    /// - Returns: the new current entry; nil when no entry follows, and then nothing has changed.
    package mutating func next() -> EntryID? {
        guard let id = upNext else { return nil }
        advance(to: id)
        return id
    }

    /// Makes the previously played entry current. Without a history, takes the entry before the current one in the
    /// order, or the first entry at the beginning. (`PreviousButton` decides whether "previous" restarts the current
    /// entry instead.)
    /// - Returns: the new current entry; nil when the queue is empty.
    package mutating func previous() -> EntryID? {
        while let last = history.popLast() {
            // The entries between the two may have been removed.
            guard last != current else { continue }
            current = last
            return last
        }
        if let current, let index = index(of: current), index > 0 {
            self.current = playOrder[index - 1]
        } else {
            current = playOrder.first
        }
        return current
    }

    /// Jumps to an entry.
    package mutating func select(_ id: EntryID) throws(PlayQueueError) {
        guard table.contains(id) else { throw .noSuchEntry(id) }
        advance(to: id)
    }

    /// Makes an entry current, and adds the formerly current entry to the history. Does nothing for an entry that does
    /// not exist.
    mutating func advance(to id: EntryID) {
        guard id != current, table.contains(id) else { return }
        remember(current)
        beginRound(with: id, after: current)
        current = id
    }

    /// Ends playback after the last entry. A shuffled queue gets another order for the next time.
    mutating func finish() {
        remember(current)
        current = nil
        if isShuffled { beginRound() }
    }

    /// Makes the entry after a failed one current, also with repeat one. The failed entry is not added to the history,
    /// so `previous` does not return to it.
    mutating func pass(over failed: EntryID) {
        if current != failed { remember(current) }
        let next = following(failed)
        beginRound(with: next, after: failed)
        current = next == failed ? nil : next
    }

    /// Makes a skipped entry current again. Does nothing when it does not exist any more.
    /// - Returns: whether it is current.
    mutating func comeBack(to id: EntryID) -> Bool {
        if product(id) != nil { current = id }
        return current == id
    }

    /// Makes no entry current, because none can be played.
    mutating func giveUp() { current = nil }

    private mutating func remember(_ id: EntryID?) {
        guard let id else { return }
        history.append(id)
        if history.count > Self.historyLimit { history.removeFirst() }
    }

    // MARK: Entries

    /// Replaces all entries. The modes stay, the history becomes empty.
    /// - Parameter start: the index of the current entry in `products`; nil for the first one in the order of playing,
    ///   which is a random one while shuffled.
    mutating func set(
        _ products: PackedProducts, startingAt start: Int? = 0, random: any RandomSource
    ) throws(PlayQueueError) {
        var emptied = self
        emptied.clear()
        let ids = try emptied.take(products)
        self = emptied
        originalOrder = ids
        current = start.flatMap { ids.indices.contains($0) ? ids[$0] : nil }
        if isShuffled { shuffle(random) }
        if current == nil { current = playOrder.first }
    }

    /// Adds products at the end of both orders. In a shuffled queue without a current entry each product gets a random
    /// position, so that any of them may be the first.
    @discardableResult
    package mutating func add(_ products: PackedProducts) throws(PlayQueueError) -> [EntryID] {
        try append(products, isMixed: current == nil)
    }

    private mutating func append(_ products: PackedProducts, isMixed: Bool) throws(PlayQueueError) -> [EntryID] {
        let ids = try take(products)
        originalOrder += ids
        guard isShuffled else { return ids }
        for id in ids {
            shuffledOrder.append(id)
            if isMixed { shuffledOrder.swapAt(mixer.next(below: shuffledOrder.count), shuffledOrder.count - 1) }
        }
        return ids
    }

    /// Adds products after the current entry.
    @discardableResult
    package mutating func insertNext(_ products: PackedProducts) throws(PlayQueueError) -> [EntryID] {
        let place = current.flatMap { index(of: $0) }.map { $0 + 1 } ?? 0
        return try insert(products, at: place)
    }

    /// Inserts products at an index in the order of playing. While shuffled they follow the same entry in the original
    /// order too.
    /// - Parameter index: limited to 0…count.
    @discardableResult
    package mutating func insert(
        _ products: PackedProducts, at index: Int
    ) throws(PlayQueueError) -> [EntryID] {
        let place = max(0, min(index, count))
        guard place < count else { return try append(products, isMixed: isEmpty) }
        let ids = try take(products)
        if isShuffled {
            let neighbour = place == 0 ? nil : originalOrder.firstIndex(of: shuffledOrder[place - 1])
            originalOrder.insert(contentsOf: ids, at: neighbour.map { $0 + 1 } ?? 0)
            shuffledOrder.insert(contentsOf: ids, at: place)
        } else {
            originalOrder.insert(contentsOf: ids, at: place)
        }
        return ids
    }

    /// Moves an entry in the order of playing. While shuffled, the original order does not change.
    /// - Parameter index: the entry's index afterwards, limited to the valid range.
    package mutating func move(_ id: EntryID, to index: Int) throws(PlayQueueError) {
        guard let old = self.index(of: id) else { throw .noSuchEntry(id) }
        let place = max(0, min(index, count - 1))
        if isShuffled {
            shuffledOrder.insert(shuffledOrder.remove(at: old), at: place)
        } else {
            originalOrder.insert(originalOrder.remove(at: old), at: place)
        }
    }

    /// Changes the order of playing. While shuffled, the original order does not change.
    /// - Parameter change: moves entries, and adds and removes none.
    package mutating func reorder(_ change: (inout [EntryID]) -> Void) {
        var order = playOrder
        change(&order)
        precondition(order.count == count, "an entry was added or removed")
        if isShuffled { shuffledOrder = order } else { originalOrder = order }
    }

    /// Puts the entries at these positions into a random order.
    package mutating func shuffle(_ range: Range<Int>, random: any RandomSource) {
        reorder { order in
            let mixed = Self.shuffled(order[range], random)
            order.replaceSubrange(range, with: mixed)
        }
    }

    /// Removes entries; unknown ids are ignored. When the current entry is removed, the next remaining one becomes
    /// current.
    package mutating func remove(_ ids: [EntryID]) {
        let removed = EntryIDSet(ids)
        if let id = current, removed.contains(id), let index = index(of: id) {
            let order = playOrder
            let successor = order[index...].first { !removed.contains($0) }
            current = successor ?? (repeatMode == .all ? order.first { !removed.contains($0) } : nil)
        }
        table.remove(removed)
        originalOrder.removeAll { removed.contains($0) }
        shuffledOrder.removeAll { removed.contains($0) }
        history.removeAll { removed.contains($0) }
    }

    /// Removes all entries and the history; the modes stay.
    package mutating func clear() {
        table.removeAll()
        originalOrder = []
        shuffledOrder = []
        history = []
        current = nil
        media = MusicMedia()
        // Starts again from 1 when half of the numbers are used, because no client still refers to the first ones.
        if nextNumber > UInt32.max / 2 { nextNumber = 1 }
    }

    /// Adds the mount points of new entries.
    package mutating func note(media mountPoints: [String]) { media.add(mountPoints) }

    /// Assigns ids to products and stores them, without a position in the order.
    private mutating func take(_ products: PackedProducts) throws(PlayQueueError) -> [EntryID] {
        // Calculates in 64 bits, because the remaining numbers do not fit into a 32-bit Int.
        guard products.count <= Self.capacity - count, Int64(UInt32.max - nextNumber) > Int64(products.count)
        else { throw .full(limit: Self.capacity) }
        guard products.byteCount <= Self.idBytes - table.byteCount else { throw .idsTooLong(limit: Self.idBytes) }
        if products.hasTooLongID { throw .productIdTooLong(limit: EntryTable.productIdLimit) }
        let first = nextNumber
        nextNumber += UInt32(products.count)
        table.append(products, from: EntryID(first))
        return (first..<nextNumber).map { EntryID($0) }
    }

    // MARK: Shuffle

    /// Switches shuffle. On: the current entry stays current and becomes the first of the random order. Off: the
    /// original order returns, including entries that were added, without those that were removed.
    package mutating func setShuffled(_ shuffled: Bool, random: any RandomSource) {
        guard shuffled != isShuffled else { return }
        isShuffled = shuffled
        if shuffled { shuffle(random) } else { shuffledOrder = [] }
    }

    /// Seeds the choice of random positions, so that it differs from that of other queues.
    mutating func seed(_ random: any RandomSource) {
        var number: UInt64 = 0
        withUnsafeMutableBytes(of: &number) { random.fill($0) }
        mixer = QueueMixer(seed: number)
    }

    private mutating func shuffle(_ random: any RandomSource) {
        shuffledOrder = originalOrder
        if let current, let index = shuffledOrder.firstIndex(of: current) { shuffledOrder.swapAt(0, index) }
        let first = current == nil ? 0 : 1
        shuffledOrder.replaceSubrange(first..., with: Self.shuffled(shuffledOrder[first...], random))
    }

    private static func shuffled(_ entries: ArraySlice<EntryID>, _ random: any RandomSource) -> [EntryID] {
        var entries = Array(entries)
        // Requests all bytes at once, because a system call for each entry would take longer than the rest.
        // (`random.bytes` would do, but a protocol extension's function on an existential traps in Embedded Swift 6.3.)
        var bytes = [UInt8](repeating: 0, count: 8 * entries.count)
        bytes.withUnsafeMutableBytes { random.fill($0) }
        for index in stride(from: entries.count - 1, to: 0, by: -1) {
            let number = bytes[(8 * index)..<(8 * index + 8)].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
            entries.swapAt(index, Int(number.multipliedFullWidth(by: UInt64(index + 1)).high))
        }
        return entries
    }

    // MARK: Restoring

    /// Restores the stored queue. If its parts do not match, the queue has all entries in the order in which they were
    /// added.
    init(
        table: EntryTable, originalOrder: [EntryID], shuffledOrder: [EntryID]?, repeatMode: RepeatMode,
        current: EntryID?, history: [EntryID], nextNumber: UInt32, media: MusicMedia = MusicMedia()
    ) {
        let ids = table.ids
        self.table = table
        self.originalOrder = originalOrder.sorted() == ids ? originalOrder : ids
        if let shuffledOrder, shuffledOrder.sorted() == ids {
            self.shuffledOrder = shuffledOrder
            isShuffled = true
        }
        self.repeatMode = repeatMode
        self.media = media
        self.current = current.flatMap { table.contains($0) ? $0 : nil }
        self.history = Array(history.filter { table.contains($0) }.suffix(Self.historyLimit))
        self.nextNumber = max(nextNumber, (ids.last?.number ?? 0) + 1)
    }
}
