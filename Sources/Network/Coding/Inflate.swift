/// Decodes the format "deflate" (RFC 1951) from bytes that arrive in several calls.
struct Inflate {
    enum Progress: Equatable {
        /// All input is used.
        case needsInput
        /// `output` has `outputSize` bytes or more: the caller must take them before it continues.
        case isFull
        case ended
        case damaged
    }

    private enum State {
        case blockHeader
        case storedLength
        /// The number of uncompressed bytes that follow.
        case stored(Int)
        case codeCounts
        case codeLengths
        case symbols
        case ended
    }

    /// How many bytes are decoded before the caller takes them; one match may exceed it.
    static let outputSize = 32_768
    /// How far back a match may begin.
    private static let windowSize = 32_768

    /// Bytes that the caller has not taken.
    var output: [UInt8] = []
    private var reader = DeflateBits()
    private var state = State.blockHeader
    private var isLastBlock = false
    private var literals: HuffmanCode?
    private var distances: HuffmanCode?
    private var lengths = CodeLengths(literals: 0, distances: 0, codes: 0)
    private var window = [UInt8](repeating: 0, count: windowSize)
    /// The number of decoded bytes.
    private var total = 0

    /// Decodes until the input is used, the output is full, or the data ends.
    /// - Parameter position: the position of the next byte of the input.
    mutating func run(_ input: UnsafeRawBufferPointer, at position: inout Int) -> Progress {
        while true {
            if case .ended = state { return .ended }
            if output.count >= Self.outputSize { return .isFull }
            reader.fill(from: input, at: &position)
            // A step without enough bits is undone by restoring this reader.
            let before = reader
            switch step() {
            case .made: break
            case .lacksBits:
                reader = before
                return .needsInput
            case .damaged: return .damaged
            }
        }
    }

    /// Takes bits of the container, before or after the data.
    mutating func take(_ width: Int, from input: UnsafeRawBufferPointer, at position: inout Int) -> Int? {
        reader.fill(from: input, at: &position)
        return reader.take(width)
    }

    /// Adds bytes of the data that come before those of the input.
    mutating func hold(_ bytes: UnsafeRawBufferPointer) {
        var position = 0
        reader.fill(from: bytes, at: &position)
    }

    /// Prepares for the data of a further gzip member.
    mutating func restart() {
        state = .blockHeader
        (isLastBlock, total) = (false, 0)
    }

    /// Drops bits after the data, because the container continues with a whole byte.
    mutating func alignToByte() { reader.alignToByte() }

    private enum Step: Equatable { case made, lacksBits, damaged }

    private mutating func step() -> Step {
        switch state {
        case .blockHeader: beginBlock()
        case .storedLength: readStoredLength()
        case .stored(let count): copyStored(count)
        case .codeCounts: readCodeCounts()
        case .codeLengths: readCodeLength()
        case .symbols: readSymbol()
        case .ended: .made
        }
    }

    // MARK: Blocks

    private mutating func beginBlock() -> Step {
        if isLastBlock {
            state = .ended
            return .made
        }
        guard let header = reader.take(3) else { return .lacksBits }
        isLastBlock = header & 1 == 1
        switch header >> 1 {
        case 0: state = .storedLength
        case 1:
            literals = HuffmanCode(lengths: DeflateTables.fixedLiterals)
            distances = HuffmanCode(lengths: DeflateTables.fixedDistances)
            state = .symbols
        case 2: state = .codeCounts
        default: return .damaged
        }
        return .made
    }

    private mutating func readStoredLength() -> Step {
        reader.alignToByte()
        guard let length = reader.take(16), let complement = reader.take(16) else { return .lacksBits }
        guard length == complement ^ 0xFFFF else { return .damaged }
        state = .stored(length)
        return .made
    }

    private mutating func copyStored(_ count: Int) -> Step {
        guard count > 0 else {
            state = .blockHeader
            return .made
        }
        guard let byte = reader.take(8) else { return .lacksBits }
        put(UInt8(byte))
        state = .stored(count - 1)
        return .made
    }

    private mutating func readCodeCounts() -> Step {
        guard let literals = reader.take(5), let distances = reader.take(5), let codes = reader.take(4) else {
            return .lacksBits
        }
        // There are 286 symbols and 30 distances (RFC 1951, 3.2.5).
        guard literals <= 29, distances <= 29 else { return .damaged }
        lengths = CodeLengths(literals: literals + 257, distances: distances + 1, codes: codes + 4)
        state = .codeLengths
        return .made
    }

    private mutating func readCodeLength() -> Step {
        let step = lengths.readNext(&reader)
        guard step == .made, lengths.isComplete else { return step }
        guard let codes = lengths.codes else { return .damaged }
        (literals, distances) = codes
        state = .symbols
        return .made
    }

    // MARK: Symbols

    private mutating func readSymbol() -> Step {
        switch literals?.next(&reader) {
        case .symbol(let symbol) where symbol < 256: put(UInt8(symbol))
        case .symbol(256): state = .blockHeader
        case .symbol(let symbol): return copyMatch(symbol - 257)
        case .incomplete: return .lacksBits
        case .invalid, nil: return .damaged
        }
        return .made
    }

    private mutating func copyMatch(_ symbol: Int) -> Step {
        guard symbol < DeflateTables.lengthBases.count else { return .damaged }
        guard let extra = reader.take(Int(DeflateTables.lengthBits[symbol])) else { return .lacksBits }
        let length = Int(DeflateTables.lengthBases[symbol]) + extra
        let code: Int
        switch distances?.next(&reader) {
        case .symbol(let symbol): code = symbol
        case .incomplete: return .lacksBits
        case .invalid, nil: return .damaged
        }
        guard code < DeflateTables.distanceBases.count else { return .damaged }
        guard let farther = reader.take(Int(DeflateTables.distanceBits[code])) else { return .lacksBits }
        let distance = Int(DeflateTables.distanceBases[code]) + farther
        guard distance <= total else { return .damaged }
        for _ in 0..<length { put(window[(total - distance) % Self.windowSize]) }
        return .made
    }

    private mutating func put(_ byte: UInt8) {
        window[total % Self.windowSize] = byte
        total += 1
        output.append(byte)
    }

    /// The code lengths of a block with its own codes (RFC 1951, 3.2.7).
    private struct CodeLengths {
        let literalCount: Int
        let count: Int
        let codeCount: Int
        /// The lengths of the code in which the code lengths are written.
        var own = [UInt8](repeating: 0, count: 19)
        var ownRead = 0
        var ownCode: HuffmanCode?
        var lengths: [UInt8] = []

        init(literals: Int, distances: Int, codes: Int) {
            literalCount = literals
            count = literals + distances
            codeCount = codes
        }

        var isComplete: Bool { lengths.count == count }

        mutating func readNext(_ reader: inout DeflateBits) -> Step {
            guard let ownCode else { return readOwn(&reader) }
            let before = lengths.last
            switch ownCode.next(&reader) {
            case .symbol(let length) where length < 16: return append(UInt8(length), times: 1)
            case .symbol(16):
                guard let more = reader.take(2) else { return .lacksBits }
                guard let before else { return .damaged }
                return append(before, times: 3 + more)
            case .symbol(17):
                guard let more = reader.take(3) else { return .lacksBits }
                return append(0, times: 3 + more)
            case .symbol:
                guard let more = reader.take(7) else { return .lacksBits }
                return append(0, times: 11 + more)
            case .incomplete: return .lacksBits
            case .invalid: return .damaged
            }
        }

        private mutating func readOwn(_ reader: inout DeflateBits) -> Step {
            guard let length = reader.take(3) else { return .lacksBits }
            own[Int(DeflateTables.codeOrder[ownRead])] = UInt8(length)
            ownRead += 1
            guard ownRead == codeCount else { return .made }
            ownCode = HuffmanCode(lengths: own)
            return ownCode == nil ? .damaged : .made
        }

        private mutating func append(_ length: UInt8, times: Int) -> Step {
            guard lengths.count + times <= count else { return .damaged }
            for _ in 0..<times { lengths.append(length) }
            return .made
        }

        /// nil when one of them is not a valid code, or the block has no code for its end.
        var codes: (HuffmanCode, HuffmanCode)? {
            guard lengths[256] > 0, let literals = HuffmanCode(lengths: lengths[..<literalCount]),
                let distances = HuffmanCode(lengths: lengths[literalCount...])
            else { return nil }
            return (literals, distances)
        }
    }
}

/// The tables of RFC 1951, 3.2.5 to 3.2.7.
private enum DeflateTables {
    static let lengthBases: [UInt16] = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    static let lengthBits: [UInt8] = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    static let distanceBases: [UInt16] = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
        6145, 8193, 12289, 16385, 24577,
    ]
    static let distanceBits: [UInt8] = [
        0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
    ]
    static let codeOrder: [UInt8] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    static let fixedLiterals =
        [UInt8](repeating: 8, count: 144) + [UInt8](repeating: 9, count: 112) + [UInt8](repeating: 7, count: 24)
        + [UInt8](repeating: 8, count: 8)
    static let fixedDistances = [UInt8](repeating: 5, count: 32)
}
