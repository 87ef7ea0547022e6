/// A canonical Huffman code (RFC 1951, 3.2.2).
struct HuffmanCode {
    static let longest = 15

    /// The number of codes of each length.
    private var counts = [UInt16](repeating: 0, count: longest + 1)
    /// The symbols in the order of their codes.
    private var symbols: [UInt16] = []

    /// - Parameter lengths: the length of the code of each symbol in bits; 0 for a symbol without a code.
    /// - Returns: nil when there are more codes than their lengths permit, or unused codes. No code at all is valid,
    ///   and so is a single one of one bit.
    init?(lengths: some RandomAccessCollection<UInt8>) {
        for length in lengths { counts[Int(length)] += 1 }
        counts[0] = 0
        var free = 1
        var starts = [Int](repeating: 0, count: Self.longest + 2)
        for length in 1...Self.longest {
            free = free * 2 - Int(counts[length])
            guard free >= 0 else { return nil }
            starts[length + 1] = starts[length] + Int(counts[length])
        }
        let total = starts[Self.longest + 1]
        guard free == 0 || total == 0 || total == 1 && counts[1] == 1 else { return nil }
        symbols = [UInt16](repeating: 0, count: total)
        for (symbol, length) in lengths.enumerated() where length > 0 {
            symbols[starts[Int(length)]] = UInt16(symbol)
            starts[Int(length)] += 1
        }
    }

    enum Symbol: Equatable {
        case symbol(Int)
        /// More bits are needed.
        case incomplete
        /// The bits are not a code.
        case invalid
    }

    /// Takes the bits of one symbol.
    func next(_ reader: inout DeflateBits) -> Symbol {
        var (code, first, index) = (0, 0, 0)
        for length in 1...Self.longest {
            guard let bit = reader.take(1) else { return .incomplete }
            code |= bit
            let count = Int(counts[length])
            if code - first < count { return .symbol(Int(symbols[index + code - first])) }
            index += count
            first = (first + count) << 1
            code <<= 1
        }
        return .invalid
    }
}
