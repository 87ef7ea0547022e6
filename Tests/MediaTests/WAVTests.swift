import Foundation
import PCM
import Testing

@testable import Media

@Suite("WAV")
struct WAVTests {
    static let signal = Signal(frames: 3000, channels: 2, depth: 16)
    static let format = Chunks.format(of: signal, bits: 16, byteCount: 2)
    static let samples = signal.raw(byteCount: 2)

    struct Layout: Sendable, CustomTestStringConvertible {
        var bits: Int
        var byteCount: Int
        var testDescription: String { "\(bits) bits in \(byteCount) bytes" }
    }

    @Test(
        "Classic format",
        arguments: [
            Layout(bits: 8, byteCount: 1), Layout(bits: 12, byteCount: 2), Layout(bits: 16, byteCount: 2),
            Layout(bits: 20, byteCount: 3), Layout(bits: 24, byteCount: 3), Layout(bits: 24, byteCount: 4),
            Layout(bits: 32, byteCount: 4),
        ])
    func classic(layout: Layout) throws {
        let signal = Signal(frames: 3000, channels: 3, depth: layout.bits)
        try expect(
            signal,
            in: Chunks.wav(
                Chunks.format(of: signal, bits: layout.bits, byteCount: layout.byteCount)
                    + Chunks.riff("data", signal.raw(byteCount: layout.byteCount, unsigned: layout.byteCount == 1))))
    }

    @Test("Extensible format, every depth", arguments: 4...32)
    func extensible(depth: Int) throws {
        let signal = Signal(frames: 1000, depth: depth)
        try expect(signal, in: signal.extensibleWAV)
    }

    @Test("Channels", arguments: 1...8)
    func channels(count: Int) throws {
        try expect(
            Signal(frames: 1000, channels: count, depth: 24),
            in: Signal(
                frames: 1000, channels: count, depth: 24
            ).extensibleWAV)
    }

    @Test("Written to a pipe by ffmpeg: sizes stay unknown", Tool.needsFFmpeg)
    func piped() throws {
        let (signal, codec) = (Signal(frames: 5000, rate: 48000, depth: 24), "pcm_s24le")
        let piped = try AudioFile.open(MemorySource(try signal.ffmpeg(["-c:a", codec], to: "out.wav", asStream: true)))
        #expect(difference(piped.decodeAll().samples, signal.samples) == nil)
        #expect(piped.damage.isEmpty)
    }

    @Test("Chunks in any order, with odd sizes and their padding")
    func chunkOrder() throws {
        let list = Chunks.riff(
            "LIST",
            Array("INFO".utf8) + Chunks.riff("INAM", Array("Name\0".utf8))
                + Chunks.riff("IART", [0x42, 0xE9]) + Chunks.riff("ITRK", Array("7\0".utf8)))
        let junk = Chunks.riff("junk", [1, 2, 3]) + Chunks.riff("bext", [UInt8](repeating: 9, count: 602))
        let data = Chunks.riff("data", Self.samples)
        for chunks in [
            list + junk + Self.format + data, Self.format + junk + data + list, data + junk + Self.format + list,
        ] {
            let decoder = try expect(Self.signal, in: Chunks.wav(chunks))
            #expect(decoder.metadata.title == "Name")
            #expect(decoder.metadata.artist == "Bé")
            #expect(decoder.metadata.trackNumber == 7)
        }
    }

    @Test("An ID3 chunk wins over INFO, field by field", arguments: ["id3 ", "ID3 "])
    func id3(name: String) throws {
        let list = Chunks.riff(
            "LIST",
            Array("INFO".utf8) + Chunks.riff("INAM", Array("Info".utf8))
                + Chunks.riff("IPRD", Array("Album".utf8)))
        let frame = Array("TIT2".utf8) + [0, 0, 0, 4, 0, 0, 0] + Array("ID3".utf8)
        let tag = Chunks.riff(name, Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, UInt8(frame.count)] + frame)
        let data = Chunks.riff("data", Self.samples)
        let decoder = try expect(Self.signal, in: Chunks.wav(Self.format + tag + data + list))
        #expect(decoder.metadata.title == "ID3")
        #expect(decoder.metadata.album == "Album")
    }

    @Test("Of two ID3 chunks and two lists the first one counts, and the other one fills its gaps")
    func twoTags() throws {
        func list(_ name: String, _ other: String) -> [UInt8] {
            Chunks.riff(
                "LIST",
                Array("INFO".utf8) + Chunks.riff("IART", Array(name.utf8)) + Chunks.riff(other, Array("2001".utf8)))
        }
        func tag(_ title: String, _ other: String) -> [UInt8] {
            let frames = [("TIT2", title), (other, "x")].flatMap { MP3FileTests.frame($0, [0] + Array($1.utf8)) }
            return MP3FileTests.id3v2(frames)
        }
        let tags =
            list("One", "IGNR") + list("Two", "ICRD") + Chunks.riff("id3 ", tag("First", "TALB"))
            + Chunks.riff("ID3 ", tag("Second", "TCOM"))
        let metadata = try AudioFile.open(
            MemorySource(Chunks.wav(Self.format + tags + Chunks.riff("data", Self.samples)))
        ).metadata
        #expect(metadata.title == "First" && metadata.album == "x" && metadata[.composer] == ["x"])
        #expect(metadata.artist == "One" && metadata[.date] == ["2001"])
        let chunks = Chunks.iff("ID3 ", tag("First", "TALB")) + Chunks.iff("ID3 ", tag("Second", "TCOM"))
        let aiff = try AIFFHeader(MemorySource(Chunks.aiff(chunks))).tags
        #expect(aiff.title == "First" && aiff.album == "x" && aiff[.composer] == ["x"])
    }

    @Test("Sizes that a streaming writer left open", arguments: [0, 0xFFFF_FFFF, 0x7FFF_F000])
    func openSizes(size: Int) throws {
        try expect(
            Self.signal,
            in: Chunks.wav(
                Self.format + Chunks.riff("data", Self.samples, size: size), size: size == 0 ? 0 : 0xFFFF_FFFF))
    }

    @Test("RF64 with its sizes in ds64, and with none")
    func rf64() throws {
        let sizes = Chunks.riff(
            "ds64", Chunks.little(0, 8) + Chunks.little(Self.samples.count, 8) + Chunks.little(0, 12))
        let data = Chunks.riff("data", Self.samples, size: 0xFFFF_FFFF)
        let trailer = Chunks.riff("junk", [1, 2])
        try expect(Self.signal, in: Chunks.wav(sizes + Self.format + data + trailer, size: 0xFFFF_FFFF, name: "RF64"))
        try expect(Self.signal, in: Chunks.wav(Self.format + data, size: 0xFFFF_FFFF, name: "RF64"))
    }

    @Test("Truncated data plays as far as it goes", arguments: [0, 1, 4, 4000, 11_999])
    func truncated(bytes: Int) throws {
        let data = Chunks.riff("data", Array(Self.samples[..<bytes]), size: Self.samples.count)
        let file = Chunks.wav(Self.format + data)
        let (decoded, damage) = try decode(bytes % 2 == 1 ? file.dropLast() : file)
        #expect(difference(decoded.samples, Self.signal.slice(0..<(bytes / 4))) == nil)
        #expect(damage.truncated)
    }

    @Test("A frame that is not whole at the end is left out")
    func partialFrame() throws {
        let (decoded, damage) = try decode(Chunks.wav(Self.format + Chunks.riff("data", Self.samples + [1, 2, 3])))
        #expect(difference(decoded.samples, Self.signal.samples) == nil)
        #expect(damage.isEmpty)
    }

    @Test(
        "Formats that are not supported say which",
        arguments: [
            (0x31, "WAV with GSM 6.10"), (2, "WAV with ADPCM"), (0x11, "WAV with ADPCM"), (0x55, "WAV with MP3 inside"),
            (0x1234, "WAV with codec 0x1234"),
        ])
    func unsupported(codec: Int, what: String) {
        for format in [
            Chunks.format(of: Self.signal, bits: 32, byteCount: 4, codec: codec),
            Chunks.extensibleFormat(of: Self.signal, byteCount: 4, validBits: 32, codec: codec),
        ] {
            let file = Chunks.wav(format + Chunks.riff("data", Self.samples))
            #expect(throws: MediaError.unsupported(what: what)) { try AudioFile.open(MemorySource(file)) }
        }
    }

    @Test("Headers that cannot be say what is wrong")
    func damaged() {
        let none = Signal(frames: 0, rate: 0)
        for (chunks, what) in [
            (Chunks.riff("data", Self.samples), "WAV without a format"),
            (Self.format, "WAV without data"),
            (Chunks.riff("fmt ", [1, 0, 2, 0]), "WAV with a format that is cut off"),
            (Chunks.format(of: none, bits: 16, byteCount: 2), "WAV with a sample rate of 0 Hz"),
            (Chunks.format(of: Self.signal, bits: 24, byteCount: 2), "WAV with 4 bytes for 2 samples of 24 bits"),
        ] {
            #expect(throws: MediaError.damaged(what: what)) { try AudioFile.open(MemorySource(Chunks.wav(chunks))) }
        }
    }

    @Test("Sample rates from 1 Hz to 1,536,000 Hz are taken, higher ones are refused")
    func rates() throws {
        func file(_ rate: Int) -> [UInt8] {
            let signal = Signal(frames: 10, rate: rate, channels: 8, depth: 32)
            let format = Chunks.format(of: signal, bits: 32, byteCount: 4)
            return Chunks.wav(format + Chunks.riff("data", signal.raw(byteCount: 4)))
        }
        for rate in [1, 768_000, 1_536_000] {
            let properties = try AudioFile.open(MemorySource(file(rate))).properties
            #expect(properties.format.sampleRate == rate)
            #expect(properties.bitRate == rate * 8 * 32)
        }
        for rate in [1_536_001, 0x7FFF_FFFF, 0xFFFF_FFFF] {
            #expect(throws: MediaError.unsupported(what: "WAV with a sample rate of \(rate) Hz")) {
                try AudioFile.open(MemorySource(file(rate)))
            }
        }
    }

    @Test("A bit rate that Int does not hold is missing, also where Int has 32 bits")
    func bitRate() {
        #expect(AudioLimits.bitRate(bytesPerFrame: 32, sampleRate: 1_536_000) == 393_216_000)
        // In the arithmetic of 32 bits the product would trap.
        #expect(AudioLimits.bitRate(bytesPerFrame: 32, sampleRate: 0x7FFF_FFFF) == 549_755_813_632)
    }

    @Test("Data of unknown size goes to the end of a file of more than 4 GiB", arguments: [0xFFFF_FFFF, 0x7FFF_F000])
    func openBeyond4GiB(size: Int) throws {
        let head = Chunks.wav(Self.format + Chunks.riff("data", [], size: size), size: 0xFFFF_FFFF)
        for name in ["RIFF", "RF64"] {
            let source = SparseSource(Array(name.utf8) + head[4...], length: 5_000_000_000)
            let decoder = try AudioFile.open(source)
            let frames = (5_000_000_000 - Int64(head.count)) / 4
            #expect(decoder.properties.frameCount == frames)
            try decoder.seek(toFrame: frames - 100)
            #expect(decoder.decodeAll().samples.count == 200)
            #expect(decoder.damage.isEmpty)
        }
    }

    @Test("A size in ds64 that no medium holds means: to the end")
    func absurdSizes64() throws {
        for size in [UInt64(1) << 57, .max, UInt64(Int64.max)] {
            let sizes = Chunks.riff(
                "ds64", Chunks.little(0, 8) + Chunks.little(Int(bitPattern: UInt(size)), 8) + Chunks.little(0, 12))
            let data = Chunks.riff("data", Self.samples, size: 0xFFFF_FFFF)
            let bytes = Chunks.wav(sizes + Self.format + data, size: 0xFFFF_FFFF, name: "RF64")
            let decoder = try AudioFile.open(MemorySource(bytes, knowsLength: false))
            #expect(decoder.properties.frameCount == nil)
            #expect(difference(decoder.decodeAll().samples, Self.signal.samples) == nil)
        }
    }

    @Test("Seeking is exact")
    func seek() throws {
        try expectExactSeeks(Self.signal, in: Chunks.wav(Self.format + Chunks.riff("data", Self.samples)))
    }

    @Test("After an error of the source the earlier frames are returned, and reading resumes when it works")
    func failingSource() throws {
        let source = MemorySource(Chunks.wav(Self.format + Chunks.riff("data", Self.samples)))
        let decoder = try AudioFile.open(source)
        source.failsFrom = 6001
        let before = decoder.decodeAll()
        #expect(before.error == .source(MemorySource.failure))
        #expect(difference(before.samples, Self.signal.slice(0..<((6001 - 44) / 4))) == nil)
        source.failsFrom = .max
        #expect(difference(before.samples + decoder.decodeAll().samples, Self.signal.samples) == nil)
    }
}

/// Opens and decodes; the samples, the format, the count and the health must be those of `signal`.
@discardableResult
func expect(
    _ signal: Signal, in bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation
) throws -> any AudioDecoder {
    let source = MemorySource(bytes)
    source.largestRead = 1001
    let decoder = try AudioFile.open(source)
    #expect(decoder.properties.format == signal.format, sourceLocation: sourceLocation)
    #expect(decoder.properties.frameCount == Int64(signal.frameCount), sourceLocation: sourceLocation)
    #expect(difference(decoder.decodeAll().samples, signal.samples) == nil, sourceLocation: sourceLocation)
    #expect(decoder.damage.isEmpty, sourceLocation: sourceLocation)
    return decoder
}

/// Seeks to many frames, among them the first and the last, and compares the samples.
func expectExactSeeks(
    _ signal: Signal, in bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let decoder = try AudioFile.open(MemorySource(bytes))
    let last = signal.frameCount
    var generator = SeededGenerator(seed: 11)
    for frame in (0..<50).map({ _ in Int.random(in: 0..<last, using: &generator) }) + [0, last - 1, last, last + 5, 0] {
        try decoder.seek(toFrame: Int64(frame))
        let expected = signal.slice(min(frame, last)..<min(frame + 500, last))
        let decoded = try decoder.decode(frames: 500)
        #expect(difference(decoded, expected) == nil, "frame \(frame)", sourceLocation: sourceLocation)
    }
    try decoder.seek(toFrame: .max)
    #expect(try decoder.decode(frames: 1).isEmpty, sourceLocation: sourceLocation)
}
