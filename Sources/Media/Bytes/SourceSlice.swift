/// A source from an offset on, for a container that does not start at the first byte.
final class SourceSlice: ByteSource {
    private let source: any ByteSource
    private let start: Int64

    init(_ source: any ByteSource, from start: Int64) {
        self.source = source
        self.start = start
    }

    var length: Int64? { source.length.map { max(0, $0 - start) } }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) { source.whenReadable(wake) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        let (place, isBeyond) = start.addingReportingOverflow(offset)
        return isBeyond ? .end : try source.read(into: buffer, at: place)
    }
}
