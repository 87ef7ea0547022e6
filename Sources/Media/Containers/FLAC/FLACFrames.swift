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
    public let format: PCMFormat
    /// The offset of the first frame in the file.
    public let audioOffset: Int64

    private let reader: SourceReader
    private let length: Int64
    private let totalSamples: Int64?
    /// The number of samples in all frames but the last; nil when it varies.
    private var fixedSize: Int?
    private var isFixed: Bool?
    private var window: [UInt8] = []
    private var windowOffset: Int64
    private var offset: Int64
    private var nextSample: Int64 = 0

    /// No frame of 8 channels of 32 bits and 65,535 samples is longer.
    private static let longestFrame = 4 << 20
    private static let chunkSize = 262_144
    /// `TAG` and 125 bytes (ID3v1), which some programs append.
    private static let appendedTag: Int64 = 128

    /// Reads the header.
    /// - Throws: `.damaged` when the file is not FLAC with a complete header; `.source`.
    public init(_ source: any ByteSource) throws(MediaError) {
        reader = SourceReader(source)
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
            format = header.streamInfo.format
            totalSamples = header.streamInfo.frameCount
            audioOffset = header.audioOffset
            let tag = try reader.bytes(3, at: max(0, length - Self.appendedTag))
            self.length = tag.elementsEqual("TAG".utf8) ? length - Self.appendedTag : length
        } catch {
            throw error.mediaError
        }
        windowOffset = audioOffset
        offset = audioOffset
    }

    /// Makes the frame at `offset` the next one.
    /// - Parameter firstSample: of that frame.
    public mutating func continueAt(offset: Int64, firstSample: Int64) {
        self.offset = offset
        nextSample = firstSample
        window = []
        windowOffset = offset
    }

    /// The next frame, or nil at the end.
    /// - Throws: `.damaged` when there is anything else; `.source`.
    public mutating func next() throws(MediaError) -> Frame? {
        do throws(Interruption) { return try nextFrame() } catch { throw error.mediaError }
    }

    private mutating func nextFrame() throws(Interruption) -> Frame? {
        if offset >= length {
            guard totalSamples == nil || totalSamples == nextSample else { throw damage() }
            return nil
        }
        _ = try load(FLACFrameHeader.mostBytes)
        guard let header = header(at: offset), begins(header, at: nextSample) else { throw damage() }
        if isFixed == nil {
            isFixed = !header.hasVariableSize
            // After `continueAt`, this is a frame in the middle of the file, whose first sample is known.
            if !header.hasVariableSize {
                fixedSize = header.number > 0 ? Int(nextSample / header.number) : header.blockSize
            }
        }
        let count = try byteCount(of: header)
        let frame = Frame(
            offset: offset, byteCount: count, firstSample: nextSample, sampleCount: header.blockSize)
        offset += Int64(count)
        nextSample += Int64(header.blockSize)
        return frame
    }

    /// Whether a frame with this header may hold the samples from `sample` on.
    private func begins(_ header: FLACFrameHeader, at sample: Int64) -> Bool {
        guard header.channelCount == format.channelCount, (header.sampleRate ?? format.sampleRate) == format.sampleRate,
            (header.bitDepth ?? format.bitDepth) == format.bitDepth,
            isFixed == nil || isFixed == !header.hasVariableSize
        else { return false }
        if let totalSamples, sample + Int64(header.blockSize) > totalSamples { return false }
        if header.hasVariableSize { return header.number == sample }
        guard let fixedSize else { return sample == 0 ? header.number == 0 : header.number > 0 }
        // Only the last frame may be shorter.
        return header.number * Int64(fixedSize) == sample && header.blockSize <= fixedSize
    }

    /// The bytes up to the next frame, or to the end.
    private mutating func byteCount(of header: FLACFrameHeader) throws(Interruption) -> Int {
        let following = nextSample + Int64(header.blockSize)
        let isLast = following == totalSamples
        var place = FLACFrameHeader.fewestBytes
        var checksum: UInt16 = 0
        var checked = 0
        while !isLast, place < Self.longestFrame {
            guard try load(place + FLACFrameHeader.mostBytes) || Int64(place) < length - offset else { break }
            let start = Int(offset - windowOffset)
            guard let found = window[(start + place)...].firstIndex(of: 0xFF) else {
                place = window.count - start
                if windowOffset + Int64(window.count) >= length { break }
                continue
            }
            place = found - start
            _ = try load(place + FLACFrameHeader.mostBytes)
            if let next = self.header(at: offset + Int64(place)), begins(next, at: following) {
                checksum = self.checksum(checksum, checked..<place)
                checked = place
                if checksum == 0 { return place }
            }
            place += 1
        }
        let rest = length - offset
        guard rest <= Int64(Self.longestFrame), try load(Int(rest)) else { throw damage() }
        guard self.checksum(checksum, checked..<Int(rest)) == 0, totalSamples == nil || isLast else { throw damage() }
        return Int(rest)
    }

    private func checksum(_ value: UInt16, _ range: Range<Int>) -> UInt16 {
        let start = Int(offset - windowOffset)
        return window.withUnsafeBytes { bytes in
            FLACChecksum.crc16(
                value, UnsafeRawBufferPointer(rebasing: bytes[(start + range.lowerBound)..<(start + range.upperBound)]))
        }
    }

    private func header(at offset: Int64) -> FLACFrameHeader? {
        let start = Int(offset - windowOffset)
        return FLACFrameHeader(window[start..<min(window.count, start + FLACFrameHeader.mostBytes)])
    }

    /// Loads `count` bytes of the next frame.
    /// - Returns: whether there are so many.
    private mutating func load(_ count: Int) throws(Interruption) -> Bool {
        let have = Int64(window.count) - (offset - windowOffset)
        if have >= Int64(count) { return true }
        let end = windowOffset + Int64(window.count)
        guard end < length else { return false }
        window.removeFirst(Int(offset - windowOffset))
        windowOffset = offset
        let wanted = min(max(Int64(Self.chunkSize), Int64(count) - have), length - end)
        window += try reader.bytes(Int(wanted), at: end)
        return window.count >= count
    }

    private func damage() -> Interruption { .damaged(what: "FLAC without an intact frame at \(offset)") }
}

extension FLACFrameHeader {
    /// A header of 6 bytes, one byte of a constant subframe and the checksum.
    fileprivate static let fewestBytes = 9
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

extension Interruption {
    /// The error for callers whose sources never return `.notYet`.
    fileprivate var mediaError: MediaError {
        switch self {
        case .failed(let error): error
        case .notYet: .damaged(what: "bytes that are not there yet")
        }
    }
}
