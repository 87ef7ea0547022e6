import Platform
import Synchronization

/// The event loop of the storage, the thread that runs it, and how busy it is.
///
/// Thread: any, except where it is said.
// @unchecked: `lock` guards `thread`; `lastWork` belongs to the storage thread once it runs.
final class StorageLoop: @unchecked Sendable {
    private let loop: EventLoop
    private let clock: any MonotonicClock
    private let lock = Lock()
    private var thread: NamedThread?
    /// The amount of posted work that has not begun.
    private let waitingCount = Atomic<Int>(0)
    /// When the last work ended.
    private var lastWork: Int64

    /// - Parameter loop: a loop for tests, which has `clock`; nil makes one.
    init(_ loop: EventLoop?, clock: any MonotonicClock) throws(SystemError) {
        if let loop { self.loop = loop } else { self.loop = try EventLoop() }
        self.clock = clock
        lastWork = clock.now()
    }

    /// The time in nanoseconds.
    var now: Int64 { clock.now() }

    /// Whether the thread was started.
    var isStarted: Bool { lock.withLock { thread != nil } }

    /// Whether posted work waits for the thread.
    var hasWaitingWork: Bool { waitingCount.load(ordering: .relaxed) > 0 }

    /// The time since the last work ended, in nanoseconds. On the storage thread.
    var idleTime: Int64 { clock.now() - lastWork }

    /// Starts the thread, if it does not run.
    func start() -> SystemError? {
        lock.withLock {
            guard thread == nil else { return nil }
            do throws(SystemError) {
                let loop = loop
                thread = try NamedThread.start(name: "storage", stackSize: 256 * 1024) { loop.run() }
                return nil
            } catch {
                return error
            }
        }
    }

    /// Runs `work` on the storage thread.
    func post(_ work: @escaping @Sendable () -> Void) {
        waitingCount.wrappingAdd(1, ordering: .relaxed)
        loop.post { [self] in
            waitingCount.wrappingSubtract(1, ordering: .relaxed)
            work()
            lastWork = clock.now()
        }
    }

    /// Runs `work` on the storage thread after `nanoseconds`. On the storage thread.
    @discardableResult
    func schedule(after nanoseconds: Int64, _ work: @escaping () -> Void) -> TimerToken {
        loop.schedule(after: nanoseconds, work)
    }

    /// Cancels scheduled work. On the storage thread.
    func cancel(_ timer: TimerToken) { loop.cancel(timer) }

    func assertOnLoop() { loop.assertOnLoop() }

    /// Runs `finalWork` after all posted work, and ends the thread, if it was started.
    func end(_ finalWork: @escaping @Sendable () -> Void) {
        guard let thread = lock.withLock({ thread }) else { return }
        loop.post(finalWork)
        loop.stop()
        thread.join()
    }
}
