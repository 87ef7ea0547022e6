import CLinux

/// The texts of up to 64 tracks in one run of bytes, which a search reads as a whole. SQLite would take longer to
/// compare 100,000 rows (docs/decisions/library.md).
///
/// Each text begins with the track's number in the block, the length of its title and its whole length, in one, two and
/// two bytes. Then follow the words of the title, a blank, and the words of the artists, the album and the composers.
struct SearchBlock {
    static let trackCount: Int64 = 64

    private static let headCount = 5
    private static let longest = Int(UInt16.max)
    private static let blank = UInt8(ascii: " ")

    /// How well a text matches, the best case first.
    enum Match: Int, Comparable {
        /// All words are the beginnings of words in the title.
        case title
        /// All words are the beginnings of words in the text.
        case beginnings
        case inside

        static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
    }

    private(set) var bytes: [UInt8] = []

    init() {}

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    static func number(of track: Int64) -> Int64 { track / trackCount }

    /// - Parameter place: the track's number in the block, from 0.
    mutating func append(_ place: Int, title: [UInt8], rest: [UInt8]) {
        let text = (title + [Self.blank] + rest).prefix(Self.longest)
        let titleCount = min(title.count, text.count)
        bytes.append(UInt8(truncatingIfNeeded: place))
        for length in [titleCount, text.count] {
            bytes += [UInt8(truncatingIfNeeded: length), UInt8(truncatingIfNeeded: length >> 8)]
        }
        bytes += text
    }

    /// Calls `found` for each text that has all words.
    func search(_ words: [SearchWords.Word], _ found: (_ place: Int, Match) -> Void) {
        guard let first = words.first else { return }
        bytes.withUnsafeBufferPointer { bytes in
            // Tests the longest word first, because most blocks do not contain it.
            guard
                Self.find(first.bytes, in: bytes, 0..<bytes.count) != nil
                    || first.other.map({ Self.find($0, in: bytes, 0..<bytes.count) != nil }) ?? false
            else { return }
            var start = Self.headCount
            while start <= bytes.count {
                func length(_ place: Int) -> Int { Int(bytes[start - place]) | Int(bytes[start - place + 1]) << 8 }
                let end = start + length(2)
                guard end <= bytes.count else { return }
                if let match = Self.match(words, bytes, start..<end, titleEnd: start + length(4)) {
                    found(Int(bytes[start - Self.headCount]), match)
                }
                start = end + Self.headCount
            }
        }
    }

    /// Returns nil when a word is not in the text.
    private static func match(
        _ words: [SearchWords.Word], _ bytes: UnsafeBufferPointer<UInt8>, _ text: Range<Int>, titleEnd: Int
    ) -> Match? {
        var match = Match.title
        for word in words {
            var one = Self.match(word.bytes, bytes, text, titleEnd)
            if let other = word.other, let second = Self.match(other, bytes, text, titleEnd) {
                one = min(one ?? second, second)
            }
            guard let one else { return nil }
            match = max(match, one)
        }
        return match
    }

    private static func match(
        _ word: [UInt8], _ bytes: UnsafeBufferPointer<UInt8>, _ text: Range<Int>, _ titleEnd: Int
    ) -> Match? {
        var isInside = false
        var place = text.lowerBound
        while let hit = find(word, in: bytes, place..<text.upperBound) {
            if hit == text.lowerBound || bytes[hit - 1] <= blank { return hit < titleEnd ? .title : .beginnings }
            isInside = true
            place = hit + 1
        }
        return isInside ? .inside : nil
    }

    private static func find(_ word: [UInt8], in bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        let offset = tonearm_find(base + range.lowerBound, range.count, word, word.count)
        return offset < 0 ? nil : range.lowerBound + offset
    }
}
