import CLinux
import Testing
import TestSupport
@testable import Platform

@Suite("Numbers as text")
struct DecimalTextTests {
    @Test(
        "with a fixed number of decimals, rounded to nearest",
        arguments: [
            (0.0, 2, "0.00"), (1.005, 2, "1.00"), (-6.0206, 2, "-6.02"), (0.5, 0, "0"), (1.5, 0, "2"),
            (99.999, 1, "100.0"),
            (44_100, 3, "44100.000"), (1e-9, 3, "0.000"),
            (0.1, 20, "0.10000000000000000555"), (0.1, 99, "0.10000000000000000555"),
            (1.25, -1, "1"), (.infinity, 2, "inf"), (-.infinity, 2, "-inf"), (.nan, 2, "nan"),
        ])
    func fixed(value: Double, decimals: Int, text: String) {
        #expect(value.fixed(decimals) == text)
    }

    @Test("the largest numbers fit")
    func largest() {
        let text = (-Double.greatestFiniteMagnitude).fixed(20)
        #expect(text.count == 1 + 309 + 1 + 20)
        #expect(Double(decimal: text) == -Double.greatestFiniteMagnitude)
    }

    @Test(
        "are read when all of the text is one",
        arguments: [
            ("0", 0), ("-0.25", -0.25), ("+7.", 7), (".5", 0.5), ("1e3", 1000), ("1.5E-2", 0.015),
            ("5e-324", .leastNonzeroMagnitude),
            ("1e-400", 0), ("0.1", 0.1), ("-7.89 ", nil), (" 1", nil), ("", nil), ("-", nil), (".", nil), ("1e", nil),
            ("1e+", nil), ("e1", nil), ("1,5", nil), ("0x10", nil), ("inf", nil), ("nan", nil), ("1e400", nil),
            ("1.2.3", nil), ("-7.89 dB", nil), ("1\u{0}2", nil),
        ] as [(String, Double?)])
    func parse(text: String, value: Double?) {
        #expect(Double(decimal: text) == value)
    }
}

@Suite("Bytes as digits")
struct HexadecimalTests {
    @Test("two digits each, in both directions", arguments: [[], [0], [0x0f, 0xf0], Array(0...255)] as [[UInt8]])
    func roundTrip(bytes: [UInt8]) {
        #expect(Hexadecimal.bytes(hexadecimal(bytes)) == bytes)
        #expect(Hexadecimal.bytes(hexadecimal(bytes).uppercased()) == bytes)
    }

    @Test("anything else is refused", arguments: ["0", "0g", "0x", " 00", "00 ", "é"])
    func refused(text: String) { #expect(Hexadecimal.bytes(text) == nil) }
}

@Suite("Randomness")
struct RandomTests {
    /// Bytes known in advance.
    final class CountingSource: RandomSource {
        private var next: UInt8 = 0xF0
        func fill(_ buffer: UnsafeMutableRawBufferPointer) {
            for index in buffer.indices {
                buffer[index] = next
                next &+= 1
            }
        }
    }

    @Test("a UUID has its version and variant (RFC 9562, 5.4), all else is random")
    func uuid() {
        #expect(CountingSource().uuid() == "f0f1f2f3-f4f5-46f7-b8f9-fafbfcfdfeff")
        let system = SystemRandomSource()
        #expect(Set((0..<100).map { _ in system.uuid() }).count == 100)
    }

    @Test("the system's bytes fill all that was asked for", arguments: [0, 1, 1000])
    func bytes(count: Int) {
        let source = SystemRandomSource()
        let samples = (0..<64).map { _ in source.bytes(count) }
        #expect(samples.allSatisfy { $0.count == count })
        // A byte that stays 0 in 64 samples was not filled: the chance is 2^-512.
        for place in 0..<count { #expect(samples.contains { $0[place] != 0 }) }
    }
}

@Suite("Base64")
struct Base64Tests {
    @Test(
        "The examples of RFC 4648, 10, with and without padding",
        arguments: [
            ("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob"), ("Zm9vYmE=", "fooba"),
            ("Zm9vYmFy", "foobar"), ("Zg", "f"), ("Zm9vYmE", "fooba"),
        ])
    func examples(text: String, bytes: String) {
        #expect(Base64.bytes(text.utf8) == Array(bytes.utf8))
    }

    @Test("Both alphabets")
    func alphabets() {
        #expect(Base64.bytes("+/+/".utf8) == [0xFB, 0xFF, 0xBF])
        #expect(Base64.bytes("-_-_".utf8) == [0xFB, 0xFF, 0xBF])
    }

    @Test("Texts that are no base64", arguments: ["Z", "Zg=", "Zg===", "Z===", "Z=g=", "Zm9v=", "ü"])
    func malformed(text: String) {
        #expect(Base64.bytes(text.utf8) == nil)
    }
}
