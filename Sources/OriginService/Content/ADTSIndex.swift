import Media

/// The positions of segments in the file of an ADTS stream (ISO/IEC 13818-7, 6.2), from bytes that arrive in order.
struct ADTSIndex: Equatable, Sendable {
    /// The size of a header without a checksum.
    static let headerCount = 7

    private let stream: ServedAAC
    /// The first byte of each segment that has begun.
    private var starts: [Int64] = []
    /// The position of the next frame's header.
    private var end: Int64 = 0
    private var frameCount = 0
    /// The beginning of a header whose rest has not arrived.
    private var rest: [UInt8] = []
    private var arrived: Int64 = 0
    private(set) var isComplete = false

    init(_ stream: ServedAAC) { self.stream = stream }

    /// The number of frames that have begun.
    var count: Int { frameCount }

    /// Returns the range of a segment, from 1; nil while it is not complete.
    func segment(_ number: Int) -> Range<Int64>? {
        guard number > 0, number <= starts.count else { return nil }
        if number < starts.count { return starts[number - 1]..<starts[number] }
        return isComplete ? starts[number - 1]..<end : nil
    }

    /// - Throws: `.damaged` for bytes that are not a frame, or a frame of another stream.
    mutating func append(_ bytes: UnsafeRawBufferPointer) throws(MediaError) {
        let start = arrived - Int64(rest.count)
        arrived += Int64(bytes.count)
        let known = rest
        func byte(_ offset: Int) -> UInt8 { offset < known.count ? known[offset] : bytes[offset - known.count] }
        let total = known.count + bytes.count
        while true {
            let offset = Int(end - start)
            guard offset + Self.headerCount <= total else {
                rest = offset < total ? (offset..<total).map { byte($0) } : []
                return
            }
            let header = (offset..<(offset + Self.headerCount)).map { byte($0) }
            guard let frame = ADTSFrame(header), frame.isOf(stream) else { throw Self.damaged }
            if frameCount % stream.framesPerSegment == 0 { starts.append(end) }
            frameCount += 1
            end += Int64(frame.count)
        }
    }

    /// Ends the stream.
    /// - Throws: `.damaged` when the last frame is cut off, or there is none.
    mutating func finish() throws(MediaError) {
        guard rest.isEmpty, end == arrived, frameCount > 0 else { throw Self.damaged }
        isComplete = true
    }

    private static var damaged: MediaError { .damaged(what: "AAC that was encoded") }
}

/// The header of a frame.
struct ADTSFrame {
    /// The size of the frame with its header, in bytes.
    let count: Int
    let headerCount: Int
    private let rateIndex: UInt8
    private let channelCount: UInt8

    /// - Parameter bytes: at least `ADTSIndex.headerCount` bytes.
    /// - Returns: nil when they are no header.
    init?(_ bytes: some RandomAccessCollection<UInt8>) {
        func byte(_ offset: Int) -> UInt8 { bytes[bytes.index(bytes.startIndex, offsetBy: offset)] }
        guard bytes.count >= ADTSIndex.headerCount, byte(0) == 0xFF, byte(1) & 0xF6 == 0xF0 else { return nil }
        headerCount = byte(1) & 1 == 0 ? 9 : 7
        count = Int(byte(3) & 3) << 11 | Int(byte(4)) << 3 | Int(byte(5)) >> 5
        rateIndex = byte(2) >> 2 & 15
        channelCount = (byte(2) & 1) << 2 | byte(3) >> 6
        guard count > headerCount else { return nil }
    }

    func isOf(_ stream: ServedAAC) -> Bool {
        rateIndex == stream.rateIndex && channelCount == UInt8(stream.channelCount)
    }
}
