/// The entries of one size in a box, read through a window: memory does not depend on the count that the box claims.
struct MP4Table {
    /// The number of entries; never more than have room in the box.
    let count: Int64

    private let source: any ByteSource
    private let offset: Int64
    private let entrySize: Int
    private var window: [UInt8] = []
    /// The index of the entry at the front of the window.
    private var windowStart: Int64 = 0

    private static let windowSize = 16_384

    /// - Parameters:
    ///   - count: as the box claims.
    ///   - range: where the entries are, to the end of the box.
    init(_ source: any ByteSource, count: Int64, entrySize: Int, in range: Range<Int64>) {
        self.source = source
        self.entrySize = max(1, entrySize)
        offset = range.lowerBound
        self.count = max(0, min(count, (range.upperBound - range.lowerBound) / Int64(self.entrySize)))
    }

    /// A field of an entry.
    /// - Parameters:
    ///   - place: the offset of the field in the entry.
    ///   - byteCount: up to 8.
    /// - Returns: nil after the last entry, and where the source ends.
    mutating func field(_ index: Int64, at place: Int = 0, byteCount: Int = 4) throws(Interruption) -> UInt64? {
        guard index >= 0, index < count else { return nil }
        if index < windowStart || index >= windowStart + Int64(window.count / entrySize) {
            let entries = min(count - index, Int64(max(1, Self.windowSize / entrySize)))
            window = try SourceReader(source).bytes(Int(entries) * entrySize, at: offset + index * Int64(entrySize))
            windowStart = index
            guard window.count >= entrySize else { return nil }
        }
        let start = Int(index - windowStart) * entrySize + place
        guard place + byteCount <= entrySize else { return nil }
        var value: UInt64 = 0
        for byte in window[start..<(start + byteCount)] { value = value << 8 | UInt64(byte) }
        return value
    }
}
