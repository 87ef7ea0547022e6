/// A request to `tonearm-pictures`: the picture's range in its file, and the size of the thumbnail.
///
/// One packet of 24 bytes. With it come two descriptors (`SCM_RIGHTS`): the picture's file, open for reading, and the
/// file of the result, empty and open for writing.
public struct PictureRequest: Equatable, Sendable {
    /// The bytes of a packet.
    public static let byteCount = 24
    /// The version of the interface; a packet of another version is refused.
    public static let version: UInt32 = 1
    /// The most that `longestSide` may be, in pixels.
    public static let largestSide = 640

    /// The most pixels of the thumbnail's longer side, 1 to `largestSide`. A smaller picture is not enlarged.
    public var longestSide: Int
    /// The first byte of the picture in its file.
    public var offset: Int64
    /// The bytes of the picture.
    public var length: Int64

    public init(longestSide: Int, offset: Int64, length: Int64) {
        self.longestSide = longestSide
        self.offset = offset
        self.length = length
    }

    /// Reads a packet; nil for another version, a range beyond 63 bits, or a size out of range.
    public init?(bytes: [UInt8]) {
        var reader = PacketReader(bytes)
        guard bytes.count == Self.byteCount, reader.next(4) == UInt64(Self.version) else { return nil }
        let (side, offset, length) = (reader.next(4), reader.next(8), reader.next(8))
        guard (1...UInt64(Self.largestSide)).contains(side), offset <= UInt64(Int64.max),
            length <= UInt64(Int64.max) - offset
        else { return nil }
        self.init(longestSide: Int(side), offset: Int64(offset), length: Int64(length))
    }

    /// The packet.
    public var bytes: [UInt8] {
        packet([
            (UInt64(Self.version), 4), (UInt64(longestSide), 4), (UInt64(bitPattern: offset), 8),
            (UInt64(bitPattern: length), 8),
        ])
    }
}
