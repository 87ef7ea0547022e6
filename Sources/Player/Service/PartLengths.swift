/// The lengths of the parts of content, in frames of one rate, with their sum at hand: there may be 50,000 parts.
struct PartLengths {
    /// nil while not known.
    private var lengths: [Int64?]
    /// Of those that are known.
    private var sum: Int64 = 0
    private var unknownCount = 0

    /// Longer ones, more than 15 years at the highest rate, are not believed. So sums do not overflow.
    private static let longest = 1e14

    /// - Parameter durations: in seconds; at least one.
    init(durations: [Double?], rate: Int) {
        lengths = durations.map { duration in
            guard let frames = duration.map({ ($0 * Double(rate)).rounded() }), frames >= 0, frames < Self.longest
            else { return nil }
            return Int64(frames)
        }
        for length in lengths { count(length, 1) }
    }

    var count: Int { lengths.count }

    subscript(part: Int) -> Int64? {
        get { lengths[part] }
        set {
            let length = newValue.map { min($0, Int64(Self.longest)) }
            count(lengths[part], -1)
            lengths[part] = length
            count(length, 1)
        }
    }

    private mutating func count(_ length: Int64?, _ sign: Int64) {
        if let length { sum += sign * length } else { unknownCount += Int(sign) }
    }

    /// Of all parts; nil while it is not known.
    /// - Parameter length: of `part`, if it is not known here.
    func total(with length: Int64?, of part: Int) -> Int64? {
        if lengths[part] != nil { return unknownCount == 0 ? sum : nil }
        return unknownCount == 1 ? length.map { sum + min($0, Int64(Self.longest)) } : nil
    }

    /// The part that has a frame, and the place of the frame in it. What lies after the end is in the last part.
    func place(of frame: Int64) -> (part: Int, frame: Int64) {
        var rest = max(0, frame)
        var part = 0
        while part + 1 < lengths.count, let length = lengths[part], rest >= length {
            rest -= length
            part += 1
        }
        return (part, rest)
    }
}
