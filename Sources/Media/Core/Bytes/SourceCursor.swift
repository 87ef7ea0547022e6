/// Moves forward through a part of a source: reads small fields through a window, and skips large ones.
struct SourceCursor {
    private let reader: SourceReader
    private var window: [UInt8] = []
    private var windowOffset: Int64 = 0
    /// The offset of the next byte in the source.
    private(set) var offset: Int64
    /// The offset of the end of the part. The source may end earlier.
    let end: Int64

    private static let windowSize = 4096

    init(_ source: any ByteSource, from offset: Int64, to end: Int64) {
        reader = SourceReader(source)
        self.offset = offset
        self.end = end
    }

    /// Bytes of the part that are left, if the source has them all.
    var remaining: Int64 { max(0, end - offset) }

    mutating func skip(_ count: Int64) {
        offset += min(max(0, count), remaining)
    }

    /// Exactly `count` bytes, or nil when the part or the source ends before.
    @inline(never)
    mutating func bytes(_ count: Int) throws(Interruption) -> [UInt8]? {
        guard count >= 0, Int64(count) <= remaining else { return nil }
        if offset < windowOffset || offset + Int64(count) > windowOffset + Int64(window.count) {
            let wanted = max(count, Int(min(Int64(Self.windowSize), remaining)))
            window = try reader.bytes(wanted, at: offset)
            windowOffset = offset
            guard window.count >= count else { return nil }
        }
        let start = Int(offset - windowOffset)
        offset += Int64(count)
        return Array(window[start..<(start + count)])
    }

    mutating func byte() throws(Interruption) -> UInt8? {
        let start = offset - windowOffset
        if remaining > 0, start >= 0, start < Int64(window.count) {
            offset += 1
            return window[Int(start)]
        }
        return try bytes(1)?[0]
    }
}
