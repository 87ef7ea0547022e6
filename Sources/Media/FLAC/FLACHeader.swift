import PCM

/// What stands before the audio frames of a FLAC file, found without reading the blocks that are not needed: a picture
/// of 20 MB costs the four bytes of its block header.
struct FLACHeader {
    let streamInfo: FLACStreamInfo
    /// The SEEKTABLE block's content, where there is one of a believable size.
    private(set) var seekTable: [UInt8]?
    /// Where the VORBIS_COMMENT block's content lies.
    private(set) var comments: Range<Int64>?
    /// Where the first audio frame is, or where to begin searching for it.
    private(set) var audioOffset: Int64
    /// Whether the blocks led to the audio.
    private(set) var isIntact = true

    static let marker: [UInt8] = [0x66, 0x4C, 0x61, 0x43]  // fLaC

    /// 10,000 seek points; at one every ten seconds that is more than a day.
    private static let largestSeekTable = 180_000

    private enum BlockType {
        static let streamInfo: UInt8 = 0
        static let seekTable: UInt8 = 3
        static let vorbisComment: UInt8 = 4
        static let lastKnown: UInt8 = 6
    }

    /// Reads the metadata of the FLAC stream that begins at `start` with its marker.
    init(_ source: any ByteSource, at start: Int64) throws(MediaError) {
        let reader = SourceReader(source)
        let head = try reader.bytes(8 + FLACStreamInfo.byteCount, at: start)
        guard head.count == 8 + FLACStreamInfo.byteCount else { throw .damaged(what: "FLAC cut off in its header") }
        guard head[4] & 0x7F == BlockType.streamInfo,
            head[5...7].elementsEqual([0, 0, UInt8(FLACStreamInfo.byteCount)])
        else { throw .damaged(what: "FLAC without a STREAMINFO block") }
        streamInfo = try FLACStreamInfo(Array(head[8...]))

        var offset = start + Int64(head.count)
        audioOffset = offset
        // A block with a wrong length leads into the middle of nowhere. What follows is believed up to the last block
        // that leads to another one; from there the frames are searched.
        var searchFrom = offset
        var isLast = head[4] & 0x80 != 0
        var isSound = true
        while !isLast {
            let header = try reader.bytes(4, at: offset)
            guard header.count == 4 else { isSound = false; break }
            let type = header[0] & 0x7F
            let content = offset + 4
            let next = content + Int64(header[1]) << 16 + Int64(header[2]) << 8 + Int64(header[3])
            if type > BlockType.lastKnown { isSound = false }
            guard type != 0x7F, next <= source.length ?? .max else { isSound = false; break }
            switch type {
            case BlockType.seekTable where next - content <= Self.largestSeekTable:
                seekTable = try reader.bytes(Int(next - content), at: content)
            case BlockType.vorbisComment where comments == nil:
                comments = content..<next
            default:
                break
            }
            if isSound { searchFrom = content }
            isLast = header[0] & 0x80 != 0
            offset = next
        }
        if isLast {
            audioOffset = offset
            if isSound { return }
            let sync = try reader.bytes(2, at: offset)
            if sync.count == 2, sync[0] == 0xFF, sync[1] & 0xFE == 0xF8 { return }
        }
        audioOffset = searchFrom
        isIntact = false
    }

    /// A FLAC header for libFLAC that holds only what it needs. The offsets of a seek table count from the first frame,
    /// so they hold here too.
    func condensed() -> [UInt8] {
        var bytes = Self.marker
        bytes += [seekTable == nil ? 0x80 : 0, 0, 0, UInt8(FLACStreamInfo.byteCount)]
        bytes += streamInfo.raw
        if let seekTable {
            let size = seekTable.count
            bytes += [0x80 | BlockType.seekTable, UInt8(size >> 16), UInt8(size >> 8 & 0xFF), UInt8(size & 0xFF)]
            bytes += seekTable
        }
        return bytes
    }

    /// A seek table that was found to lie is not used again.
    mutating func dropSeekTable() { seekTable = nil }

    /// Why there is nothing to decode behind this header.
    func reasonForNoFrame(fileLength: Int64?) -> String {
        if !isIntact { return "FLAC with a broken header and no intact frame" }
        if let fileLength, audioOffset >= fileLength { return "FLAC that ends after its header" }
        return "FLAC without one intact frame"
    }

    /// Bits per second of the encoded audio.
    func averageBitRate(fileLength: Int64?) -> Int? {
        guard let fileLength, let frameCount = streamInfo.frameCount, audioOffset < fileLength else { return nil }
        let seconds = Double(frameCount) / Double(streamInfo.format.sampleRate)
        let rate = Double(fileLength - audioOffset) * 8 / seconds
        return rate < 1e12 ? Int(rate) : nil
    }
}
