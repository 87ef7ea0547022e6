/// A source whose small reads use one page in memory, so that a parser of nested structures reads each byte of the
/// source once. Large reads bypass the page.
///
/// Thread: only the decoder thread.
final class PagedSource: ByteSource {
    private let source: any ByteSource
    private let pageSize: Int
    private var page: [UInt8] = []
    private var pageOffset: Int64 = 0

    init(_ source: any ByteSource, pageSize: Int) {
        self.source = source
        self.pageSize = pageSize
    }

    var length: Int64? { source.length }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) { source.whenReadable(wake) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        if let count = copy(to: buffer, from: offset) { return .bytes(count) }
        if buffer.count >= pageSize { return try source.read(into: buffer, at: offset) }
        let answer = try readPage(at: offset)
        return answer == .bytes(page.count) ? .bytes(copy(to: buffer, from: offset) ?? 0) : answer
    }

    /// - Returns: the number of bytes; nil when the page does not have the first one.
    private func copy(to buffer: UnsafeMutableRawBufferPointer, from offset: Int64) -> Int? {
        let start = offset - pageOffset
        guard offset >= pageOffset, start < Int64(page.count) else { return nil }
        let part = page[Int(start)...].prefix(buffer.count)
        buffer.copyBytes(from: part)
        return part.count
    }

    /// Reads a page. The old page keeps its bytes when there are no new ones.
    private func readPage(at offset: Int64) throws(ByteSourceError) -> ByteRead {
        var bytes = [UInt8](repeating: 0, count: pageSize)
        let answer = try bytes.withUnsafeMutableBufferPointer { buffer throws(ByteSourceError) -> ByteRead in
            try source.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
        }
        if case .bytes(let count) = answer {
            bytes.removeLast(pageSize - count)
            page = bytes
            pageOffset = offset
        }
        return answer
    }
}
