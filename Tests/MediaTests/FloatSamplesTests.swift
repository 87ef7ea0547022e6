import CVectors
import Testing

@testable import Media

@Suite("Samples in floating point")
struct FloatSamplesTests {
    /// Values at the edges of the range, and those that are no numbers.
    private static let edges: [Float] = [
        0, -0.0, 1, -1, 0.9999999, -0.9999999, 0.99999994, 2, -2, .infinity, -.infinity, .nan, .greatestFiniteMagnitude,
        .leastNonzeroMagnitude, 0.5 / 8_388_608, 1.5 / 8_388_608, -0.5 / 8_388_608, -2.5 / 8_388_608, 0.1, -0.3,
    ]

    @Test("Whole rows are converted as single samples are, at each length and distance", arguments: [1, 2, 6])
    func rows(step: Int) {
        let source = (0..<64).map { Self.edges[$0 % Self.edges.count] * ($0 < 40 ? 1 : 0.731) }
        for count in 0...source.count {
            var target = [Int32](repeating: 7, count: source.count * step + 1)
            source.withUnsafeBufferPointer { source in
                target.withUnsafeMutableBufferPointer { target in
                    let (source, target) = (source.baseAddress!, target.baseAddress!)
                    let done = FloatSamples.justifyVectors(source, count: count, to: target, every: step)
                    #expect(done == count / 4 * 4)
                    FloatSamples.leftJustify(
                        source + done, count: count - done, to: target + done * step, every: step)
                }
            }
            var expected = [Int32](repeating: 7, count: target.count)
            for index in 0..<count { expected[index * step] = FloatSamples.leftJustified(source[index]) }
            #expect(target == expected, "\(count) samples")
        }
    }

    @Test("Every quarter of a step of 24 bits, at each magnitude")
    func steps() {
        for exponent in 0...23 {
            let base = Float(sign: .plus, exponent: exponent, significand: 1)
            let source = (0..<64).flatMap { step -> [Float] in
                let number = base + Float(step) / 4
                return [number / 8_388_608, -number / 8_388_608]
            }
            var target = [Int32](repeating: 0, count: source.count)
            #expect(FloatSamples.justifyVectors(source, count: source.count, to: &target, every: 1) == source.count)
            #expect(target == source.map { FloatSamples.leftJustified($0) })
            #expect(sums(source) == target)
        }
    }

    /// As processors convert that cannot round at once.
    private func sums(_ source: [Float]) -> [Int32] {
        stride(from: 0, to: source.count, by: 4).flatMap { first in
            let numbers = tonearm_in_24_bits_by_sums(SIMD4(source[first..<first + 4]))
            return (0..<4).map { numbers[$0] << 8 }
        }
    }

    @Test("Processors that cannot convert and round at once convert as the others do")
    func sums() { #expect(sums(Self.edges) == Self.edges.map { FloatSamples.leftJustified($0) }) }

    @Test("Samples are rounded to 24 bits, clipped, and silence when they are no numbers")
    func singleSamples() {
        let expected: [(Float, Int32)] = [
            (0, 0), (1, 0x7FFF_FF00), (-1, .min), (2, 0x7FFF_FF00), (-.infinity, .min), (.nan, 0),
            (0.5 / 8_388_608, 0), (1.5 / 8_388_608, 2 << 8), (-2.5 / 8_388_608, -2 << 8),
        ]
        for (sample, number) in expected { #expect(FloatSamples.leftJustified(sample) == number, "\(sample)") }
    }
}
