import Platform

/// Stores the trusted time in the state, over the storage thread. The tables must include that of `KeyValueStore`.
///
/// Thread: `load` before the storage thread runs; the others: any.
public final class StoredTrustedTime: TrustedTimeStore {
    private let storage: StorageThread

    /// Uses the storage until `close`.
    public init(_ storage: StorageThread) {
        self.storage = storage
        storage.join()
    }

    public func load() -> TrustedTime.Record? {
        do throws(DatabaseError) {
            return try storage.read { (database) throws(DatabaseError) in
                TrustedTimeRow(KeyValueStore(database)).load()
            } ?? nil
        } catch {
            return nil
        }
    }

    public func save(_ record: TrustedTime.Record) {
        storage.write(urgency: .canWait, answerOn: nil) { (database) throws(DatabaseError) in
            try TrustedTimeRow(KeyValueStore(database)).save(record)
        } answer: { error in
            if let error { Log.warning("the time cannot be persisted: \(error.description)") }
        }
    }

    /// Ends the use of the storage. The last call. The last user of the storage writes all waiting work.
    public func close() { storage.leave() }
}
