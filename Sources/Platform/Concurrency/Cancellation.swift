import CLinux
import Synchronization

/// Makes a worker stop, even while it blocks. It stays cancelled. Any thread.
public final class Cancellation: Sendable {
    private let flag = Atomic(false)
    private let wakeUp: WakeUp
    private let clock = SystemMonotonicClock()

    /// - Throws: when the process or the system has no file descriptor left.
    public init() throws(SystemError) {
        wakeUp = try WakeUp()
    }

    /// Cancels; every wait ends at once. Idempotent. Any thread, including the audio thread.
    public func cancel() {
        if !flag.exchange(true, ordering: .acquiringAndReleasing) { wakeUp.signal() }
    }

    /// Whether `cancel` was called.
    public var isCancelled: Bool { flag.load(ordering: .acquiring) }

    /// Readable after `cancel`, for a caller's own poll. Must not be read from.
    public var descriptor: Int32 { wakeUp.descriptor }

    /// How a wait ended.
    public enum Outcome: Equatable, Sendable {
        case ready(Readiness)
        case cancelled
        case timedOut
    }

    /// Blocks until `cancel` or for `milliseconds`; a negative number means without limit.
    /// - Returns: whether it is cancelled.
    public func wait(milliseconds: Int) -> Bool {
        // poll(2) of a valid descriptor fails only when the kernel has no memory.
        do throws(SystemError) { return try wait(for: -1, [], milliseconds: milliseconds) == .cancelled } catch {
            return isCancelled
        }
    }

    /// Blocks until `descriptor` is ready for one of `events`, in error or hung up, until `cancel`, or for
    /// `milliseconds`. A negative number means without limit. Cancellation takes precedence over readiness.
    /// - Throws: EBADF for a descriptor that is not open.
    public func wait(
        for descriptor: Int32, _ events: Readiness, milliseconds: Int
    ) throws(SystemError) -> Outcome {
        let deadline = milliseconds < 0 ? nil : clock.now() + Int64(clamping: milliseconds) * 1_000_000
        while true {
            var waited = [
                pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: events.rawValue), revents: 0),
            ]
            let left = deadline.map { Int32(clamping: (max($0 - clock.now(), 0) + 999_999) / 1_000_000) } ?? -1
            let count = poll(&waited, 2, left)
            if count < 0 {
                guard tonearm_errno() == EINTR else { throw .last("poll") }
            } else if waited[0].revents != 0 {
                return .cancelled
            } else if Int32(waited[1].revents) & POLLNVAL != 0 {
                throw SystemError(code: EBADF, operation: "poll")
            } else if waited[1].revents != 0 {
                return .ready(Readiness(rawValue: UInt32(waited[1].revents)))
            } else if count == 0, let deadline, clock.now() >= deadline {
                return .timedOut
            }
        }
    }
}
