import Platform

/// Where a container's bytes come from: a file, a cache entry, a socket. `Media` does no I/O of its own.
///
/// Thread: one at a time; a decoder uses its source on the decoder thread alone.
public protocol ByteSource: AnyObject {
    /// Bytes in all, or nil where it is not known.
    var length: Int64? { get }

    /// Reads up to `buffer.count` bytes from `offset` on, blocking. Fewer than asked for is not an error.
    /// - Returns: the number of bytes read; 0 at the end and beyond it.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> Int
}

/// Why bytes could not be had.
public enum ByteSourceError: Error, Equatable {
    /// The reader was told to stop. Never reported to a user as an error.
    case cancelled
    /// The file system or the device below refused.
    case system(SystemError)
}
