import CLinux

/// An eventfd: what one thread pokes and another waits on.
public final class WakeUp: Sendable {
    /// Readable from a `signal` until the next `clear`. Valid as long as this object lives.
    public let descriptor: Int32

    /// - Throws: when the process or the system has no descriptor left.
    public init() throws(SystemError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        if descriptor < 0 { throw .last("eventfd") }
    }

    deinit { close(descriptor) }

    /// Makes `descriptor` readable. Any thread, also the audio thread: one system call that neither allocates nor
    /// blocks.
    public func signal() {
        var one: UInt64 = 1
        // Fails only when the counter is full, and then the descriptor is readable anyway.
        _ = write(descriptor, &one, 8)
    }

    /// Blocks until a `signal`, or for `milliseconds`; less than 0 means without limit. It is not taken back.
    /// - Returns: whether there was one.
    public func wait(milliseconds: Int32) -> Bool {
        var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&waited, 1, milliseconds) > 0
    }

    /// Takes back every `signal` so far. Any thread.
    public func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}
