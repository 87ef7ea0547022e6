/// Positions in a list, counted from 1 as on the command line.
struct ListPlaces {
    /// The name of the list.
    let list: String
    /// The command that shows them.
    let command: String

    /// Returns the index for a position.
    func index(of text: String) throws(UsageError) -> Int {
        guard let index = Self.index(text[...].utf8) else {
            let word = text.isEmpty ? "\"\"" : text
            throw UsageError(
                "\(word): must be a place in the \(list), from 1 on, as `tonearm \(command)` lists them.")
        }
        return index
    }

    /// Returns ranges of indexes, from the last to the first, so that a removal does not change the remaining ranges.
    func ranges(_ words: [String]) throws(UsageError) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        for word in words {
            let ends = word.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
            if ends.count == 1 {
                let index = try index(of: word)
                ranges.append(index..<(index + 1))
                continue
            }
            guard ends.count == 2, let first = Self.index(ends[0]), let last = Self.index(ends[1]), first <= last
            else { throw UsageError("\(word): must be a place, from 1 on, or a range like 5-7.") }
            ranges.append(first..<(last + 1))
        }
        ranges.sort { $0.lowerBound > $1.lowerBound }
        for index in ranges.indices.dropFirst() where ranges[index].upperBound > ranges[index - 1].lowerBound {
            throw UsageError("\(list) remove: the same place is named twice.")
        }
        return ranges
    }

    private static func index(_ digits: Substring.UTF8View) -> Int? {
        guard let position = Int(Substring(digits)), position > 0 else { return nil }
        return position - 1
    }
}
