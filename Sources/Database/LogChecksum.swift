/// The checksum of SQLite's write-ahead log (file format, section 4.2): two sums of 32 bits over words of 32 bits, each
/// frame carrying on from the one before.
struct LogChecksum: Equatable {
    var first: UInt32
    var second: UInt32

    static let zero = LogChecksum(first: 0, second: 0)

    /// Carries on over an even number of words.
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

    /// How many bits differ.
    func distance(to other: LogChecksum) -> Int {
        (first ^ other.first).nonzeroBitCount + (second ^ other.second).nonzeroBitCount
    }

    /// The bits of which one is wrong in `words` when their checksum is `found` and not `expected`. For the lower 23
    /// bits of a word it is one place; for the bits above, the sums repeat within a page, and it is several.
    /// - Returns: empty when it is not exactly one bit. A write that was cut off looks so by a chance of one in 2^49.
    static func wrongBits(
        in words: [UInt32], found: LogChecksum, expected: LogChecksum
    ) -> [(word: Int, bit: UInt32)] {
        var candidates: [(word: Int, bit: UInt32)] = []
        let difference = LogChecksum(
            first: expected.first &- found.first, second: expected.second &- found.second)
        // What one more in a word adds to the sums at the end: (1, 1) or (0, 1) in the last pair of words, and one
        // round of the recurrence more for each pair before it.
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

    /// After one more pair of words of zero.
    private var carried: LogChecksum {
        let sum = first &+ second
        return LogChecksum(first: sum, second: second &+ sum)
    }
}
