import PCM
import Testing

@testable import Media

@Suite("WavPack", Tool.needsWavPack, Tool.needsFFmpeg)
struct WavPackTests {
    /// The signal as floats in a WAV file, and as a decoder has to give it.
    struct Floats {
        let bytes: [UInt8]
        let samples: [Int32]

        func wavpack(_ options: [String]) throws -> [UInt8] { try WavPackFile.encode(bytes, options) }
    }

    static func floats(_ signal: Signal, scale: Float = 1.25) -> Floats {
        var values = signal.samples.map { Float($0) / 2_147_483_648 * scale }
        for (index, value) in FloatSampleTests.values.enumerated() where 3 * index < values.count {
            values[3 * index] = Float(value.0)
        }
        let bytes = values.flatMap { Chunks.little(Int($0.bitPattern), 4) }
        return Floats(
            bytes: FloatSampleTests.wav(bytes, bits: 32, codec: 3, channels: signal.format.channelCount),
            samples: values.map { FloatSamples.in32Bits(Double($0)) })
    }

    @Test(
        "Every depth and number of channels is the signal, bit for bit, from every frame",
        arguments: [
            (1, 8), (2, 8), (2, 12), (1, 16), (2, 16), (3, 16), (2, 20), (1, 24), (2, 24), (5, 24), (2, 32), (4, 16),
            (6, 24), (7, 32), (8, 8), (8, 16),
        ])
    func lossless(channels: Int, depth: Int) throws {
        let signal = Signal(frames: 5001, rate: 44_100, channels: channels, depth: depth)
        for options in [["--blocksize=700"], ["-hh", "-x2"], ["-f", "--blocksize=1000"]] {
            let bytes = try signal.wavpack(options)
            let decoder = try expect(signal, in: bytes)
            #expect(decoder.properties.container == .wavpack && decoder.properties.codec == .wavpack)
            try expectExactSeeks(signal, in: bytes)
        }
    }

    @Test(
        "Rates that have a number of their own, and those that have not", arguments: [8000, 50_001, 192_000, 384_000])
    func rates(rate: Int) throws {
        let signal = Signal(frames: 4001, rate: rate, channels: 2, depth: 24)
        try expect(signal, in: signal.wavpack(["--blocksize=500"]))
    }

    @Test("Mono that is stored as stereo, and silence")
    func equalChannels() throws {
        let mono = Signal(frames: 3000, channels: 1)
        let stereo = Signal(mono.samples.flatMap { [$0, $0] }, Signal(frames: 0).format)
        try expect(stereo, in: stereo.wavpack())
        let silence = Signal([Int32](repeating: 0, count: 20_000), stereo.format)
        try expect(silence, in: silence.wavpack())
    }

    @Test("Float becomes 32 bits as in WAV", arguments: [1, 2, 6])
    func float(channels: Int) throws {
        let floats = Self.floats(Signal(frames: 5001, channels: channels, depth: 32))
        let format = PCMFormat(sampleRate: 44_100, channelCount: channels, bitDepth: 32)
        let signal = Signal(floats.samples, format)
        for options in [["--blocksize=700"], ["-hh"]] {
            let bytes = try floats.wavpack(options)
            try expect(signal, in: bytes)
            try expectExactSeeks(signal, in: bytes)
        }
    }

    @Test("A hybrid file plays without its correction, as wvunpack decodes it, and is lossy", arguments: [1, 2, 6])
    func hybrid(channels: Int) throws {
        let signal = Signal(frames: 20_001, channels: channels, depth: 16)
        let bytes = try signal.wavpack(["-b4", "-c"])
        let reference = try WavPackFile.decode(bytes)
        let expected = stride(from: 0, to: reference.count - 1, by: 2).map {
            Int32(bitPattern: UInt32(reference[$0]) << 16 | UInt32(reference[$0 + 1]) << 24)
        }
        #expect(expected != signal.samples)
        let decoder = try expect(Signal(expected, signal.format), in: bytes)
        #expect(decoder.properties.codec == .wavpackLossy)
        #expect(decoder.properties.codec.rawValue == "wavpack-lossy")
        try expectExactSeeks(Signal(expected, signal.format), in: bytes)
        // Files with floats.
        let floats = Self.floats(Signal(frames: 5001, channels: channels, depth: 32))
        let lossy = try floats.wavpack(["-b5"])
        let words = try WavPackFile.decode(lossy)
        let rounded = stride(from: 0, to: words.count - 3, by: 4).map { place in
            let pattern = (0..<4).reduce(0) { $0 | UInt32(words[place + $1]) << UInt32(8 * $1) }
            return FloatSamples.in32Bits(Double(Float(bitPattern: pattern)))
        }
        #expect(try difference(decode(lossy).decoded.samples, rounded) == nil)
    }

    @Test("A number of frames that the encoder did not know is found at the end")
    func unknownLength() throws {
        let signal = Signal(frames: 30_001)
        for options in [[], ["-metadata", "album=" + String(repeating: "long ", count: 20_000)]] {
            let bytes = try signal.ffmpeg(
                ["-c:a", "wavpack", "-frame_size", "2000"] + options, to: "file.wv", asStream: true)
            #expect(WavPackMap(bytes).header(0)?.total == nil)
            try expect(signal, in: bytes)
            try expectExactSeeks(signal, in: bytes)
            let unknown = try AudioFile.open(MemorySource(bytes, knowsLength: false))
            #expect(unknown.properties.frameCount == nil)
            #expect(difference(unknown.decodeAll().samples, signal.samples) == nil && unknown.damage.isEmpty)
            try unknown.seek(toFrame: 12_345)
            #expect(try difference(unknown.decode(frames: 100), signal.slice(12_345..<12_445)) == nil)
        }
    }

    @Test("Files of ffmpeg, which have no checksums", arguments: [1, 2, 6])
    func ffmpeg(channels: Int) throws {
        let signal = Signal(frames: 20_001, channels: channels, depth: 16)
        let bytes = try signal.ffmpeg(["-c:a", "wavpack", "-frame_size", "4000"], to: "file.wv")
        try expect(signal, in: bytes)
        try expectExactSeeks(signal, in: bytes)
    }

    @Test("At every k-th read, and in small pieces: the same tags, samples and seeks", arguments: [2, 5])
    func notYet(k: Int) throws {
        let signal = Signal(frames: 20_001, channels: 3, depth: 24)
        let bytes = try signal.wavpack(["--blocksize=3000", "-w", "Title=Title"])
        for largestRead in [Int.max, 700] {
            for knowsLength in [true, false] {
                let source = MemorySource(bytes, knowsLength: knowsLength)
                source.notYetEvery = k
                source.largestRead = largestRead
                let decoder = try AudioFile.open(source)
                #expect(decoder.metadata.title == (knowsLength ? "Title" : nil))
                #expect(difference(decoder.decodeAll().samples, signal.samples) == nil)
                for frame in [19_000, 3, 8001] {
                    try decoder.seek(toFrame: Int64(frame))
                    #expect(try difference(decoder.decode(frames: 500), signal.slice(frame..<(frame + 500))) == nil)
                }
                #expect(source.notYetCount > 0 && decoder.damage.isEmpty)
            }
        }
    }

    @Test("Tags of APEv2 at the end, with ReplayGain and a picture, and ID3v1 behind them")
    func tags() throws {
        let bytes = try withTemporaryFolder { folder in
            try Files.write([0xFF, 0xD8, 0xFF, 0xE0] + [UInt8](repeating: 7, count: 100_000), "cover.jpg", folder)
            try Files.write(Signal(frames: 5000).extensibleWAV, "input.wav", folder)
            let texts = [
                "Title=Größe", "Artist=A", "Album=Album", "Track=3/9", "Disc=2", "replaygain_track_gain=-1.5 dB",
            ]
            try Tool.wavpack.run(
                ["-q", "-y"] + texts.flatMap { ["-w", $0] }
                    + ["--write-binary-tag", "Cover Art (Front)=@cover.jpg", "input.wav", "-o", "file.wv"], in: folder)
            return try Files.read("file.wv", folder)
        }
        let old = Array("TAG".utf8) + Array("Old".utf8) + [UInt8](repeating: 0, count: 122)
        for file in [bytes, bytes + old] {
            let source = MemorySource(file)
            let decoder = try AudioFile.open(source)
            let metadata = decoder.metadata
            #expect(metadata.title == "Größe" && metadata.artist == "A" && metadata.album == "Album")
            #expect(metadata.trackNumber == 3 && metadata.discNumber == 2 && metadata.replayGain.trackGain == -1.5)
            #expect(metadata.picture?.length == 100_004)
            if let picture = metadata.picture { #expect(file[Int(picture.offset)] == 0xFF) }
            #expect(difference(decoder.decodeAll().samples, Signal(frames: 5000).samples) == nil)
            #expect(decoder.damage.isEmpty && source.largestRequest <= 65_536)
        }
        let untagged = try Signal(frames: 5000).wavpack() + old
        #expect(try AudioFile.open(MemorySource(untagged)).metadata.title == "Old")
    }

    @Test("More channels than eight are refused")
    func channels() throws {
        let bytes = try Signal(frames: 100, channels: 9).wavpack()
        #expect(throws: MediaError.unsupported(what: "WavPack with 9 channels")) {
            try AudioFile.open(MemorySource(bytes))
        }
    }
}
