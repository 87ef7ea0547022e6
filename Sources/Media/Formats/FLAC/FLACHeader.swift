import PCM

/// The data before the audio frames of a FLAC stream, or its replacement from a frame when it is missing.
struct FLACHeader {
    typealias BlockType = FLACBlocks.BlockType

    let streamInfo: FLACStreamInfo
    /// The content of the SEEKTABLE block, if there is one of a plausible size.
    private(set) var seekTable: [UInt8]?
    /// The range of the VORBIS_COMMENT block's content.
    let comments: Range<Int64>?
    /// The pictures of the PICTURE blocks.
    private(set) var pictures: [TagPicture] = []
    /// The offset of the first audio frame, or of the search for it.
    let audioOffset: Int64
    /// Whether the chain of blocks ended at the audio.
    let isIntact: Bool
    /// The number of the first sample. Not 0 when the header and the beginning of the audio are missing.
    let firstSample: Int64

    static let marker: [UInt8] = [0x66, 0x4C, 0x61, 0x43]  // fLaC

    /// Reads the metadata of the FLAC stream that begins at `start` with its marker or, without metadata, with a frame.
    init(_ source: any ByteSource, at start: Int64) throws(Interruption) {
        let reader = SourceReader(source)
        guard try reader.bytes(4, at: start) == Self.marker else {
            guard let found = try FLACSearch.firstFrame(in: source, from: start), let frame = found.frame,
                let streamInfo = FLACStreamInfo(frame)
            else { throw .damaged(what: "FLAC without a header and without one intact frame") }
            self.streamInfo = streamInfo
            firstSample = frame.firstSample
            audioOffset = found.offset
            comments = nil
            isIntact = true
            return
        }
        let blocks = try FLACBlocks(source, at: start + 4)
        comments = blocks.comments
        pictures = blocks.pictures
        isIntact = blocks.isIntact
        if var streamInfo = blocks.streamInfo {
            let head = try reader.bytes(FLACFrameHeader.mostBytes, at: blocks.audioOffset)
            if let frame = FLACFrameHeader(head[...]) { streamInfo.correct(by: frame) }
            self.streamInfo = streamInfo
            seekTable = blocks.seekTable
            audioOffset = blocks.audioOffset
            firstSample = 0
        } else if let found = try FLACSearch.firstFrame(in: source, from: blocks.audioOffset),
            let frame = found.frame, let streamInfo = FLACStreamInfo(frame)
        {
            self.streamInfo = streamInfo
            audioOffset = found.offset
            firstSample = frame.firstSample
        } else {
            if let error = blocks.streamInfoError { throw error }
            throw .damaged(what: blocks.isCutOff ? "FLAC cut off in its header" : "FLAC without a STREAMINFO block")
        }
    }

    /// A FLAC header for libFLAC with only the necessary blocks. The offsets of a seek table count from the first
    /// frame, so they are valid here too.
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

    /// A seek table that was found to be wrong is not used again.
    mutating func dropSeekTable() { seekTable = nil }

    /// The reason why nothing after this header can be decoded.
    func reasonForNoFrame(fileLength: Int64?) -> String {
        if !isIntact { return "FLAC with a broken header and no intact frame" }
        if let fileLength, audioOffset >= fileLength { return "FLAC that ends after its header" }
        return "FLAC without one intact frame"
    }

    /// Bits per second of the encoded audio.
    func averageBitRate(fileLength: Int64?) -> Int? {
        guard let fileLength, let frameCount = streamInfo.frameCount, audioOffset < fileLength else { return nil }
        let seconds = Double(frameCount) / Double(streamInfo.format.sampleRate)
        // nil also when the number does not fit into 32 bits: then the length in the header is impossible.
        return Int32(exactly: (Double(fileLength - audioOffset) * 8 / seconds).rounded(.down)).map { Int($0) }
    }
}
