/// What somebody who mistyped a word may have meant.
enum Suggestion {
    /// ` Did you mean --device?`, or nothing when no candidate is close.
    static func text(for word: String, among candidates: [String]) -> String {
        closest(to: word, among: candidates).map { " Did you mean \($0)?" } ?? ""
    }

    /// The candidate with the fewest changed letters (case does not count), at most a third of the word's; or the only
    /// one that begins with the word.
    static func closest(to word: String, among candidates: [String]) -> String? {
        let letters = lowercase(word)
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let distance = distance(letters, lowercase(candidate))
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        if let best, best.distance <= max(1, letters.count / 3) { return best.candidate }
        let continued = candidates.filter { lowercase($0).starts(with: letters) }
        return continued.count == 1 ? continued[0] : nil
    }

    private static func lowercase(_ text: String) -> [UInt8] {
        text.utf8.map { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }
    }

    /// How many letters were inserted, removed, replaced or swapped with their neighbour (Damerau and Levenshtein).
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var before: [Int] = []
        var above = Array(0...right.count)
        for i in left.indices {
            var row = [i + 1]
            for j in right.indices {
                var cost = min(above[j] + (left[i] == right[j] ? 0 : 1), above[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] { cost = min(cost, before[j - 1] + 1) }
                row.append(cost)
            }
            before = above
            above = row
        }
        return above[right.count]
    }
}
