/// libFLAC over the spans of a native FLAC file, and libFLAC's own seeking in them.
///
/// Thread: the decoder thread alone.
final class FLACStream {
    let library: FLACLibrary

    private let container: FLACContainer
    private let input: FLACSpanInput

    /// - Parameter header: the one of `container`, or of a stream that was appended to it.
    init(_ container: FLACContainer, _ header: FLACHeader) throws(Interruption) {
        self.container = container
        input = FLACSpanInput(container, header)
        library = try FLACLibrary(input, firstSample: header.firstSample)
    }

    /// Goes to `frame`.
    /// - Parameter end: where in the file the search has to end, which goes for the search alone.
    /// - Returns: the rest of the block that begins with `frame`, kept; nil when libFLAC did not find it, after which
    ///   the stream stands anywhere.
    func seek(toFrame frame: Int64, before end: Int64?) throws(Interruption) -> FLACLibrary.Block? {
        container.end = end
        defer { container.end = nil }
        return try library.seek(toFrame: frame)
    }

    /// The last block of the file that is intact, if it begins behind `offset`; nothing of it is kept. The stream then
    /// stands anywhere.
    func lastBlock(behind offset: Int64) throws(Interruption) -> FLACLibrary.Block? {
        library.restart(at: input.position(of: offset))
        var last: FLACLibrary.Block?
        let nowhere = UnsafeMutableBufferPointer<Int32>(start: nil, count: 0)
        while let block = try library.decodeBlock(into: nowhere, expected: nil) {
            if block.isIntact { last = block }
        }
        library.kept.drop(.max)
        library.complaints = .init()
        return last
    }

    /// Goes back to the first audio frame.
    func rewind() { library.restart(at: input.audioStart) }

    /// Goes back to where it stood when another stream used the same container.
    func resume(atFileOffset offset: Int64) { library.restart(at: input.position(of: offset)) }

    /// Where in the file the bytes begin that libFLAC has not used yet.
    var fileOffset: Int64? { library.position.map(input.fileOffset) }
}
