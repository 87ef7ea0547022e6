import Platform

/// Where a container's bytes come from: a file, a cache entry, a socket. `Media` does no I/O of its own.
///
/// Thread: one at a time; a decoder uses its source on the decoder thread alone.
public protocol ByteSource: AnyObject {
    /// Bytes in all, or nil while it is not known. It may become known later, and it may grow. It is a hint: only a
    /// read tells where the bytes end.
    var length: Int64? { get }

    /// Reads up to `buffer.count` bytes from `offset` on. Fewer than asked for is not an error.
    ///
    /// A source may block for as long as its medium takes. A source that has to wait for a network answers `.notYet`
    /// instead; the same read can be repeated later.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead

    /// Calls `wake` once, from any thread, when it is worth repeating the read that was last answered with `.notYet`:
    /// there are bytes, the end, or an error. Calls it at once if that is so already. A second call replaces the first
    /// one's `wake`. A source that never answers `.notYet` needs no method of its own.
    func whenReadable(_ wake: @escaping @Sendable () -> Void)
}

extension ByteSource {
    public func whenReadable(_ wake: @escaping @Sendable () -> Void) { wake() }
}

/// What a read gave.
public enum ByteRead: Equatable, Sendable {
    /// This many bytes, at least one.
    case bytes(Int)
    /// The source ends at the offset or before it.
    case end
    /// There are no bytes at the offset yet.
    case notYet

    /// - Parameter count: of bytes as read(2) returns it: 0 is the end.
    public init(count: Int) { self = count > 0 ? .bytes(count) : .end }
}

/// Why bytes cannot be read.
public enum ByteSourceError: Error, Equatable, Sendable {
    /// The read was cancelled. Never shown to a user as an error.
    case cancelled
    /// The file system or the device below it failed.
    case medium(SystemError)
    /// The network failed: no address, no connection, a connection that broke or timed out. `reason` is for people.
    case network(reason: String)
    /// A server answered with this HTTP status instead of the bytes.
    case status(Int)
    /// The content is not what was stored or sent: a wrong checksum, tag or length. `reason` is for people.
    case integrity(reason: String)
}
