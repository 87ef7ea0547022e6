import PCM

/// Where the first FLAC stream of a file ends. Some files contain several streams, one after the other. libFLAC
/// searches by frame numbers, and could find the number in the wrong stream.
struct FLACExtent {
    /// The end of the first stream, when it is known to be before the end of the file.
    private(set) var end: Int64?
    /// Whether another stream may follow; nil while this is not known.
    private var mayBeFollowed: Bool?
    /// No other stream begins before this offset.
    private var searchedTo: Int64

    private static let chunkSize = 65_536
    /// The bytes that a tag after the last frame may take.
    private static let roomForTag: Int64 = 16_384

    init(_ header: FLACHeader) { searchedTo = header.audioOffset }

    /// Records that another stream was found during playback.
    mutating func isFollowed(at offset: Int64) { end = end ?? offset }

    /// Checks the end of the file once. If the last frame in the file is the last one of the first stream, no other
    /// stream follows.
    /// - Parameter stream: of the file's first stream; its position is undefined afterwards.
    mutating func examine(
        _ source: any ByteSource, _ header: FLACHeader, with stream: FLACStream
    ) throws(Interruption) {
        let info = header.streamInfo
        // Without a total, any last frame may belong to the first stream.
        guard mayBeFollowed == nil, let length = source.length, let total = info.frameCount else { return }
        if let most = info.mostBytes, length - header.audioOffset > most + Self.roomForTag {
            mayBeFollowed = true
            return
        }
        let largestFrame = info.largestBlock * Int64(info.format.channelCount * ((info.format.bitDepth + 7) / 8))
        let window = largestFrame + Self.roomForTag
        let last: FLACLibrary.Block?
        do throws(Interruption) {
            last = try stream.lastBlock(after: max(header.audioOffset, length - window))
        } catch {
            // A read error there may not matter for the target of the seek.
            if error == .notYet || error == .source(.cancelled) { throw error }
            return
        }
        mayBeFollowed = last?.endFrame != total || last?.format != info.format
    }

    /// Whether `offset` is in a later stream. If so, `end` is known from then on.
    mutating func isLeft(at offset: Int64, in source: any ByteSource) throws(Interruption) -> Bool {
        guard end == nil, mayBeFollowed == true else { return false }
        let reader = SourceReader(source)
        while end == nil, searchedTo < offset {
            let chunk = try reader.bytes(Self.chunkSize, at: searchedTo)
            end = Self.firstStart(in: chunk).map { searchedTo + Int64($0) }
            guard chunk.count > Self.start.count else { break }
            searchedTo += Int64(chunk.count - Self.start.count + 1)
        }
        return end != nil
    }

    /// The start of a stream: its marker and the header of a STREAMINFO block, without the bit for the last block.
    private static let start = FLACHeader.marker + [0, 0, 0, UInt8(FLACStreamInfo.byteCount)]

    private static func firstStart(in bytes: [UInt8]) -> Int? {
        guard bytes.count >= start.count else { return nil }
        return (0...(bytes.count - start.count)).first { place in
            bytes[place] == start[0]
                && start.indices.allSatisfy { index in
                    bytes[place + index] & (index == 4 ? 0x7F : 0xFF) == start[index]
                }
        }
    }
}
