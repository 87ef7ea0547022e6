/// The index of the stored responses, in the database of the program. The files of the bodies belong to `CacheStore`.
///
/// Thread: any. Answers are called on the storage thread, in the order of the calls.
public protocol CacheIndex: AnyObject, Sendable {
    typealias Bodies = @Sendable ([[UInt8]]) -> Void

    func find(_ key: CacheKey, _ answer: @escaping @Sendable (CachedResponse?) -> Void)

    /// Replaces the stored response with the same key. Removes the least recently used ones, in one bounded step, until
    /// all bodies have at most `limit` bytes. When they still have more, or the medium fails, the response is not
    /// stored.
    /// - Parameters:
    ///   - size: the size of the body's file, in bytes.
    ///   - now: seconds since 1970, for the order of use.
    ///   - answer: gets the bodies whose files are no longer needed, possibly including that of the response.
    func put(_ response: CachedResponse, size: Int64, limit: Int64, now: Int64, _ answer: @escaping Bodies)

    /// Updates the details of a response whose body has not changed, and the time of its use. Does nothing when the
    /// response is no longer stored.
    func refresh(_ response: CachedResponse, now: Int64)

    /// Removes a response, unless another one is stored under its key.
    func remove(_ response: CachedResponse, _ answer: @escaping Bodies)

    /// Removes the least recently used responses, in one bounded step, until the bodies have at most `limit` bytes.
    func shrink(to limit: Int64, _ answer: @escaping Bodies)

    /// Writes pending changes now, because a caller waits for them.
    func hurry()

    /// Computes the total of all bodies again. Call it once, at start-up: the database may have been recovered with
    /// losses.
    func recount()

    /// Answers with all known bodies; nil when they cannot be read.
    func allBodies(_ answer: @escaping @Sendable ([[UInt8]]?) -> Void)

    /// Runs `work` on the storage thread.
    func perform(_ work: @escaping @Sendable () -> Void)
}
