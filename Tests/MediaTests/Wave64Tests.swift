import PCM
import Testing

@testable import Media

@Suite("Wave64 and BW64")
struct Wave64Tests {
    static let signal = Signal(frames: 3000)
    private static let tail: [UInt8] = [0xF3, 0xAC, 0xD3, 0x11, 0x8C, 0xD1, 0, 0xC0, 0x4F, 0x8E, 0xDB, 0x8A]
    private static let riff = Array("riff".utf8) + [0x2E, 0x91, 0xCF, 0x11, 0xA5, 0xD6, 0x28, 0xDB, 4, 0xC1, 0, 0]

    /// A chunk with a header of 24 bytes, filled up to 8.
    static func chunk(_ name: String, _ content: [UInt8], size: Int? = nil) -> [UInt8] {
        Array(name.utf8) + tail + Chunks.little(size ?? content.count + 24, 8) + content
            + [UInt8](repeating: 0, count: (8 - content.count % 8) % 8)
    }

    static func file(_ chunks: [UInt8]) -> [UInt8] {
        riff + Chunks.little(chunks.count + 40, 8) + Array("wave".utf8) + tail + chunks
    }

    static let format = chunk("fmt ", Array(Chunks.format(of: signal, bits: 16, byteCount: 2).dropFirst(8)))
    static let samples = signal.raw(byteCount: 2)

    @Test(
        "Files of real programs", Tool.needsFFmpeg,
        arguments: [("pcm_u8", 8), ("pcm_s16le", 16), ("pcm_s24le", 24), ("pcm_s32le", 32)])
    func ffmpeg(codec: String, depth: Int) throws {
        let signal = Signal(frames: 5000, rate: 48_000, channels: 3, depth: depth)
        // For other sizes, it counts the bytes that fill up the chunk.
        let bytes = try signal.ffmpeg(["-c:a", codec], to: "out.w64")
        let decoder = try expect(signal, in: bytes)
        #expect(decoder.properties.container == .wav && decoder.properties.codec == .pcm)
        try expectExactSeeks(signal, in: bytes)
        // To a pipe: the sizes stay unknown.
        let piped = try AudioFile.open(MemorySource(try signal.ffmpeg(["-c:a", codec], to: "out.w64", asStream: true)))
        #expect(difference(piped.decodeAll().samples, signal.samples) == nil)
        #expect(piped.damage.isEmpty)
    }

    @Test("Chunks in any order, of other names, with sizes that need filling")
    func chunks() throws {
        let other = Self.chunk("junk", [1, 2, 3]) + Self.riff + Chunks.little(24 + 5, 8) + [1, 2, 3, 4, 5, 0, 0, 0]
        let data = Self.chunk("data", Self.samples)
        for chunks in [Self.format + data, other + Self.format + other + data, data + other + Self.format] {
            try expect(Self.signal, in: Self.file(chunks))
        }
    }

    @Test("Errors of its format name it")
    func formatErrors() {
        for (codec, what) in [(0x55, "Wave64 with MP3 inside"), (0x2000, "Wave64 with AC-3")] {
            let format = Chunks.format(of: Self.signal, bits: 16, byteCount: 2, codec: codec)
            let file = Self.file(Self.chunk("fmt ", Array(format.dropFirst(8))) + Self.chunk("data", Self.samples))
            #expect(throws: MediaError.unsupported(what: what)) { try AudioFile.open(MemorySource(file)) }
        }
        let cut = Self.file(Self.chunk("fmt ", [1, 0]) + Self.chunk("data", Self.samples))
        #expect(throws: MediaError.damaged(what: "Wave64 with a format that is cut off")) {
            try AudioFile.open(MemorySource(cut))
        }
    }

    @Test("Sizes that a writer left open, or that no medium holds")
    func openSizes() throws {
        for size in [0, 24, Int.max, -1] {
            try expect(Self.signal, in: Self.file(Self.format + Self.chunk("data", Self.samples, size: size)))
        }
        for chunks in [Self.format, Self.chunk("junk", [], size: 3), Self.chunk("junk", [], size: .max)] {
            #expect(throws: MediaError.self) { try AudioFile.open(MemorySource(Self.file(chunks))) }
        }
    }

    @Test("A file of more than 4 GiB")
    func large() throws {
        let bytes = Self.file(Self.format + Self.chunk("data", [], size: 5_000_000_024))
        let decoder = try AudioFile.open(SparseSource(bytes, length: 5_000_000_000 + Int64(bytes.count)))
        #expect(decoder.properties.frameCount == 1_250_000_000)
        try decoder.seek(toFrame: 1_249_999_900)
        #expect(decoder.decodeAll().samples.count == 200)
        #expect(decoder.damage.isEmpty)
    }

    @Test("Truncated data plays as far as it goes")
    func truncated() throws {
        let (decoded, damage) = try decode(
            Array(Self.file(Self.format + Self.chunk("data", Self.samples)).dropLast(2001)))
        #expect(difference(decoded.samples, Self.signal.slice(0..<(3000 - 501))) == nil)
        #expect(damage.truncated)
    }

    @Test("BW64 has its sizes where RF64 has them")
    func bw64() throws {
        let sizes = Chunks.riff(
            "ds64", Chunks.little(0, 8) + Chunks.little(Self.samples.count, 8) + Chunks.little(0, 12))
        let format = Chunks.format(of: Self.signal, bits: 16, byteCount: 2)
        let data = Chunks.riff("data", Self.samples, size: 0xFFFF_FFFF)
        let axml = Chunks.riff("axml", [1, 2])
        try expect(Self.signal, in: Chunks.wav(sizes + format + data + axml, size: 0xFFFF_FFFF, name: "BW64"))
    }
}
