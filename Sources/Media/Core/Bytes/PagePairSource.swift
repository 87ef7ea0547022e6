/// A source that is read through two aligned pages in memory, for a parser that reads a little after its position.
///
/// A page that arrives in parts keeps them, so a step that ends in "not yet" gets further when it is repeated.
///
/// Thread: only the decoder thread.
final class PagePairSource: ByteSource {
    private struct Page {
        var start: Int64 = -1
        var count = 0
        let memory: UnsafeMutableRawBufferPointer
    }

    private let source: any ByteSource
    private var recent: Page
    private var older: Page

    private static let pageSize = 32_768

    init(_ source: any ByteSource) {
        self.source = source
        recent = Page(memory: .allocate(byteCount: Self.pageSize, alignment: 16))
        older = Page(memory: .allocate(byteCount: Self.pageSize, alignment: 16))
    }

    deinit {
        recent.memory.deallocate()
        older.memory.deallocate()
    }

    var length: Int64? { source.length }

    var isStreamed: Bool { source.isStreamed }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) { source.whenReadable(wake) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        guard offset >= 0, offset < AudioLimits.largestData else { return .end }
        turn(to: offset)
        let first = Int(offset - recent.start)
        while recent.count <= first {
            let rest = UnsafeMutableRawBufferPointer(rebasing: recent.memory[recent.count...])
            let answer = try source.read(into: rest, at: recent.start + Int64(recent.count))
            guard case .bytes(let count) = answer else { return answer }
            recent.count += count
        }
        let count = min(buffer.count, recent.count - first)
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: recent.memory[first..<(first + count)]))
        return ByteRead(count: count)
    }

    /// Makes the page with `offset` the recent one.
    private func turn(to offset: Int64) {
        let start = offset - offset % Int64(Self.pageSize)
        guard recent.start != start else { return }
        swap(&recent, &older)
        guard recent.start != start else { return }
        recent.start = start
        recent.count = 0
    }
}
