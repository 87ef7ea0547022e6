/// Reads of a stated size from a source that may give fewer bytes than asked for.
struct SourceReader {
    let source: any ByteSource

    init(_ source: any ByteSource) { self.source = source }

    var length: Int64? { source.length }

    /// Fills `buffer` from `offset` on as far as the source goes.
    /// - Returns: the number of bytes; fewer than `buffer.count` only at the end of the source.
    func fill(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let count = try source.read(into: rest, at: offset + Int64(filled))
            guard count > 0 else { break }
            filled += count
        }
        return filled
    }

    /// Up to `count` bytes from `offset` on; fewer at the end of the source. They are allocated, so the caller bounds
    /// `count`.
    func bytes(_ count: Int, at offset: Int64) throws(MediaError) -> [UInt8] {
        guard count > 0, offset >= 0 else { return [] }
        var wanted = count
        if let length {
            guard offset < length else { return [] }
            wanted = Int(min(Int64(count), length - offset))
        }
        var bytes = [UInt8](repeating: 0, count: wanted)
        var filled = 0
        do throws(ByteSourceError) {
            filled = try bytes.withUnsafeMutableBufferPointer { buffer throws(ByteSourceError) -> Int in
                try fill(UnsafeMutableRawBufferPointer(buffer), at: offset)
            }
        } catch {
            throw .source(error)
        }
        bytes.removeLast(wanted - filled)
        return bytes
    }
}
