/// The coded body of one answer, from the pieces that libcurl hands over to those that a sink takes.
///
/// A sink may have enough before a piece is used up. libcurl hands over the same bytes later, and what was decoded of
/// them is not decoded again.
///
/// Thread: network.
struct CodedBody {
    enum Step {
        /// For the sink. The same bytes come again until `take`.
        case output([UInt8])
        /// The piece is used up.
        case used
        case damaged
    }

    private var decoder: BodyDecoder
    /// Bytes of the piece that are decoded.
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

    /// The sink has taken the output.
    mutating func take() { held = [] }
}
