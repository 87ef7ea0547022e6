/// The lengths of the parts of content, in frames of one rate. The sum is stored, because there may be 50,000 parts.
struct PartLengths {
    /// The rate of the frames.
    let rate: Int
    /// The lengths; nil for unknown ones.
    private var lengths: [Int64?]
    /// Whether each length was counted by playing the part to its end.
    private var isCounted: [Bool]
    /// The sum of the known lengths.
    private var sum: Int64 = 0
    private var unknownCount = 0

    /// The longest accepted length, more than 15 years at the highest rate, so that sums do not overflow.
    private static let longest = 1e14

    /// - Parameter durations: the durations in seconds; at least one.
    init(durations: [Double?], rate: Int) {
        self.rate = rate
        isCounted = durations.map { _ in false }
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

    /// Sets the exact length of a part that was played to its end.
    mutating func counted(_ length: Int64, of part: Int) {
        self[part] = length
        isCounted[part] = true
    }

    /// Shortens a part to the length that its media has, unless it was counted. A movie box may describe the whole
    /// recording, of which the part is a section.
    mutating func limit(_ part: Int, to length: Int64) {
        if !isCounted[part] { self[part] = min(length, self[part] ?? .max) }
    }

    private mutating func count(_ length: Int64?, _ sign: Int64) {
        if let length { sum += sign * length } else { unknownCount += Int(sign) }
    }

    /// Returns the length of all parts; nil while unknown.
    /// - Parameter length: the length of `part`, used if it is unknown here.
    func total(with length: Int64?, of part: Int) -> Int64? {
        if lengths[part] != nil { return unknownCount == 0 ? sum : nil }
        return unknownCount == 1 ? length.map { sum + min($0, Int64(Self.longest)) } : nil
    }

    /// Returns the part that contains a frame, and the offset of the frame in it. Frames after the end belong to the
    /// last part.
    func position(of frame: Int64) -> (part: Int, frame: Int64) {
        var rest = max(0, frame)
        var part = 0
        while part + 1 < lengths.count, let length = lengths[part], rest >= length {
            rest -= length
            part += 1
        }
        return (part, rest)
    }
}
