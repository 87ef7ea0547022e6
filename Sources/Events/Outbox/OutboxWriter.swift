import Database
import Platform

/// Writes changes of the outbox in their order. One transaction carries all that wait; changes that arrive while it
/// runs are the next one. A failed write is repeated with the next change, so a full medium loses nothing that fits in
/// memory.
///
/// Thread: any. `@unchecked Sendable` is safe because `lock` guards the mutable state.
final class OutboxWriter: @unchecked Sendable {
    /// The largest number of changes that wait in memory. The oldest ones are dropped first.
    static let pendingLimit = 500

    private let storage: StorageThread
    /// Called on the storage thread after events were stored.
    private let stored: @Sendable () -> Void
    private let lock = Lock()
    // Guarded by `lock`.
    private var pending: [OutboxChanges] = []
    private var isWriting = false
    /// The number of the first of `pending` that a write is on its way for.
    private var inFlight = 0
    private var isClosed = false
    private var hasFailed = false

    /// Uses the storage until `close`.
    init(_ storage: StorageThread, stored: @escaping @Sendable () -> Void) {
        self.storage = storage
        self.stored = stored
        storage.join()
    }

    func write(_ changes: OutboxChanges) {
        let begins = lock.withLock {
            if pending.count >= Self.pendingLimit, !isWriting { pending.removeFirst() }
            pending.append(changes)
            defer { isWriting = true }
            return !isWriting
        }
        if begins { writePending() }
    }

    /// Ends the use of the storage, with a last attempt to write the waiting changes. The last call.
    func close() {
        let rest = lock.withLock {
            isClosed = true
            return Array(pending.dropFirst(inFlight))
        }
        // It follows the write that is on its way, in the same last transaction.
        if !rest.isEmpty {
            storage.write(answerOn: nil) { (database) throws(DatabaseError) in
                let rows = OutboxRows(database)
                for change in rest { try change.apply(to: rows) }
            } answer: { error in
                if let error { Log.warning("the last events cannot be stored: \(error)") }
            }
        }
        storage.leave()
    }

    private func writePending() {
        let changes = lock.withLock {
            inFlight = pending.count
            return pending
        }
        // Nothing but playing causes these changes, so the write budget may delay them.
        storage.write(canWait: true, answerOn: nil) { (database) throws(DatabaseError) in
            let rows = OutboxRows(database)
            for change in changes { try change.apply(to: rows) }
        } answer: { [self] error in
            answered(error, changes)
        }
    }

    private func answered(_ error: DatabaseError?, _ changes: [OutboxChanges]) {
        let (isFirst, continues) = lock.withLock {
            let isFirst = error != nil && !hasFailed
            hasFailed = error != nil
            inFlight = 0
            if error == nil { pending.removeFirst(changes.count) }
            isWriting = error == nil && !pending.isEmpty && !isClosed
            return (isFirst, isWriting)
        }
        if let error, isFirst {
            Log.warning("events cannot be stored, which is tried again with the next one: \(error)")
        }
        if error == nil, changes.contains(where: { $0.mayHaveEvents }) { stored() }
        if continues { writePending() }
    }
}
