/// The bytes for libFLAC: a condensed header, then the content of packets.
protocol FLACInput: AnyObject {
    /// - Returns: the number of bytes; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(Interruption) -> Int
    /// The position of the next byte, in this view.
    var position: Int64 { get }
    /// Whether the last read reached the end.
    var isAtEnd: Bool { get }
    /// The number of bytes in this view, or nil when it is not known or not valid.
    var length: Int64? { get }
    func seek(to position: Int64)
}

/// A header, then a native FLAC file from its first audio frame on, to its end or to the start of another stream.
final class FLACSpanInput: FLACInput {
    private let container: FLACContainer
    private let header: [UInt8]
    private let audioOffset: Int64
    private(set) var position: Int64 = 0
    private(set) var isAtEnd = false
    /// The unread part of the last packet.
    private var rest = UnsafeRawBufferPointer(start: nil, count: 0)

    /// - Parameter header: of the container, or of a stream that was appended to it.
    init(_ container: FLACContainer, _ header: FLACHeader) {
        self.container = container
        self.header = header.condensed()
        audioOffset = header.audioOffset
        seek(to: 0)
    }

    /// The offset of the first audio frame in this view.
    var audioStart: Int64 { Int64(header.count) }

    var length: Int64? {
        (container.end ?? container.source.length).map { audioStart + max(0, $0 - audioOffset) }
    }

    /// The offset in the file for a position in this view. Positions come from seek tables too, so any number is
    /// possible.
    func fileOffset(of position: Int64) -> Int64 {
        let (offset, isBeyond) = audioOffset.addingReportingOverflow(position - audioStart)
        return isBeyond ? .max : offset
    }

    /// The position in this view for an offset in the file.
    func position(of fileOffset: Int64) -> Int64 {
        audioStart + max(0, fileOffset - audioOffset)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(Interruption) -> Int {
        let count: Int
        if position < audioStart {
            let part = header[Int(position)...].prefix(buffer.count)
            buffer.copyBytes(from: part)
            count = part.count
        } else {
            if rest.isEmpty {
                guard let packet = try container.nextPacket() else {
                    isAtEnd = true
                    return 0
                }
                rest = packet.bytes
            }
            count = min(rest.count, buffer.count)
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: rest[..<count]))
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        isAtEnd = count == 0
        position += Int64(count)
        return count
    }

    func seek(to position: Int64) {
        self.position = position
        isAtEnd = false
        let offset = fileOffset(of: max(position, audioStart))
        rest = container.seek(toOffset: offset) ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }
}

/// A header, then the frames of the packets.
final class FLACFrameInput: FLACInput {
    private let header: [UInt8]
    private(set) var position: Int64 = 0
    private(set) var isAtEnd = false
    private var rest = UnsafeRawBufferPointer(start: nil, count: 0)
    let length: Int64? = nil

    init(_ streamInfo: FLACStreamInfo) {
        header = FLACHeader.marker + [0x80, 0, 0, UInt8(FLACStreamInfo.byteCount)] + streamInfo.raw
    }

    /// The next frame for libFLAC. Valid as long as the packet.
    func setFrame(_ bytes: UnsafeRawBufferPointer) {
        rest = bytes
        isAtEnd = false
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(Interruption) -> Int {
        let count: Int
        if position < Int64(header.count) {
            let part = header[Int(position)...].prefix(buffer.count)
            buffer.copyBytes(from: part)
            count = part.count
        } else {
            count = min(rest.count, buffer.count)
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: rest[..<count]))
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        isAtEnd = count == 0
        position += Int64(count)
        return count
    }

    func seek(to position: Int64) {}
}
