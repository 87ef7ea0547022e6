import CLinux

/// A condition variable with the lock that guards its state. Any thread except the audio thread.
/// `@unchecked Sendable` is safe because pthread calls may come from any thread, and the pointer never changes.
public final class Condition: @unchecked Sendable {
    private let lock = Lock()
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    public init() {
        pthread_cond_init(condition, nil)
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
}
