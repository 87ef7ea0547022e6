/// Decodes the coded body of one answer: libcurl delivers pieces, and a sink takes the
/// output (docs/decisions/unasked-content-coding.md).
///
/// A sink may pause before a piece is used up. libcurl then delivers the same bytes again, and their decoded part is
/// not decoded again.
///
/// Thread: network.
struct CodedBody {
    enum Step {
        /// Output for the sink, repeated until `take`.
        case output([UInt8])
        /// The piece is used up.
        case used
        case damaged
    }

    private var decoder: BodyDecoder
    /// The number of decoded bytes of the piece.
    private var used = 0
    private var held: [UInt8] = []

    init(_ coding: ContentCoding) { decoder = BodyDecoder(coding) }

    var coding: ContentCoding { decoder.coding }
    var isComplete: Bool { decoder.isComplete }

    mutating func next(of piece: UnsafeRawBufferPointer) -> Step {
        if !held.isEmpty { return .output(held) }
        if used > piece.count {
            used -= piece.count
            return .used
        }
        switch decoder.run(piece, at: &used) {
        case .needsInput:
            used = 0
            return .used
        case .isFull:
            held = decoder.takeOutput()
            return .output(held)
        case .damaged: return .damaged
        }
    }

    /// Records that the sink has taken the output.
    mutating func take() { held = [] }
}
