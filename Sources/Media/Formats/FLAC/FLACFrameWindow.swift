/// The bytes of a FLAC file from the next frame on, loaded in chunks.
struct FLACFrameWindow {
    /// The offset of the next frame in the file.
    private(set) var offset: Int64

    private let reader: SourceReader
    /// The offset of the first byte after the audio.
    private let end: Int64
    private var bytes: [UInt8] = []
    /// The offset of `bytes` in the file; `offset` or less.
    private var bytesOffset: Int64

    private static let chunkSize = 262_144

    init(_ reader: SourceReader, from offset: Int64, to end: Int64) {
        self.reader = reader
        self.offset = offset
        self.end = end
        bytesOffset = offset
    }

    /// How many bytes follow up to the end, loaded or not.
    var rest: Int64 { end - offset }

    /// The loaded bytes of the frame.
    var count: Int { bytes.count - start }

    /// Whether the loaded bytes reach to the end.
    var isWhole: Bool { bytesOffset + Int64(bytes.count) >= end }

    /// The index of the frame's first byte in `bytes`.
    private var start: Int { Int(offset - bytesOffset) }

    /// Makes the frame at `offset` the next one.
    mutating func move(to offset: Int64) {
        self.offset = offset
        bytes = []
        bytesOffset = offset
    }

    /// Makes the frame after the first `count` bytes the next one.
    mutating func advance(_ count: Int) { offset += Int64(count) }

    /// Loads `count` bytes of the next frame.
    /// - Returns: whether there are so many.
    mutating func load(_ count: Int) throws(Interruption) -> Bool {
        let have = Int64(bytes.count) - (offset - bytesOffset)
        if have >= Int64(count) { return true }
        let loadedEnd = bytesOffset + Int64(bytes.count)
        guard loadedEnd < end else { return false }
        bytes.removeFirst(start)
        bytesOffset = offset
        let wanted = min(max(Int64(Self.chunkSize), Int64(count) - have), end - loadedEnd)
        bytes += try reader.bytes(Int(wanted), at: loadedEnd)
        return bytes.count >= count
    }

    /// The header in the loaded bytes, `place` bytes after the start of the frame; nil for other bytes.
    func header(at place: Int = 0) -> FLACFrameHeader? {
        let first = start + place
        return FLACFrameHeader(bytes[first..<min(bytes.count, first + FLACFrameHeader.mostBytes)])
    }

    /// The first loaded byte, from `place` on, that may begin the sync code of a header.
    func syncCode(from place: Int) -> Int? {
        let start = start
        return bytes[(start + place)...].firstIndex(of: 0xFF).map { $0 - start }
    }

    /// The checksum with more bytes, which are loaded.
    /// - Parameter range: counts from the start of the frame.
    func checksum(_ value: UInt16, _ range: Range<Int>) -> UInt16 {
        let start = start
        return bytes.withUnsafeBytes { bytes in
            FLACChecksum.crc16(
                value, UnsafeRawBufferPointer(rebasing: bytes[(start + range.lowerBound)..<(start + range.upperBound)]))
        }
    }
}

extension FLACChecksum {
    private static let crc16Table: [UInt16] = (0..<256).map { crc16(0, UInt8($0)) }

    /// The checksum with more bytes.
    static func crc16(_ checksum: UInt16, _ bytes: UnsafeRawBufferPointer) -> UInt16 {
        crc16Table.withUnsafeBufferPointer { table in
            var value = checksum
            for byte in bytes { value = value << 8 ^ table[Int(value >> 8) ^ Int(byte)] }
            return value
        }
    }
}
