/// Bytes in memory.
public final class BytesSource: ByteSource {
    private let bytes: [UInt8]
    private let start: Int64

    /// - Parameter start: the offset of the first byte. Offsets before it are never read.
    public init(_ bytes: [UInt8], from start: Int64 = 0) { (self.bytes, self.start) = (bytes, start) }

    public var length: Int64? { start + Int64(bytes.count) }

    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        guard offset >= start, offset < start + Int64(bytes.count) else { return .end }
        let part = bytes[Int(offset - start)...].prefix(buffer.count)
        buffer.copyBytes(from: part)
        return ByteRead(count: part.count)
    }
}

/// A source with a part of its bytes in memory.
final class HeldBytes: ByteSource {
    private let source: any ByteSource
    private let held: BytesSource

    /// - Parameter range: the bytes to read into memory. The caller limits it.
    init(_ source: any ByteSource, _ range: Range<Int64>) throws(Interruption) {
        self.source = source
        let bytes = try SourceReader(source).bytes(Int(range.upperBound - range.lowerBound), at: range.lowerBound)
        held = BytesSource(bytes, from: range.lowerBound)
    }

    var length: Int64? { source.length }

    var isStreamed: Bool { source.isStreamed }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) { source.whenReadable(wake) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        let answer = try held.read(into: buffer, at: offset)
        return answer == .end ? try source.read(into: buffer, at: offset) : answer
    }
}
