import Database
import Platform

/// Writes changes of the outbox in their order. One transaction carries all that wait; changes that arrive while it
/// runs are the next one. A position alone waits for the next write of the storage. A failed write is repeated with the
/// next change, so a full medium loses nothing that fits in memory.
///
/// Thread: any. `@unchecked Sendable` is safe because `lock` guards the mutable state.
final class OutboxWriter: @unchecked Sendable {
    /// The largest number of changes that wait in memory. The oldest ones are dropped first, and the next write counts
    /// their events.
    static let pendingLimit = 500

    private let storage: StorageThread
    /// Called on the storage thread after events were stored.
    private let stored: @Sendable () -> Void
    private let lock = Lock()
    // Guarded by `lock`.
    private var pending: [OutboxChanges] = []
    private var writer = CoalescingWriter()
    /// How many of the first of `pending` are in the transaction that runs.
    private var inFlight = 0

    /// Uses the storage until `close`.
    init(_ storage: StorageThread, stored: @escaping @Sendable () -> Void) {
        self.storage = storage
        self.stored = stored
        storage.join()
    }

    func write(_ changes: OutboxChanges) {
        let (begins, ends) = lock.withLock {
            var changes = changes
            if pending.count >= Self.pendingLimit, !writer.isWriting {
                let dropped = pending.removeFirst()
                changes.lostCount = dropped.lostCount + Int64(dropped.events.count)
            }
            // A position may wait for the next write, but a second one may not.
            let waits = changes.isPosition && pending.isEmpty
            pending.append(changes)
            let begins = writer.change()
            return (begins ? waits ? StorageThread.Urgency.withNext : .canWait : nil, !begins && !waits)
        }
        if let begins { writePending(begins) }
        if ends { storage.endWaitForNext() }
    }

    /// Ends the use of the storage, with a last attempt to write the waiting changes. The last call.
    func close() {
        let hasRest = lock.withLock {
            writer.close()
            return !pending.isEmpty
        }
        if hasRest {
            // A write that is on its way may be in the same transaction; it has taken the first ones.
            storage.write(answerOn: nil) { [self] (database) throws(DatabaseError) in
                try apply(lock.withLock { Array(pending.dropFirst(inFlight)) }, to: database)
            } answer: { error in
                if let error { Log.warning("the last events cannot be stored: \(error)") }
            }
        }
        storage.leave()
    }

    /// Writes all changes that wait when the write runs.
    private func writePending(_ urgency: StorageThread.Urgency = .canWait) {
        storage.write(urgency: urgency, answerOn: nil) { [self] (database) throws(DatabaseError) in
            let changes = lock.withLock {
                inFlight = pending.count
                writer.take()
                return pending
            }
            try apply(changes, to: database)
        } answer: { [self] error in
            answered(error)
        }
    }

    private func apply(_ changes: [OutboxChanges], to database: Database) throws(DatabaseError) {
        let rows = OutboxRows(database)
        for change in changes { try change.apply(to: rows) }
    }

    private func answered(_ error: DatabaseError?) {
        let (isNews, isCounted, continues) = lock.withLock {
            let isNews = writer.end(succeeded: error == nil)
            let written = error == nil ? inFlight : 0
            let isCounted = pending.prefix(written).contains { $0.mayChangeCounts }
            pending.removeFirst(written)
            inFlight = 0
            return (isNews, isCounted, error == nil && writer.begin())
        }
        if let error, isNews {
            Log.warning("events cannot be stored, which is tried again with the next one: \(error)")
        }
        if isCounted { stored() }
        if continues { writePending() }
    }
}
