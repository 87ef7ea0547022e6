/// Check codewords of QR codes: Reed-Solomon over GF(2^8) with the polynomial x^8 + x^4 + x^3 + x^2 + 1 (ISO/IEC 18004,
/// 7.5).
struct ReedSolomon {
    /// Coefficients after the leading 1, the highest power first.
    private let generator: [UInt8]

    /// - Parameter count: the number of check codewords, from 1.
    init(count: Int) {
        // The product of (x - 2^i) for i from 0 to count - 1.
        var coefficients = [UInt8](repeating: 0, count: count)
        coefficients[count - 1] = 1
        var root: UInt8 = 1
        for _ in 0..<count {
            for index in 0..<count {
                let next = index + 1 < count ? coefficients[index + 1] : 0
                coefficients[index] = Self.product(coefficients[index], root) ^ next
            }
            root = Self.product(root, 2)
        }
        generator = coefficients
    }

    /// Returns the remainder of the data, as a polynomial, after division by the generator.
    func checkCodewords(of data: some Sequence<UInt8>) -> [UInt8] {
        var remainder = [UInt8](repeating: 0, count: generator.count)
        for byte in data {
            let factor = byte ^ remainder.removeFirst()
            remainder.append(0)
            for index in generator.indices { remainder[index] ^= Self.product(generator[index], factor) }
        }
        return remainder
    }

    private static func product(_ first: UInt8, _ second: UInt8) -> UInt8 {
        var result: UInt16 = 0
        for bit in stride(from: 7, through: 0, by: -1) {
            result = result << 1 ^ (result & 0x80 != 0 ? 0x11D : 0)
            if second >> UInt8(bit) & 1 != 0 { result ^= UInt16(first) }
        }
        return UInt8(truncatingIfNeeded: result)
    }
}
