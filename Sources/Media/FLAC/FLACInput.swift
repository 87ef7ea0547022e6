/// The bytes as libFLAC shall see them: a condensed header, then the file from its first audio frame on.
struct FLACInput {
    private let reader: SourceReader
    private let header: [UInt8]
    private let audioOffset: Int64
    private(set) var position: Int64 = 0
    private(set) var isAtEnd = false

    init(_ source: any ByteSource, header: [UInt8], audioOffset: Int64) {
        reader = SourceReader(source)
        self.header = header
        self.audioOffset = audioOffset
    }

    /// Where the first audio frame begins, in this view.
    var audioStart: Int64 { Int64(header.count) }

    var length: Int64? {
        reader.length.map { audioStart + max(0, $0 - audioOffset) }
    }

    /// The place in the file of a position behind the header.
    func fileOffset(of position: Int64) -> Int64 {
        audioOffset + position - audioStart
    }

    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int {
        let count: Int
        if position < audioStart {
            let part = header[Int(position)...].prefix(buffer.count)
            buffer.copyBytes(from: part)
            count = part.count
        } else {
            count = try reader.source.read(into: buffer, at: fileOffset(of: position))
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
