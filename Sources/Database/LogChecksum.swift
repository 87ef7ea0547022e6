/// The checksum of SQLite's write-ahead log (file format, section 4.2): two sums of 32 bits over words of 32 bits. Each
/// frame continues the sums of the previous one.
struct LogChecksum: Equatable {
    var first: UInt32
    var second: UInt32

    static let zero = LogChecksum(first: 0, second: 0)

    /// Continues the sums over an even number of words.
    mutating func add(_ words: [UInt32]) {
        var index = 0
        while index + 1 < words.count {
            first = first &+ words[index] &+ second
            second = second &+ words[index + 1] &+ first
            index += 2
        }
    }

    func adding(_ words: [UInt32]) -> LogChecksum {
        var sum = self
        sum.add(words)
        return sum
    }

    /// Returns the number of different bits.
    func distance(to other: LogChecksum) -> Int {
        (first ^ other.first).nonzeroBitCount + (second ^ other.second).nonzeroBitCount
    }

    /// Returns the possible positions of a single wrong bit in `words` when their checksum is `found` and not
    /// `expected`. For the lower 23 bits of a word there is one position. For the higher bits the sums repeat within a
    /// page, and there are several.
    /// - Returns: empty when it is not exactly one bit. An interrupted write looks like one wrong bit with a
    ///   probability of 1 in 2^49.
    static func wrongBits(
        in words: [UInt32], found: LogChecksum, expected: LogChecksum
    ) -> [(word: Int, bit: UInt32)] {
        var candidates: [(word: Int, bit: UInt32)] = []
        let difference = LogChecksum(
            first: expected.first &- found.first, second: expected.second &- found.second)
        // Adding 1 to a word adds this to the final sums. In the last pair of words it is (1, 1) or (0, 1), and each
        // earlier pair adds one round of the recurrence.
        var even = LogChecksum(first: 1, second: 1)
        var odd = LogChecksum(first: 0, second: 1)
        var index = words.count - 2
        while index >= 0 {
            for (offset, effect) in [(0, even), (1, odd)] {
                let word = words[index + offset]
                for bit in 0..<UInt32(32) {
                    let isSet = word >> bit & 1 == 1
                    // Setting the bit adds 2^bit; clearing it subtracts 2^bit.
                    let power = UInt32(1) << bit
                    let change: UInt32 = isSet ? 0 &- power : power
                    if effect.first &* change == difference.first, effect.second &* change == difference.second {
                        candidates.append((index + offset, bit))
                    }
                }
            }
            even = even.carried
            odd = odd.carried
            index -= 2
        }
        return candidates
    }

    /// The sums after another pair of zero words.
    private var carried: LogChecksum {
        let sum = first &+ second
        return LogChecksum(first: sum, second: second &+ sum)
    }
}
