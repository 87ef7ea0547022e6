import CLinux

/// The readiness of a descriptor. The raw values are those of both poll(2) and epoll(7).
public struct Readiness: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Reading does not block: there are bytes, a connection, or the end.
    public static let readable = Readiness(rawValue: UInt32(POLLIN))
    /// Writing does not block.
    public static let writable = Readiness(rawValue: UInt32(POLLOUT))
    /// Exceptional data: sysfs and GPIO attributes report changes with it.
    public static let urgent = Readiness(rawValue: UInt32(POLLPRI))
    /// The descriptor is in error. Always reported.
    public static let error = Readiness(rawValue: UInt32(POLLERR))
    /// The other side is closed. Always reported; there may still be bytes to read.
    public static let hangUp = Readiness(rawValue: UInt32(POLLHUP))
}
