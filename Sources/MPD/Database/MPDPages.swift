import Appliance

/// An answer that is made in pieces while the client reads them.
///
/// Thread: one at a time; that of queries.
final class MPDPages {
    /// The size in bytes at which a piece is complete.
    static let pieceSize = 64 << 10

    /// Adds lines until the piece is full. Returns whether more may follow.
    typealias Fill = (inout [UInt8]) throws(MPDFailure) -> Bool

    private var fill: Fill?

    init(_ fill: @escaping Fill) { self.fill = fill }

    /// An answer of one piece.
    convenience init(_ lines: [UInt8]) {
        self.init { (output) throws(MPDFailure) in
            output += lines
            return false
        }
    }

    /// Returns the next piece; nil at the end.
    func next() throws(MPDFailure) -> [UInt8]? {
        guard let fill else { return nil }
        var piece: [UInt8] = []
        piece.reserveCapacity(Self.pieceSize + 2048)
        while piece.count < Self.pieceSize {
            if try !fill(&piece) {
                self.fill = nil
                break
            }
        }
        return piece.isEmpty ? nil : piece
    }
}
