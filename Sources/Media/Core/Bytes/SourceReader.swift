/// Reads an exact size from a source that may return fewer bytes.
struct SourceReader {
    let source: any ByteSource

    init(_ source: any ByteSource) { self.source = source }

    /// Up to `count` bytes from `offset` on; fewer only at the end of the source. They are allocated, so the caller
    /// limits `count`.
    @inline(never)
    func bytes(_ count: Int, at offset: Int64) throws(Interruption) -> [UInt8] {
        guard count > 0, offset >= 0, offset <= .max - Int64(count) else { return [] }
        var bytes = [UInt8](repeating: 0, count: count)
        let filled = try bytes.withUnsafeMutableBufferPointer { buffer throws(Interruption) -> Int in
            try fill(UnsafeMutableRawBufferPointer(buffer), at: offset)
        }
        bytes.removeLast(count - filled)
        return bytes
    }

    /// Fills `buffer` from `offset` on, up to the end of the source.
    private func fill(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Interruption) -> Int {
        var filled = 0
        while filled < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            guard let count = try source.next(into: rest, at: offset + Int64(filled)) else { break }
            filled += count
        }
        return filled
    }
}

extension ByteSource {
    /// A read whose `.notYet` and errors interrupt the step.
    /// - Returns: nil at the end.
    func next(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Interruption) -> Int? {
        let answer: ByteRead
        do throws(ByteSourceError) { answer = try read(into: buffer, at: offset) } catch { throw .source(error) }
        switch answer {
        case .bytes(let count): return count > 0 ? count : nil
        case .end: return nil
        case .notYet: throw .notYet
        }
    }
}
