import PCM
import Testing

@testable import Media

@Suite("Samples that are no integers: float, A-law, mu-law")
struct FloatSampleTests {
    /// Values that round, clip, or are none.
    static let values: [(Double, Int32)] = [
        (0, 0), (-0.0, 0), (0.5, 1 << 30), (-0.5, -(1 << 30)), (1, .max), (-1, .min), (1.5, .max), (-77, .min),
        (1e300, .max), (-1e300, .min), (.infinity, 0), (-.infinity, 0), (.nan, 0), (-.nan, 0), (.signalingNaN, 0),
        (.leastNonzeroMagnitude, 0), (0x1p-31, 1), (0x1p-32, 0), (-0x1p-32, 0), (0x3p-32, 2), (0x5p-32, 2),
        (-0x3p-32, -2), (0x1.8p-31, 2), (0x1.7p-31, 1), (1 - 0x1p-32, .max), (1 - 0x1p-31, .max),
        (-1 - 0x1p-33, .min), (0.1, 214_748_365),
    ]

    static func wav(_ bytes: [UInt8], bits: Int, codec: Int, channels: Int = 1) -> [UInt8] {
        let signal = Signal(frames: 0, channels: channels)
        return Chunks.wav(
            Chunks.format(of: signal, bits: bits, byteCount: bits / 8, codec: codec) + Chunks.riff("data", bytes))
    }

    @Test("Doubles round once, to the nearest and to even numbers, and are clipped")
    func doubles() throws {
        let bytes = Self.values.flatMap { Chunks.little(Int(bitPattern: UInt($0.0.bitPattern)), 8) }
        let (decoded, damage) = try decode(Self.wav(bytes, bits: 64, codec: 3))
        #expect(difference(decoded.samples, Self.values.map(\.1)) == nil)
        #expect(decoded.parts[0].format.bitDepth == 32 && damage.isEmpty)
    }

    @Test("Floats of 32 bits: all exponents and signs, against a rule of its own")
    func floats() throws {
        var generator = SeededGenerator(seed: 3)
        let patterns =
            (0..<20_000).map { _ in UInt32(truncatingIfNeeded: generator.next()) }
            + (0..<20_000).map { _ in (UInt32(truncatingIfNeeded: generator.next()) & 0x83FF_FFFF) | 0x3C00_0000 }
        let expected = patterns.map { pattern -> Int32 in
            let value = Float(bitPattern: pattern)
            guard value.isFinite else { return 0 }
            return Int32(clamping: Int64(max(-3e9, min(3e9, (Double(value) * 0x1p31).rounded(.toNearestOrEven)))))
        }
        let little = Self.wav(patterns.flatMap { Chunks.little(Int($0), 4) }, bits: 32, codec: 3)
        #expect(try difference(decode(little).decoded.samples, expected) == nil)
        let format = PCMFormat(sampleRate: 44_100, channelCount: 1, bitDepth: 32)
        let common = AIFFTests.common(Signal(expected, format), type: "fl32")
        let big = Chunks.aiff(common + AIFFTests.sound(patterns.flatMap { Chunks.big(Int($0), 4) }), type: "AIFC")
        #expect(try difference(decode(big).decoded.samples, expected) == nil)
    }

    @Test(
        "All codes of A-law and mu-law, as ffmpeg decodes them", Tool.needsFFmpeg,
        arguments: [(6, "alaw"), (7, "ulaw")])
    func telephone(codec: Int, name: String) throws {
        let file = Self.wav((0...255).map { UInt8($0) }, bits: 8, codec: codec)
        let decoder = try AudioFile.open(MemorySource(file))
        #expect(decoder.properties.codec.rawValue == name)
        #expect(decoder.properties.format.bitDepth == (codec == 6 ? 13 : 14))
        #expect(difference(decoder.decodeAll().samples, try AACReference.decode(file, "file.wav")) == nil)
        for type in [name, name.uppercased()] {
            let common = AIFFTests.common(Signal(frames: 256, channels: 1), type: type)
            let aiff = Chunks.aiff(common + AIFFTests.sound((0...255).map { UInt8($0) }), type: "AIFC")
            #expect(try difference(decode(aiff).decoded.samples, AACReference.decode(file, "file.wav")) == nil)
        }
    }

    @Test(
        "Seeks are exact", Tool.needsFFmpeg, arguments: [("pcm_f32le", "file.w64"), ("pcm_f64be", "file.aiff")])
    func seeks(codec: String, name: String) throws {
        let source = Signal(frames: 20_002, rate: 96_000, channels: 3, depth: 24)
        let signal = Signal(
            source.samples, PCMFormat(sampleRate: 96_000, channelCount: 3, bitDepth: 32))
        let bytes = try source.ffmpeg(["-c:a", codec], to: name)
        try expectExactSeeks(signal, in: bytes)
    }

    @Test("A size of a sample that no codec has is refused")
    func sizes() {
        for (codec, bits, what) in [
            (3, 16, "WAV with floating-point samples of 16 bits"), (6, 16, "WAV with A-law of 16 bits"),
            (7, 16, "WAV with mu-law of 16 bits"),
        ] {
            #expect(throws: MediaError.unsupported(what: what)) {
                try AudioFile.open(MemorySource(Self.wav([0, 0, 0, 0], bits: bits, codec: codec)))
            }
        }
    }
}
