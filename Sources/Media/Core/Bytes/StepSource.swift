/// The bytes of a source, for steps that can be repeated.
///
/// Opening, seeking and decoding one block each need several reads. When a read returns `.notYet`, the step is
/// cancelled and repeated later from its beginning. From the first `.notYet` on, the bytes that the step reads are
/// stored here until the step is finished, so that each repetition gets further. A source that never returns `.notYet`
/// has no overhead.
///
/// Thread: only the decoder thread.
final class StepSource: ByteSource {
    private struct Piece {
        var offset: Int64
        var bytes: [UInt8]
        var end: Int64 { offset + Int64(bytes.count) }
    }

    private let source: any ByteSource
    private var pieces: [Piece] = []
    private var keptBytes = 0
    /// The offsets at which the source reported an end. A chain of segments has one for each.
    private var keptEnds: [Int64] = []
    private var isKeeping = false

    /// The limit of stored bytes. A step that reads more reads from the source again.
    private static let mostBytes = 16_777_216

    init(_ source: any ByteSource) { self.source = source }

    var length: Int64? { source.length }

    var isStreamed: Bool { source.isStreamed }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) { source.whenReadable(wake) }

    /// Ends the step: it has its result, and none of its bytes are read again.
    func finishStep() {
        guard isKeeping else { return }
        isKeeping = false
        pieces = []
        keptBytes = 0
        keptEnds = []
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        guard isKeeping else {
            let answer = try source.read(into: buffer, at: offset)
            if answer == .notYet { isKeeping = true }
            return answer
        }
        if let piece = pieces.first(where: { $0.offset <= offset && offset < $0.end }) {
            let start = Int(offset - piece.offset)
            let count = min(buffer.count, piece.bytes.count - start)
            buffer.copyBytes(from: piece.bytes[start..<(start + count)])
            return .bytes(count)
        }
        if keptEnds.contains(offset) { return .end }
        let answer = try source.read(into: buffer, at: offset)
        switch answer {
        case .bytes(let count): keep(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: offset)
        case .end: keptEnds.append(offset)
        case .notYet: break
        }
        return answer
    }

    private func keep(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        if keptBytes + bytes.count > Self.mostBytes {
            pieces = []
            keptBytes = 0
        }
        guard bytes.count <= Self.mostBytes else { return }
        keptBytes += bytes.count
        if let index = pieces.firstIndex(where: { $0.end == offset }) {
            pieces[index].bytes += bytes
        } else {
            pieces.append(Piece(offset: offset, bytes: Array(bytes)))
        }
    }
}
