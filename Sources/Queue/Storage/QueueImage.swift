/// The rows that change in the database after a change of the queue: one transaction.
package struct QueueChange: Equatable, Sendable {
    /// All values that do not belong to one entry. They have one row.
    package struct State: Equatable, Sendable {
        var repeatMode = RepeatMode.off
        var isShuffled = false
        var current: EntryID?
        var history: [EntryID] = []
        var nextNumber: UInt32 = 1
        /// Whether the queue should play. A start uses this to decide whether to resume.
        var isPlaying = false

        init() {}

        package init(_ queue: PlayQueue, isPlaying: Bool) {
            repeatMode = queue.repeatMode
            isShuffled = queue.isShuffled
            current = queue.current
            history = queue.history
            nextNumber = queue.nextNumber
            self.isPlaying = isPlaying
        }
    }

    /// Whether all old entries are removed; `removedEntries` is empty then.
    var removesAllEntries = false
    var removedEntries: [EntryID] = []
    var addedEntries: [QueueEntry] = []
    var originalOrder = SparseOrder.Change()
    var shuffledOrder = SparseOrder.Change()
    var state: State?
    /// All mount points, if any was added or removed.
    var media: MusicMedia?

    var isEmpty: Bool {
        !removesAllEntries && removedEntries.isEmpty && addedEntries.isEmpty && originalOrder.isEmpty
            && shuffledOrder.isEmpty && state == nil && media == nil
    }

    /// The number of rows that are inserted, deleted or updated; emptying a table counts as one.
    var rowCount: Int {
        func count(_ order: SparseOrder.Change) -> Int {
            (order.isRewrite ? 1 : order.deletedKeys.count) + order.insertedRows.count
        }
        return (removesAllEntries ? 1 : removedEntries.count) + addedEntries.count + count(originalOrder)
            + count(shuffledOrder) + (state == nil ? 0 : 1) + (media?.mountPoints.count ?? 0)
    }
}

/// A copy of the queue's rows in the database, as far as needed to find changes. It is compared with the queue after
/// each operation, so operations do not have to report their changes.
///
/// Thread: the thread of the queue. Another thread may write the change.
package struct QueueImage: Sendable {
    private var originalOrder: SparseOrder
    private var shuffledOrder: SparseOrder
    /// The state in the database; nil when it is unknown.
    private var state: QueueChange.State?
    private var media: MusicMedia?

    init(originalOrder: SparseOrder, shuffledOrder: SparseOrder, state: QueueChange.State, media: MusicMedia) {
        self.media = media
        self.originalOrder = originalOrder
        self.shuffledOrder = shuffledOrder
        self.state = state
    }

    /// Makes an image of an unknown database, so that the next change writes everything. Used when a change could not
    /// be written.
    package init() {
        originalOrder = SparseOrder()
        shuffledOrder = SparseOrder()
    }

    /// Whether the database holds `queue` already.
    package func isOf(_ queue: PlayQueue, isPlaying: Bool) -> Bool {
        state == QueueChange.State(queue, isPlaying: isPlaying) && originalOrder.ids == queue.originalOrder
            && shuffledOrder.ids == queue.shuffledOrder && media == queue.media
    }

    /// Returns the rows to write so that the database holds `queue`; nil when it already does. The image then counts
    /// them as written.
    package mutating func change(to queue: PlayQueue, isPlaying: Bool) -> QueueChange? {
        let newState = QueueChange.State(queue, isPlaying: isPlaying)
        var change = QueueChange()
        if let state, state.nextNumber <= newState.nextNumber {
            update(&change, to: queue, firstNew: EntryID(state.nextNumber))
        } else {
            // The database is unknown, or numbers have begun again at 1, so that old ids do not identify entries.
            originalOrder = SparseOrder()
            shuffledOrder = SparseOrder()
            update(&change, to: queue, firstNew: EntryID(0))
            change.removesAllEntries = true
            change.originalOrder.isRewrite = true
            change.shuffledOrder.isRewrite = true
        }
        if state != newState { change.state = newState }
        state = newState
        // Unknown media and no media are equal: most queues lie on the root file system.
        if media != queue.media, media != nil || queue.media != MusicMedia() || change.removesAllEntries {
            change.media = queue.media
        }
        media = queue.media
        return change.isEmpty ? nil : change
    }

    private mutating func update(_ change: inout QueueChange, to queue: PlayQueue, firstNew: EntryID) {
        let table = queue.table
        let before = originalOrder.ids.count
        change.addedEntries = table.entries(from: firstNew)
        change.originalOrder = originalOrder.update(
            to: queue.originalOrder, isNew: { $0 >= firstNew }, isGone: { !table.contains($0) })
        let gone = change.originalOrder.gone
        change.removesAllEntries = !gone.isEmpty && gone.count == before
        change.removedEntries = change.removesAllEntries ? [] : gone
        change.shuffledOrder =
            queue.shuffledOrder.isEmpty
            ? shuffledOrder.clear()
            : shuffledOrder.update(
                to: queue.shuffledOrder, isNew: { $0 >= firstNew }, isGone: { !table.contains($0) })
    }
}
