/// Bytes in memory.
public final class BytesSource: ByteSource {
    private let bytes: [UInt8]
    private let start: Int64

    /// - Parameter start: where they begin, in bytes. What would be before them is never read.
    public init(_ bytes: [UInt8], from start: Int64 = 0) { (self.bytes, self.start) = (bytes, start) }

    public var length: Int64? { start + Int64(bytes.count) }

    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        guard offset >= start, offset < start + Int64(bytes.count) else { return .end }
        let part = bytes[Int(offset - start)...].prefix(buffer.count)
        buffer.copyBytes(from: part)
        return ByteRead(count: part.count)
    }
}
