import CLinux

/// A condition variable with the lock that guards its state. Any thread except the audio thread.
/// `@unchecked Sendable` is safe because pthread calls may come from any thread, and the pointer never changes.
public final class Condition: @unchecked Sendable {
    private let lock = Lock()
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    public init() {
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // A clock that is set does not change how long a wait takes.
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
    }

    /// Runs `change` under the lock, then wakes all waiting threads.
    public func update<Result: ~Copyable>(_ change: () -> Result) -> Result {
        defer { pthread_cond_broadcast(condition) }
        return lock.withLock(change)
    }

    /// Blocks until `isTrue`, which is called under the lock, returns true.
    public func wait(until isTrue: () -> Bool) {
        lock.withLock {
            while !isTrue() { pthread_cond_wait(condition, lock.mutex) }
        }
    }

    /// Blocks until `isTrue` returns true, or the time is over.
    /// - Parameter limit: the longest wait, in nanoseconds.
    public func wait(atMost limit: Int64, until isTrue: () -> Bool) {
        let end = nanoseconds(of: CLOCK_MONOTONIC) + limit
        var time = timespec()
        time.tv_sec = .init(clamping: end / 1_000_000_000)
        time.tv_nsec = .init(clamping: end % 1_000_000_000)
        lock.withLock {
            while !isTrue(), pthread_cond_timedwait(condition, lock.mutex, &time) == 0 {}
        }
    }
}
