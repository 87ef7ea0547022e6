/// Watches the main data of layer III, which may begin in the frames before (ISO/IEC 11172-3, 2.4.3.4.4).
///
/// A frame whose main data is missing is made silent: after a gap, and at the start of a stream that was cut out of
/// another one. libmpg123 does that for MPEG 1. For MPEG 2 it leaves a part of the side information, and may then skip
/// its filters. The frames after it would be rounded differently.
struct MainDataReservoir: ~Copyable {
    /// Bytes of main data that the decoder has.
    private var byteCount = 0
    private let memory: UnsafeMutableRawBufferPointer

    init() { memory = .allocate(byteCount: MPEGAudioHeader.mostBytes, alignment: 16) }

    deinit { memory.deallocate() }

    /// Resets the count, because the decoder has dropped all frames.
    mutating func reset() { byteCount = 0 }

    /// The frame as it can be decoded.
    /// - Parameter frame: with at least the bytes that its header asks for, at most `MPEGAudioHeader.mostBytes`.
    /// - Returns: valid until the next call, or as long as `frame`.
    mutating func playable(_ frame: UnsafeRawBufferPointer, _ header: MPEGAudioHeader) -> UnsafeRawBufferPointer {
        let start = header.sideInfoOffset
        let end = header.leastBytes
        guard header.layer == 3, end <= frame.count, frame.count <= memory.count else { return frame }
        let field = Int(frame[start]) << 8 | Int(frame[start + 1])
        let shift = 16 - header.reservoirBits
        let isThere = field >> shift <= byteCount
        let known = byteCount
        byteCount = min(header.largestReservoir, byteCount + frame.count - end)
        if isThere { return frame }
        memory.copyMemory(from: frame)
        for offset in start..<end { memory[offset] = 0 }
        // So the decoder keeps the main data of the frames before for later frames.
        memory[start] = UInt8(truncatingIfNeeded: (known << shift) >> 8)
        memory[start + 1] = UInt8(truncatingIfNeeded: known << shift)
        return UnsafeRawBufferPointer(rebasing: memory[..<frame.count])
    }
}
