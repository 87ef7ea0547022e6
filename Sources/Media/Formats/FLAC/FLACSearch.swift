/// Finds FLAC that does not begin at the first byte: after other bytes, or cut so that its header is missing
/// (docs/decisions/flac-without-a-header.md).
struct FLACSearch {
    /// The offset of the stream, and the frame at this offset when there is no marker.
    struct Finding {
        var offset: Int64
        var frame: FLACFrameHeader?
    }

    /// The stream has to begin within this many bytes.
    static let reach = 65_536
    /// A frame with more bytes is not found.
    private static let longestFrame = 262_144
    /// How many candidates for a frame are checked. Random bytes look like one about once in some million bytes.
    private static let mostCandidates = 64
    private static let chunkSize = 32_768

    private let reader: SourceReader
    private let start: Int64
    private var bytes: [UInt8] = []
    private var isComplete = false

    private init(_ source: any ByteSource, from start: Int64) {
        reader = SourceReader(source)
        self.start = start
    }

    /// The first marker with a metadata block after it, or the first intact frame with a complete format.
    static func start(in source: any ByteSource, from start: Int64) throws(Interruption) -> Finding? {
        var search = FLACSearch(source, from: start)
        return try search.find(alsoMarker: true)
    }

    /// The first intact frame with a complete format.
    static func firstFrame(in source: any ByteSource, from start: Int64) throws(Interruption) -> Finding? {
        var search = FLACSearch(source, from: start)
        return try search.find(alsoMarker: false)
    }

    private mutating func find(alsoMarker: Bool) throws(Interruption) -> Finding? {
        var candidates = 0
        var place = 0
        while place < Self.reach, candidates < Self.mostCandidates, try load(place + 1) {
            _ = try load(place + FLACFrameHeader.mostBytes)
            let byte = bytes[place]
            if alsoMarker, byte == FLACHeader.marker[0], isMarker(at: place) {
                return Finding(offset: start + Int64(place), frame: nil)
            }
            if byte == 0xFF, let frame = frame(at: place) {
                candidates += 1
                if try isWhole(frame, at: place) { return Finding(offset: start + Int64(place), frame: frame) }
            }
            place += 1
        }
        return nil
    }

    private func isMarker(at place: Int) -> Bool {
        place + 8 <= bytes.count && bytes[place..<(place + 4)].elementsEqual(FLACHeader.marker)
            && bytes[place + 4] & 0x7F <= FLACHeader.BlockType.lastKnown
    }

    private func frame(at place: Int) -> FLACFrameHeader? {
        guard let frame = FLACFrameHeader(bytes[place..<min(bytes.count, place + FLACFrameHeader.mostBytes)]),
            frame.sampleRate != nil, frame.bitDepth != nil
        else { return nil }
        return frame
    }

    /// Whether the frame reaches to the next frame or to the end, by its checksum.
    private mutating func isWhole(_ frame: FLACFrameHeader, at place: Int) throws(Interruption) -> Bool {
        var checksum: UInt16 = 0
        var next = place
        while next - place < Self.longestFrame, try load(next + 1) {
            checksum = FLACChecksum.crc16(checksum, bytes[next])
            next += 1
            guard checksum == 0, next - place > 6 else { continue }
            guard try load(next + 1) else { return true }
            if bytes[next] == 0xFF, try load(next + 2), bytes[next + 1] == bytes[place + 1] { return true }
        }
        return false
    }

    /// Loads the bytes before `count`.
    /// - Returns: whether the source has that many.
    private mutating func load(_ count: Int) throws(Interruption) -> Bool {
        while bytes.count < count, !isComplete {
            let chunk = try reader.bytes(Self.chunkSize, at: start + Int64(bytes.count))
            isComplete = chunk.count < Self.chunkSize
            bytes += chunk
        }
        return count <= bytes.count
    }
}
