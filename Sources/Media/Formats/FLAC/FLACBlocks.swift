/// The metadata blocks of a FLAC stream (RFC 9639, 8). Blocks that are not needed are not read: of a picture of 20 MB
/// only the head.
struct FLACBlocks {
    enum BlockType {
        static let streamInfo: UInt8 = 0
        static let seekTable: UInt8 = 3
        static let vorbisComment: UInt8 = 4
        static let cueSheet: UInt8 = 5
        static let picture: UInt8 = 6
        static let lastKnown: UInt8 = 6
    }

    /// The STREAMINFO block; nil when it is missing or not valid.
    private(set) var streamInfo: FLACStreamInfo?
    /// The reason why `streamInfo` is not valid.
    private(set) var streamInfoError: Interruption?
    /// The content of the SEEKTABLE block, if there is one of a plausible size.
    private(set) var seekTable: [UInt8]?
    /// The range of the VORBIS_COMMENT block's content.
    private(set) var comments: Range<Int64>?
    /// The range of the CUESHEET block's content.
    private(set) var cueSheet: Range<Int64>?
    /// The pictures in the order of the file, with offsets in the source.
    private(set) var pictures: [TagPicture] = []
    /// The offset of the first audio frame, or of the search for it.
    private(set) var audioOffset: Int64
    /// Whether the chain of blocks ended at the audio.
    private(set) var isIntact = true
    /// Whether the source ends before the last block.
    private(set) var isCutOff = false

    /// The size of 10,000 seek points; at one every ten seconds that is more than a day.
    private static let largestSeekTable: Int64 = 180_000
    private static let mostBlocks = 4096

    /// Reads the blocks after the marker, from `start` on.
    init(_ source: any ByteSource, at start: Int64) throws(Interruption) {
        audioOffset = start
        var cursor = SourceCursor(source, from: start, to: .max)
        // A wrong block length makes the next offset invalid. Blocks are accepted up to the last one that leads to
        // another block. After it, the frames are searched.
        var searchFrom = start
        var isLast = false
        var isSound = true
        for _ in 0..<Self.mostBlocks where !isLast {
            guard let header = try cursor.bytes(4) else { isCutOff = true; break }
            let type = header[0] & 0x7F
            let content = cursor.offset
            let size = try Self.size(header, source, content)
            if type > BlockType.lastKnown { isSound = false }
            guard type != 0x7F, content + size <= source.length ?? .max else { isCutOff = true; break }
            switch type {
            case BlockType.streamInfo:
                // A second STREAMINFO does not belong to this stream.
                if streamInfo != nil { isSound = false }
                try readStreamInfo(&cursor, size)
                if streamInfo == nil, size == FLACStreamInfo.byteCount, streamInfoError == nil { isCutOff = true }
            case BlockType.seekTable where size <= Self.largestSeekTable:
                seekTable = try cursor.bytes(Int(size))
            case BlockType.vorbisComment where comments == nil:
                comments = content..<(content + size)
            case BlockType.cueSheet where cueSheet == nil:
                cueSheet = content..<(content + size)
            case BlockType.picture where pictures.count < TagPicture.most:
                let head = try cursor.bytes(Int(min(size, Int64(TagPicture.blockHead)))) ?? []
                if var picture = TagPicture(blockHead: head, size: size) {
                    picture.move(by: content)
                    pictures.append(picture)
                }
            default:
                break
            }
            let isStreamInfo = type == BlockType.streamInfo && size == FLACStreamInfo.byteCount
            if isSound { searchFrom = isStreamInfo ? content + size : content }
            isLast = header[0] & 0x80 != 0
            cursor.skip(content + size - cursor.offset)
        }
        if isLast {
            audioOffset = cursor.offset
            if isSound { return }
            let sync = try SourceReader(source).bytes(2, at: audioOffset)
            if sync.count == 2, sync[0] == 0xFF, sync[1] & 0xFE == 0xF8 { return }
        }
        audioOffset = searchFrom
        isIntact = false
        // Comments in a block before the wrong length are found already.
        if let comments, try VorbisComments.size(in: source, at: comments.lowerBound) != nil { return }
        comments = try Self.searchComments(in: source, from: searchFrom) ?? comments
    }

    private static func declaredSize(_ header: [UInt8]) -> Int64 {
        Int64(header[1]) << 16 + Int64(header[2]) << 8 + Int64(header[3])
    }

    /// The size of a block: that in its header, unless it leads nowhere and the lengths in the content lead to another
    /// block or the audio.
    private static func size(
        _ header: [UInt8], _ source: any ByteSource, _ content: Int64
    ) throws(Interruption) -> Int64 {
        let declared = declaredSize(header)
        let isLast = header[0] & 0x80 != 0
        guard header[0] & 0x7F == BlockType.vorbisComment || header[0] & 0x7F == BlockType.picture,
            try !isBoundary(content + declared, isLast, source)
        else { return declared }
        let own: Int64?
        if header[0] & 0x7F == BlockType.vorbisComment {
            own = try VorbisComments.size(in: source, at: content)
        } else {
            let head = try SourceReader(source).bytes(TagPicture.blockHead, at: content)
            own = TagPicture(blockHead: head, size: .max).map { $0.offset + $0.length }
        }
        guard let own, try isBoundary(content + own, isLast, source) else { return declared }
        return own
    }

    /// Whether the audio begins at `offset`, after the last block, or another block.
    private static func isBoundary(
        _ offset: Int64, _ isLast: Bool, _ source: any ByteSource
    ) throws(Interruption) -> Bool {
        let head = try SourceReader(source).bytes(4, at: offset)
        guard head.count == 4 else { return false }
        if isLast { return head[0] == 0xFF && head[1] & 0xFE == 0xF8 }
        let type = head[0] & 0x7F
        return type != BlockType.streamInfo && type <= BlockType.lastKnown
            && offset + 4 + declaredSize(head) <= source.length ?? .max
    }

    /// The most places whose comments are read.
    private static let mostGuesses = 16

    /// Searches a block of comments whose length is the one of its comments.
    private static func searchComments(
        in source: any ByteSource, from start: Int64
    ) throws(Interruption) -> Range<Int64>? {
        let bytes = try SourceReader(source).bytes(FLACSearch.reach, at: start)
        var guesses = 0
        for place in bytes.indices.dropLast(8)
        where bytes[place] & 0x7F == BlockType.vorbisComment && bytes[place + 7] == 0 && bytes[place + 6] == 0 {
            let content = start + Int64(place) + 4
            let size = declaredSize(Array(bytes[place..<(place + 4)]))
            // Each may cost as much as many comments.
            guard guesses < mostGuesses else { break }
            guard size > 8 else { continue }
            guesses += 1
            if try VorbisComments.size(in: source, at: content) == size { return content..<(content + size) }
        }
        return nil
    }

    private mutating func readStreamInfo(_ cursor: inout SourceCursor, _ size: Int64) throws(Interruption) {
        guard streamInfo == nil, size == FLACStreamInfo.byteCount, let block = try cursor.bytes(Int(size)) else {
            return
        }
        do throws(Interruption) { streamInfo = try FLACStreamInfo(block) } catch { streamInfoError = error }
    }
}
