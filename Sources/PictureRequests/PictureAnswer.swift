/// The answer of `tonearm-pictures` to one request: one packet of 16 bytes.
public struct PictureAnswer: Equatable, Sendable {
    /// The bytes of a packet.
    public static let byteCount = 16

    public var outcome: PictureOutcome
    /// The size of the thumbnail in pixels, and its bytes; 0 unless it was made.
    public var width: Int
    public var height: Int
    public var length: Int

    public init(_ outcome: PictureOutcome, width: Int = 0, height: Int = 0, length: Int = 0) {
        self.outcome = outcome
        self.width = width
        self.height = height
        self.length = length
    }

    /// Reads a packet; nil for another version, an unknown outcome, or a length beyond 31 bits.
    public init?(bytes: [UInt8]) {
        var reader = PacketReader(bytes)
        guard bytes.count == Self.byteCount, reader.next(4) == UInt64(PictureRequest.version),
            let outcome = PictureOutcome(rawValue: UInt32(reader.next(4)))
        else { return nil }
        let (width, height, length) = (reader.next(2), reader.next(2), reader.next(4))
        guard length <= UInt64(Int32.max) else { return nil }
        self.init(outcome, width: Int(width), height: Int(height), length: Int(length))
    }

    /// The packet.
    public var bytes: [UInt8] {
        packet([
            (UInt64(PictureRequest.version), 4), (UInt64(outcome.rawValue), 4), (UInt64(width), 2),
            (UInt64(height), 2), (UInt64(length), 4),
        ])
    }
}

/// The outcome of a request.
public enum PictureOutcome: UInt32, Sendable, CaseIterable {
    case made = 0
    /// Not a picture of a known format.
    case unknownFormat = 1
    /// Also of a program that ended without an answer.
    case damaged = 2
    /// More pixels, bytes or memory than allowed; also of a request that took too long.
    case tooLarge = 3
    /// The picture's file could not be read.
    case unreadable = 4
    /// The file of the result could not be written.
    case unwritable = 5
}
