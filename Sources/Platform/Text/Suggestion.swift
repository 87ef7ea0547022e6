/// Suggestions for mistyped words.
public enum Suggestion {
    /// Longer words get no suggestion: the work grows with the square of the length, and a client chooses the length.
    static let wordLimit = 32
    /// How many bytes of a word a message repeats.
    private static let quotationLimit = 128

    /// Returns the word for a message; a long one is cut.
    public static func quoted(_ word: String) -> String {
        CutText.cut(word, to: quotationLimit)
    }

    /// Returns ` Did you mean --device?`, or nothing when no candidate is near.
    public static func text(for word: String, among candidates: [String]) -> String {
        nearest(to: word, among: candidates).map { " Did you mean \($0)?" } ?? ""
    }

    /// Returns the candidate with the fewest wrong letters, at most half of the word's and three. Otherwise it returns
    /// the only candidate that begins with the word. Ignores case and the kind of dash. Returns nil for a word of more
    /// than 32 bytes.
    public static func nearest(to word: String, among candidates: [String]) -> String? {
        guard word.utf8.count <= wordLimit else { return nil }
        let letters = folded(word)
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let distance = distance(letters, folded(candidate))
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        if let best, best.distance <= max(1, min(3, letters.count / 2)) { return best.candidate }
        let continued = candidates.filter { folded($0).starts(with: letters) }
        return continued.count == 1 ? continued[0] : nil
    }

    /// Returns how many bytes have to be added, removed, replaced or exchanged with their neighbour (Damerau and
    /// Levenshtein).
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var before: [Int] = []
        var above = Array(0...right.count)
        for i in left.indices {
            var row = [i + 1]
            for j in right.indices {
                var cost = min(above[j] + (left[i] == right[j] ? 0 : 1), above[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    cost = min(cost, before[j - 1] + 1)
                }
                row.append(cost)
            }
            before = above
            above = row
        }
        return above[right.count]
    }

    private static func folded(_ text: String) -> [UInt8] {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
            case UInt8(ascii: "_"): UInt8(ascii: "-")
            default: byte
            }
        }
    }
}
