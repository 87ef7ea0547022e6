import Database
import Network
import Platform

/// The index of the HTTP cache in the database of the state.
///
/// Thread: any.
/// `@unchecked Sendable` is safe because `lock` guards the mutable state.
public final class DatabaseCacheIndex: CacheIndex, @unchecked Sendable {
    /// Its tables.
    public static let schema = SchemaModule(
        "cache", [Migration(1, CacheRows.schema), Migration(2, CacheRows.withoutCredentials)])

    private let storage: StorageThread
    private let lock = Lock()
    /// Responses that wait for the write budget, by keys. Guarded by `lock`.
    private var unwritten: [CacheKey: CachedResponse] = [:]
    /// Removed bodies, whose rows may still exist. They are not used again. Guarded by `lock`.
    private var removed: Set<[UInt8]> = []

    /// Joins the users of the storage until `close`.
    /// - Parameter storage: its modules include `schema`.
    public init(_ storage: StorageThread) {
        self.storage = storage
        storage.join()
    }

    /// Leaves the storage; must be the last call. Waiting rows are written now or by the last user of the storage.
    /// Blocks on the medium.
    public func close() {
        // Work that has begun on the storage thread may still add rows to write.
        let (condition, end) = (Condition(), End())
        perform { condition.update { end.isReached = true } }
        condition.wait { end.isReached }
        storage.leave()
    }

    public func perform(_ work: @escaping @Sendable () -> Void) { storage.perform(work) }

    // MARK: Reading

    public func find(_ key: CacheKey, _ answer: @escaping @Sendable (CachedResponse?) -> Void) {
        storage.query { [self] database in
            let found =
                lock.withLock { unwritten[key] }
                ?? Self.reading(database) { (rows) throws(DatabaseError) in try rows.response(key) } ?? nil
            answer(found.flatMap { response in lock.withLock { removed.contains(response.body) } ? nil : response })
        }
    }

    public func allBodies(_ answer: @escaping @Sendable ([[UInt8]]?) -> Void) {
        storage.query { database in
            answer(Self.reading(database) { (rows) throws(DatabaseError) in try rows.allBodies() })
        }
    }

    private static func reading<Result>(
        _ database: Database?, _ body: (CacheRows) throws(DatabaseError) -> Result
    ) -> Result? {
        guard let database else { return nil }
        do throws(DatabaseError) { return try body(CacheRows(database)) } catch {
            Log.warning("the index of the cache cannot be read: \(error.description)")
            return nil
        }
    }

    // MARK: Writing

    public func put(
        _ response: CachedResponse, size: Int64, limit: Int64, now: Int64, _ answer: @escaping Bodies
    ) {
        lock.withLock { unwritten[response.key] = response }
        // If the row cannot be written, the body is unused: without a row the file is neither found nor counted.
        write(otherwise: [response.body]) { (rows) throws(DatabaseError) in
            try rows.put(response, size: size, limit: limit, now: now)
        } answer: { [self] unused in
            written(response)
            answer(unused)
        }
    }

    public func refresh(_ response: CachedResponse, now: Int64) {
        lock.withLock { unwritten[response.key] = response }
        write { (rows) throws(DatabaseError) in
            try rows.refresh(response, now: now)
            return []
        } answer: { [self] _ in
            written(response)
        }
    }

    public func remove(_ response: CachedResponse, _ answer: @escaping Bodies) {
        written(response)
        lock.withLock { _ = removed.insert(response.body) }
        write({ (rows) throws(DatabaseError) in try rows.remove(response) }, answer: answer)
    }

    public func shrink(to limit: Int64, _ answer: @escaping Bodies) {
        write({ (rows) throws(DatabaseError) in try rows.shrink(to: limit) }, answer: answer)
    }

    public func hurry() { storage.hurry() }

    public func recount() {
        write { (rows) throws(DatabaseError) in
            try rows.recount()
            return []
        } answer: { _ in
        }
    }

    private func written(_ response: CachedResponse) {
        lock.withLock { if unwritten[response.key]?.body == response.body { unwritten[response.key] = nil } }
    }

    /// Writes when the write budget allows it.
    /// - Parameters:
    ///   - otherwise: the result when the rows cannot be written.
    ///   - work: may run twice.
    private func write(
        otherwise: [[UInt8]] = [],
        _ work: @escaping @Sendable (CacheRows) throws(DatabaseError) -> [[UInt8]], answer: @escaping Bodies
    ) {
        storage.transact(urgency: .canWait, answerOn: nil) { (database) throws(DatabaseError) in
            try work(CacheRows(database))
        } answer: { result in
            switch result {
            case .success(let bodies): answer(bodies ?? [])
            case .failure(let error):
                Log.warning("the index of the cache cannot be written: \(error.description)")
                answer(otherwise)
            }
        }
    }
}

/// Whether the storage thread has reached the end of its work.
/// `@unchecked Sendable` is safe because a condition guards it.
private final class End: @unchecked Sendable {
    var isReached = false
}
