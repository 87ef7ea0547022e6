/// The bytes as libFLAC shall see them: a condensed header, then the file from its first audio frame on, to its end or
/// to where another stream begins.
struct FLACInput {
    private let reader: SourceReader
    private let header: [UInt8]
    private let audioOffset: Int64
    private(set) var position: Int64 = 0
    private(set) var isAtEnd = false
    /// Where in the file to end; nil: with the file.
    var end: Int64?

    init(_ source: any ByteSource, header: [UInt8], audioOffset: Int64) {
        reader = SourceReader(source)
        self.header = header
        self.audioOffset = audioOffset
    }

    /// Where the first audio frame begins, in this view.
    var audioStart: Int64 { Int64(header.count) }

    var length: Int64? {
        (end ?? reader.length).map { audioStart + max(0, $0 - audioOffset) }
    }

    /// The place in the file of a position behind the header.
    func fileOffset(of position: Int64) -> Int64 {
        audioOffset + position - audioStart
    }

    /// The reverse.
    func position(of fileOffset: Int64) -> Int64 {
        audioStart + max(0, fileOffset - audioOffset)
    }

    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int {
        let count: Int
        if position < audioStart {
            let part = header[Int(position)...].prefix(buffer.count)
            buffer.copyBytes(from: part)
            count = part.count
        } else {
            let offset = fileOffset(of: position)
            let room = Int(max(0, min(Int64(buffer.count), (end ?? .max) - offset)))
            count = room == 0 ? 0 : try reader.source.read(into: .init(rebasing: buffer[..<room]), at: offset)
        }
        isAtEnd = count == 0
        position += Int64(count)
        return count
    }

    mutating func seek(to position: Int64) {
        self.position = position
        isAtEnd = false
    }
}
