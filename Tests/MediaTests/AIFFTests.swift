import PCM
import Testing

@testable import Media

@Suite("AIFF and AIFF-C")
struct AIFFTests {
    static let signal = Signal(frames: 3000)

    static func common(
        _ signal: Signal, frames: Int? = nil, rate: [UInt8] = [0x40, 0x0E, 0xAC, 0x44], type: String? = nil
    ) -> [UInt8] {
        Chunks.iff(
            "COMM",
            Chunks.big(signal.format.channelCount, 2) + Chunks.big(frames ?? signal.frameCount, 4)
                + Chunks.big(signal.format.bitDepth, 2) + rate + [UInt8](repeating: 0, count: 10 - rate.count)
                + (type.map { Array($0.utf8) + [0, 0] } ?? []))
    }

    static func sound(_ samples: [UInt8], offset: Int = 0, size: Int? = nil) -> [UInt8] {
        Chunks.iff(
            "SSND", Chunks.big(offset, 4) + Chunks.big(0, 4) + [UInt8](repeating: 0xEE, count: offset) + samples,
            size: size)
    }

    @Test("Every depth", arguments: 4...32)
    func depths(depth: Int) throws {
        let signal = Signal(frames: 1000, channels: 3, depth: depth)
        let samples = signal.raw(byteCount: (depth + 7) / 8, bigEndian: true)
        try expect(signal, in: Chunks.aiff(Self.common(signal) + Self.sound(samples)))
    }

    @Test(
        "AIFF-C without a compression",
        arguments: [
            ("NONE", 24, true), ("twos", 16, true), ("sowt", 16, false), ("sowt", 24, false), ("in24", 24, true),
            ("in32", 32, true), ("42ni", 24, false), ("23ni", 32, false),
        ])
    func aifc(type: String, depth: Int, isBigEndian: Bool) throws {
        let signal = Signal(frames: 1000, depth: depth)
        let samples = signal.raw(byteCount: depth / 8, bigEndian: isBigEndian)
        try expect(signal, in: Chunks.aiff(Self.common(signal, type: type) + Self.sound(samples), type: "AIFC"))
    }

    @Test(
        "Sample rates in 80 bits",
        arguments: [
            ([0x40, 0x0E, 0xAC, 0x44], 44100), ([0x40, 0x0D, 0xAC, 0x44], 22050), ([0x3F, 0xFF, 0x80], 1),
            ([0x40, 0x10, 0xBB, 0x80], 192_000), ([0x40, 0x0C, 0xAC, 0x44], 11025), ([0x40, 0x0B, 0xAC, 0x44], 5513),
            ([0x40, 0x13, 0xBB, 0x80], 1_536_000),
        ] as [([UInt8], Int)])
    func rates(bytes: [UInt8], rate: Int) throws {
        let file = Chunks.aiff(Self.common(Self.signal, rate: bytes) + Self.sound([0, 0, 0, 0]))
        #expect(try AudioFile.open(MemorySource(file)).properties.format.sampleRate == rate)
    }

    @Test(
        "Rates that cannot be",
        arguments: [
            [0, 0, 0], [0x7F, 0xFF, 0x80], [0xC0, 0x0E, 0xAC, 0x44], [0x3F, 0xF0, 0x80],
        ] as [[UInt8]])
    func impossibleRates(bytes: [UInt8]) {
        let file = Chunks.aiff(Self.common(Self.signal, rate: bytes) + Self.sound([0, 0, 0, 0]))
        #expect(throws: MediaError.damaged(what: "AIFF with an impossible sample rate")) {
            try AudioFile.open(MemorySource(file))
        }
    }

    @Test(
        "Rates above 1,536,000 Hz are refused",
        arguments: [
            ([0x40, 0x13, 0xBB, 0x80, 0x08], 1_536_001), ([0x40, 0x1D, 0xFF, 0xFF, 0xFF, 0xFE], 0x7FFF_FFFF),
            ([0x40, 0x1E, 0x80], 0x8000_0000),
        ] as [([UInt8], UInt64)])
    func excessiveRates(bytes: [UInt8], rate: UInt64) {
        let file = Chunks.aiff(Self.common(Self.signal, rate: bytes) + Self.sound([0, 0, 0, 0]))
        #expect(throws: MediaError.unsupported(what: "AIFF with a sample rate of \(rate) Hz")) {
            try AudioFile.open(MemorySource(file))
        }
    }

    @Test("Chunks in any order, an offset before the samples, texts")
    func chunks() throws {
        let samples = Self.signal.raw(byteCount: 2, bigEndian: true)
        let texts = Chunks.iff("NAME", Array("Odd".utf8)) + Chunks.iff("AUTH", Array("Author".utf8))
        for chunks in [
            Self.common(Self.signal) + texts + Self.sound(samples, offset: 12),
            Self.sound(samples, offset: 3) + texts + Self.common(Self.signal),
        ] {
            let decoder = try expect(Self.signal, in: Chunks.aiff(chunks))
            #expect(decoder.metadata.title == "Odd")
            #expect(decoder.metadata.artist == "Author")
        }
    }

    @Test("Sizes that a streaming writer left open", arguments: [0, 0xFFFF_FFFF])
    func openSizes(size: Int) throws {
        let samples = Self.signal.raw(byteCount: 2, bigEndian: true)
        try expect(
            Self.signal, in: Chunks.aiff(Self.common(Self.signal, frames: size) + Self.sound(samples, size: size)))
    }

    @Test("Truncated data plays as far as it goes")
    func truncated() throws {
        let samples = Self.signal.raw(byteCount: 2, bigEndian: true)
        let file = Chunks.aiff(Self.common(Self.signal) + Self.sound(samples)).dropLast(2001)
        let (decoded, damage) = try decode(Array(file))
        #expect(difference(decoded.samples, Self.signal.slice(0..<(3000 - 501))) == nil)
        #expect(damage.truncated)
    }

    @Test(
        "Compressions that are not supported are named",
        arguments: [
            ("ima4", "AIFF-C with IMA ADPCM"), ("MAC3", "AIFF-C with MACE"),
            ("QDM2", "AIFF-C with compression “QDM2”"),
        ])
    func unsupported(type: String, what: String) {
        let file = Chunks.aiff(Self.common(Self.signal, type: type) + Self.sound([0, 0, 0, 0]), type: "AIFC")
        #expect(throws: MediaError.unsupported(what: what)) { try AudioFile.open(MemorySource(file)) }
    }

    @Test("Seeking is exact")
    func seek() throws {
        let samples = Self.signal.raw(byteCount: 2, bigEndian: true)
        try expectExactSeeks(Self.signal, in: Chunks.aiff(Self.common(Self.signal) + Self.sound(samples)))
    }
}
