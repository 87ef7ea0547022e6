/// libFLAC on the spans of a native FLAC file, with libFLAC's own seeking.
///
/// Thread: only the decoder thread.
final class FLACStream {
    let library: FLACLibrary
    /// The header of the stream, for its next decoder.
    var header: FLACHeader

    private let container: FLACContainer
    private let input: FLACSpanInput

    /// - Parameter header: that of `container`, or of an appended stream.
    init(_ container: FLACContainer, _ header: FLACHeader) throws(Interruption) {
        self.container = container
        self.header = header
        input = FLACSpanInput(container, header)
        library = try FLACLibrary(input, firstSample: header.firstSample)
    }

    /// Moves to `frame`.
    /// - Parameter end: where in the file the search ends; this limits only the search.
    /// - Returns: the rest of the block from `frame` on, in `kept`; nil when libFLAC did not find it. The position is
    ///   then undefined.
    func seek(toFrame frame: Int64, before end: Int64?) throws(Interruption) -> FLACLibrary.Block? {
        container.end = end
        defer { container.end = nil }
        return try library.seek(toFrame: frame)
    }

    /// The last intact block of the file, if it begins after `offset`. Its samples are not stored. The position is
    /// undefined afterwards.
    func lastBlock(after offset: Int64) throws(Interruption) -> FLACLibrary.Block? {
        library.restart(at: input.position(of: offset))
        var last: FLACLibrary.Block?
        let nowhere = UnsafeMutableBufferPointer<Int32>(start: nil, count: 0)
        while let block = try library.decodeBlock(into: nowhere, expected: nil) {
            if block.isIntact { last = block }
        }
        library.receiver.kept.drop(.max)
        library.receiver.complaints = .init()
        return last
    }

    /// Goes back to the first audio frame.
    func rewind() { library.restart(at: input.audioStart) }

    /// Goes back to the position before another stream used the same container.
    func resume(atFileOffset offset: Int64) { library.restart(at: input.position(of: offset)) }

    /// The offset in the file of the first byte that libFLAC has not used yet.
    var fileOffset: Int64? { library.position.map(input.fileOffset) }
}
