import PCM

/// The frames of a FLAC file, one after the other, as their bytes: for putting them into another container without
/// decoding them.
///
/// Only a file without damage has them all: a frame begins where the one before it ends, has the number that follows,
/// and its checksum is right.
///
/// Thread: any, one at a time. It blocks in the source, which never returns `.notYet`.
public struct FLACFrames {
    /// The position and the content of a frame.
    public struct Frame: Equatable, Sendable {
        /// The offset of its first byte in the file.
        public var offset: Int64
        public var byteCount: Int
        /// The number of its first sample of a channel, from 0.
        public var firstSample: Int64
        /// Samples of a channel.
        public var sampleCount: Int
    }

    /// The content of the STREAMINFO block (RFC 9639, 8.2): 34 bytes.
    public let streamInfo: [UInt8]
    public var format: PCMFormat { numbering.format }
    /// The offset of the first frame in the file.
    public let audioOffset: Int64

    private var numbering: FLACFrameNumbering
    private var window: FLACFrameWindow
    private var nextSample: Int64 = 0

    /// No frame of 8 channels of 32 bits and 65,535 samples is longer.
    private static let longestFrame = 4 << 20
    /// `TAG` and 125 bytes (ID3v1), which some programs append.
    private static let appendedTag: Int64 = 128

    /// Reads the header.
    /// - Throws: `.damaged` when the file is not FLAC with a complete header; `.source`.
    public init(_ source: any ByteSource) throws(MediaError) {
        let reader = SourceReader(source)
        guard let length = source.length else { throw .damaged(what: "FLAC of unknown length") }
        do throws(Interruption) {
            let start = try ID3v2.end(of: source, at: 0)
            guard try reader.bytes(4, at: start) == FLACHeader.marker else {
                throw Interruption.damaged(what: "FLAC without its marker")
            }
            let header = try FLACHeader(source, at: start)
            guard header.isIntact, header.firstSample == 0 else {
                throw Interruption.damaged(what: "FLAC with a broken header")
            }
            streamInfo = header.streamInfo.raw
            numbering = FLACFrameNumbering(header.streamInfo)
            audioOffset = header.audioOffset
            let tag = try reader.bytes(3, at: max(0, length - Self.appendedTag))
            let end = tag.elementsEqual("TAG".utf8) ? length - Self.appendedTag : length
            window = FLACFrameWindow(reader, from: audioOffset, to: end)
        } catch {
            throw error.mediaError
        }
    }

    /// Makes the frame at `offset` the next one.
    /// - Parameter firstSample: of that frame.
    public mutating func continueAt(offset: Int64, firstSample: Int64) {
        window.move(to: offset)
        nextSample = firstSample
    }

    /// The next frame, or nil at the end.
    /// - Throws: `.damaged` when there is anything else; `.source`.
    public mutating func next() throws(MediaError) -> Frame? {
        do throws(Interruption) { return try nextFrame() } catch { throw error.mediaError }
    }

    private mutating func nextFrame() throws(Interruption) -> Frame? {
        if window.rest <= 0 {
            guard numbering.mayEnd(before: nextSample) else { throw damage() }
            return nil
        }
        _ = try window.load(FLACFrameHeader.mostBytes)
        guard let header = window.header(), numbering.admits(header, at: nextSample) else { throw damage() }
        numbering.begin(with: header, at: nextSample)
        let count = try byteCount(of: header)
        let frame = Frame(
            offset: window.offset, byteCount: count, firstSample: nextSample, sampleCount: header.blockSize)
        window.advance(count)
        nextSample += Int64(header.blockSize)
        return frame
    }

    /// The bytes up to the next frame, or to the end.
    private mutating func byteCount(of header: FLACFrameHeader) throws(Interruption) -> Int {
        let following = nextSample + Int64(header.blockSize)
        let isLast = following == numbering.totalSamples
        var place = FLACFrameHeader.fewestBytes
        var checksum: UInt16 = 0
        var checked = 0
        while !isLast, place < Self.longestFrame {
            guard try window.load(place + FLACFrameHeader.mostBytes) || Int64(place) < window.rest else { break }
            guard let found = window.syncCode(from: place) else {
                place = window.count
                if window.isWhole { break }
                continue
            }
            place = found
            _ = try window.load(place + FLACFrameHeader.mostBytes)
            if let next = window.header(at: place), numbering.admits(next, at: following) {
                checksum = window.checksum(checksum, checked..<place)
                checked = place
                if checksum == 0 { return place }
            }
            place += 1
        }
        let rest = window.rest
        guard rest <= Int64(Self.longestFrame), try window.load(Int(rest)) else { throw damage() }
        guard window.checksum(checksum, checked..<Int(rest)) == 0, numbering.mayEnd(before: following) else {
            throw damage()
        }
        return Int(rest)
    }

    private func damage() -> Interruption { .damaged(what: "FLAC without an intact frame at \(window.offset)") }
}

extension FLACFrameHeader {
    /// A header of 6 bytes, one byte of a constant subframe and the checksum.
    fileprivate static let fewestBytes = 9
}

extension Interruption {
    /// The error for callers whose sources never return `.notYet`.
    fileprivate var mediaError: MediaError {
        switch self {
        case .failed(let error): error
        case .notYet: .damaged(what: "bytes that are not there yet")
        }
    }
}
