import CLinux

/// A mutex (`Synchronization.Mutex` does not exist in Embedded Swift). Not recursive. Any thread except the audio
/// thread.
/// `@unchecked Sendable` is safe because pthread calls may come from any thread, and the pointer never changes.
public final class Lock: @unchecked Sendable {
    let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    public init() {
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` while no other thread is inside `withLock` of this lock.
    public func withLock<Result: ~Copyable, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }
}
