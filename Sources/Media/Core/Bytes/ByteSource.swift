import Platform

/// The source of a container's bytes: a file, a cache entry, a socket. `Media` does no I/O itself.
///
///     final class Memory: ByteSource {
///         private let bytes: [UInt8]
///         var length: Int64? { Int64(bytes.count) }
///
///         init(_ bytes: [UInt8]) { self.bytes = bytes }
///
///         func read(
///             into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
///         ) throws(ByteSourceError) -> ByteRead {
///             let rest = bytes.dropFirst(Int(offset)).prefix(buffer.count)
///             buffer.copyBytes(from: rest)
///             return ByteRead(count: rest.count)
///         }
///     }
///     let decoder = try AudioFile.open(Memory(bytes))
///
/// Thread: one at a time; a decoder uses its source only on the decoder thread.
public protocol ByteSource: AnyObject {
    /// The number of bytes, or nil while it is not known. It may become known later, and it may grow. It is a hint:
    /// only a read shows where the bytes end.
    var length: Int64? { get }

    /// Whether the bytes come over a network while they are read. A read at another offset discards the read-ahead.
    var isStreamed: Bool { get }

    /// Reads up to `buffer.count` bytes from `offset` on. Returning fewer is not an error.
    ///
    /// A source may block as long as its medium needs. A source that has to wait for a network returns `.notYet`
    /// instead; the same read can be repeated later.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead

    /// Calls `wake` once, from any thread, when the last read that returned `.notYet` should be repeated: there are
    /// bytes, the end, or an error. Calls it at once if that is so already. A second call replaces the `wake` of the
    /// first one. A source that never returns `.notYet` does not have to implement it.
    func whenReadable(_ wake: @escaping @Sendable () -> Void)
}

extension ByteSource {
    public var isStreamed: Bool { false }

    public func whenReadable(_ wake: @escaping @Sendable () -> Void) { wake() }
}

/// The result of a read.
public enum ByteRead: Equatable, Sendable {
    /// This many bytes, at least one.
    case bytes(Int)
    /// The source ends at the offset or before it.
    case end
    /// There are no bytes at the offset yet.
    case notYet

    /// - Parameter count: the number of bytes that read(2) returned: 0 is the end.
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
    /// No secure connection can be made, however often it is tried: the server has another certificate or other
    /// ciphers, or this machine's time is wrong. `reason` is for people.
    case tls(reason: String)
    /// The bytes may not come over a metered link, and there is no other way to them now.
    case meteredLink
    /// The player is in offline mode, and the bytes are not on this machine.
    case offlineMode
    /// A server answered with this HTTP status instead of the bytes, in the words of the content service.
    case status(Int)
    /// Another answer than one of the content service: a web page, a proxy's or a filter's refusal, or something that
    /// is not HTTP. So the service has not answered about the bytes. `status` is nil without HTTP, `reason` is for
    /// people.
    case foreign(status: Int?, reason: String)
    /// The request cannot be sent because its address is not valid. Waiting changes nothing. `reason` is for people.
    case unusable(reason: String)
    /// The content is not what was stored or sent: a wrong checksum, tag or length. `reason` is for people.
    case integrity(reason: String)
}
