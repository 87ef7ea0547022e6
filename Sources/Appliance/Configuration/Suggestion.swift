/// Guesses what was meant.
enum Suggestion {
    /// The candidate that is nearest to a mistyped word; nil when none is near.
    static func nearest(to word: String, among candidates: [String]) -> String? {
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let distance = distance(Array(word.utf8), Array(candidate.utf8))
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        guard let best, best.distance <= max(1, min(3, word.utf8.count / 2)) else { return nil }
        return best.candidate
    }

    /// How many bytes have to be added, removed, replaced or exchanged with their neighbour, letters of either case
    /// being the same.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        let left = left.map(folded)
        let right = right.map(folded)
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (row, a) in left.enumerated() {
            var current = [row + 1]
            for (column, b) in right.enumerated() {
                var cost = min(last[column + 1], current[column]) + 1
                cost = min(cost, last[column] + (a == b ? 0 : 1))
                if row > 0, column > 0, a == right[column - 1], left[row - 1] == b {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }

    /// Lower case, and one kind of dash.
    private static func folded(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
        case UInt8(ascii: "_"): UInt8(ascii: "-")
        default: byte
        }
    }
}
