/// The index of the stored responses, in the database of the program. The files of the bodies belong to `CacheStore`.
///
/// Thread: any. Answers come on the storage thread, in the order of the calls.
public protocol CacheIndex: AnyObject, Sendable {
    typealias Bodies = @Sendable ([[UInt8]]) -> Void

    func find(_ key: CacheKey, _ answer: @escaping @Sendable (CachedResponse?) -> Void)

    /// Stores a response instead of the former one with its key. Then removes those that were used least recently, in
    /// one bounded step, until all bodies together have at most `limit` bytes. When they still have more, or the medium
    /// does not take it, the response is not stored.
    /// - Parameters:
    ///   - size: of the body's file.
    ///   - now: seconds since 1970, for the order of use.
    ///   - answer: the bodies whose files are not needed any more, which may be that of the response.
    func put(_ response: CachedResponse, size: Int64, limit: Int64, now: Int64, _ answer: @escaping Bodies)

    /// Replaces what is known about a response whose body has stayed the same, and notes its use. Does nothing when it
    /// is not stored any more.
    func refresh(_ response: CachedResponse, now: Int64)

    /// Removes a response, unless another one is stored under its key.
    func remove(_ response: CachedResponse, _ answer: @escaping Bodies)

    /// Removes responses that were used least recently, in one bounded step, until the bodies have at most `limit`
    /// bytes.
    func shrink(to limit: Int64, _ answer: @escaping Bodies)

    /// What was begun is carried out now: somebody waits for it.
    func hurry()

    /// Counts the bytes of all bodies. Once, at the start: the database may have been recovered with losses.
    func recount()

    /// All bodies that are known; nil when that cannot be read.
    func allBodies(_ answer: @escaping @Sendable ([[UInt8]]?) -> Void)

    /// Runs `work` on the storage thread.
    func perform(_ work: @escaping @Sendable () -> Void)
}
