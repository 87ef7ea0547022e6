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

    /// Levenshtein's: letters inserted, removed or replaced.
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var row = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, b) in right.enumerated() {
                let replaced = diagonal + (a == b ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, row[j] + 1, diagonal + 1)
            }
        }
        return row[right.count]
    }
}
