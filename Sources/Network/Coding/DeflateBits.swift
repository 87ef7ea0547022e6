/// Reads bits, the lowest of each byte first (RFC 1951, 3.1.1), from bytes that arrive in several calls.
struct DeflateBits {
    /// Bits from the input that are not used yet.
    private var bits: UInt64 = 0
    private var count = 0

    /// Moves bytes of the input into the reader until it holds at least 57 bits, or the input ends.
    /// - Parameter position: the position of the first byte that is not in the reader.
    mutating func fill(from input: UnsafeRawBufferPointer, at position: inout Int) {
        while count <= 56, position < input.count {
            bits |= UInt64(input[position]) << UInt64(count)
            count += 8
            position += 1
        }
    }

    /// Takes up to 32 bits.
    /// - Returns: nil when the reader holds fewer; it then stays unchanged.
    mutating func take(_ width: Int) -> Int? {
        guard width <= count else { return nil }
        let value = bits & (1 << UInt64(width) - 1)
        bits >>= UInt64(width)
        count -= width
        return Int(truncatingIfNeeded: value)
    }

    /// Drops the remaining bits of the current byte.
    mutating func alignToByte() {
        let rest = count % 8
        bits >>= UInt64(rest)
        count -= rest
    }
}
