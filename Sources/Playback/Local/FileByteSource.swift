import Media
import Platform

/// A file as a `ByteSource`.
///
/// Thread: the decoder thread.
public final class FileByteSource: ByteSource {
    private let file: File
    private let cancellation: Cancellation?
    public let length: Int64?

    /// - Parameter cancellation: reads fail with `.cancelled` once it is cancelled.
    public init(path: String, cancellation: Cancellation? = nil) throws(SystemError) {
        file = try File(reading: path)
        length = try file.length()
        self.cancellation = cancellation
    }

    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        if let cancellation, cancellation.isCancelled { throw .cancelled }
        do throws(SystemError) {
            return ByteRead(count: try file.read(into: buffer, at: offset))
        } catch {
            throw .medium(error)
        }
    }
}
