/// A source from an offset on, for a container that does not start at the first byte, or does not end at the last one.
public final class SourceSlice: ByteSource {
    private let source: any ByteSource
    private let start: Int64
    private let end: Int64?

    /// - Parameter end: nil: that of the source.
    public init(_ source: any ByteSource, from start: Int64, upTo end: Int64? = nil) {
        self.source = source
        self.start = start
        self.end = end
    }

    public var length: Int64? {
        guard let length = source.length else { return nil }
        return max(0, min(length, end ?? length) - start)
    }

    public var isStreamed: Bool { source.isStreamed }

    public func whenReadable(_ wake: @escaping @Sendable () -> Void) { source.whenReadable(wake) }

    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        let (place, isBeyond) = start.addingReportingOverflow(offset)
        guard !isBeyond else { return .end }
        guard let end else { return try source.read(into: buffer, at: place) }
        guard place < end else { return .end }
        let count = Int(min(Int64(buffer.count), end - place))
        return try source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: place)
    }
}
