import CLinux

/// An eventfd: one thread signals it and another waits for it.
public final class WakeUp: Sendable {
    /// Readable from a `signal` until the next `clear`. Valid as long as this object lives.
    public let descriptor: Int32

    /// - Throws: when the process or the system has no file descriptor left.
    public init() throws(SystemError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        if descriptor < 0 { throw .last("eventfd") }
    }

    deinit { close(descriptor) }

    /// Makes `descriptor` readable. Any thread, including the audio thread: one system call that neither allocates nor
    /// blocks.
    public func signal() {
        var one: UInt64 = 1
        // The write fails only when the counter is full, and then the descriptor is already readable.
        _ = write(descriptor, &one, 8)
    }

    /// Blocks until `signal`, or for `milliseconds`; a negative number means without limit. Does not clear the signal.
    /// - Returns: whether it was signalled.
    public func wait(milliseconds: Int32) -> Bool {
        var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&waited, 1, milliseconds) > 0
    }

    /// Clears all earlier `signal` calls. Any thread.
    public func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}
