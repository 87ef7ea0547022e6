/// The played parts of a decoded track, in order: the result of edit lists and encoder delays. There is at least one.
struct TrackEdit: Equatable {
    enum Part: Equatable {
        /// So many frames of silence.
        case silence(Int64)
        /// Decoded frames from `start` on; nil for all up to the end.
        case media(start: Int64, count: Int64?)
    }

    let parts: [Part]

    /// - Parameter parts: with at least one.
    init(_ parts: [Part]) {
        precondition(!parts.isEmpty)
        self.parts = parts
    }

    /// One part.
    /// - Parameters:
    ///   - leading: frames that are decoded first and not played.
    ///   - count: frames that are played; nil for all.
    init(leading: Int64 = 0, count: Int64? = nil) {
        parts = [.media(start: max(0, leading), count: count)]
    }

    /// The number of played frames.
    /// - Parameter end: the number of decoded frames, or nil when it is not known.
    func frameCount(ofDecoded end: Int64?) -> Int64? {
        var sum: Int64 = 0
        for part in parts {
            let frames: Int64
            switch part {
            case .silence(let count): frames = count
            case .media(let start, let count):
                let rest = end.map { max(0, $0 - start) }
                guard let known = Self.least(count, rest) else { return nil }
                frames = known
            }
            let (next, isBeyond) = sum.addingReportingOverflow(max(0, frames))
            if isBeyond { return nil }
            sum = next
        }
        return sum
    }

    /// The part that contains a played frame, and how many frames of the part precede it. After the last frame, the
    /// result is in the last part.
    func position(of frame: Int64) -> (part: Int, frame: Int64) {
        var rest = max(0, frame)
        for (index, part) in parts.enumerated() {
            let count: Int64
            switch part {
            case .silence(let frames): count = max(0, frames)
            case .media(_, let frames): count = frames.map { max(0, $0) } ?? .max
            }
            if rest < count || index == parts.count - 1 { return (index, rest) }
            rest -= count
        }
        return (parts.count - 1, rest)
    }

    private static func least(_ one: Int64?, _ other: Int64?) -> Int64? {
        if let one, let other { return min(one, other) }
        return one ?? other
    }
}
