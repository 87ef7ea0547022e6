import PCM
import Testing

@testable import Media

@Suite("Matroska with WavPack and with codecs of Windows", Tool.needsWavPack, Tool.needsMKVToolNix, Tool.needsFFmpeg)
struct MatroskaCodecTests {
    @Test(
        "WavPack is what wavpack encoded, bit for bit, from every frame",
        arguments: [(1, 16), (2, 16), (2, 24), (3, 16), (6, 24), (2, 32)])
    func wavPack(channels: Int, depth: Int) throws {
        let signal = Signal(frames: 30_001, channels: channels, depth: depth)
        for options in [["--blocksize=3000"], ["-hh"]] {
            let bytes = try Remuxing.mkvmerge(signal.wavpack(options), "file.wv")
            let decoder = try AudioFile.open(MemorySource(bytes))
            #expect(decoder.properties.container == .matroska && decoder.properties.codec == .wavpack)
            #expect(decoder.properties.format == signal.format && decoder.properties.frameCount == 30_001)
            #expect(difference(decoder.decodeAll().samples, signal.samples) == nil)
            for frame in [29_999, 0, 1, 2999, 3000, 3001, 12_345] {
                try decoder.seek(toFrame: Int64(frame))
                let expected = signal.slice(frame..<min(30_001, frame + 4000))
                #expect(try difference(decoder.decode(frames: 4000), expected) == nil, "frame \(frame)")
            }
            #expect(decoder.damage.isEmpty)
        }
    }

    @Test("Floats and hybrid files are as in their own container")
    func otherWavPack() throws {
        let signal = Signal(frames: 20_001, channels: 2, depth: 16)
        for native in [
            try signal.wavpack(["-b4"]), try WavPackTests.floats(Signal(frames: 5001, depth: 32)).wavpack([]),
            try Signal(frames: 9000, rate: 50_001).wavpack(),
        ] {
            let (expected, _) = try decode(native)
            let own = try AudioFile.open(MemorySource(native)).properties
            let decoder = try AudioFile.open(MemorySource(Remuxing.mkvmerge(native, "file.wv")))
            #expect(decoder.properties.format == own.format && decoder.properties.codec == own.codec)
            #expect(difference(decoder.decodeAll().samples, expected.samples) == nil)
        }
    }

    @Test("A damaged packet of WavPack is silence of its length")
    func damage() throws {
        let signal = Signal(frames: 30_000)
        var bytes = try Remuxing.mkvmerge(signal.wavpack(["--blocksize=3000"]), "file.wv")
        bytes[bytes.count / 2] ^= 0x10
        let decoder = try AudioFile.open(MemorySource(bytes))
        #expect(decoder.decodeAll().samples.count == signal.samples.count)
        #expect(decoder.damage.incidents == 1 && decoder.damage.silencedFrames == 3000)
    }

    @Test(
        "A block of WavPack that declares more than its packet has is damaged",
        arguments: [0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF])
    func hugeBlock(size: Int) throws {
        let signal = Signal(frames: 30_000, channels: 3)
        let native = try signal.wavpack(["--blocksize=3000"])
        var bytes = try Remuxing.mkvmerge(native, "file.wv")
        // Several blocks: the number of frames, then flags, checksum and size of each. A size has 16 bits at most.
        let places = bytes.indices.dropLast(16).filter {
            Array(bytes[$0..<($0 + 4)]) == [0xB8, 0x0B, 0, 0] && Array(bytes[($0 + 14)..<($0 + 16)]) == [0, 0]
        }
        let place = try #require(places.dropFirst(2).first)
        bytes.replaceSubrange(
            (place + 12)..<(place + 16), with: (0..<4).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) })
        let decoder = try AudioFile.open(MemorySource(bytes))
        let samples = decoder.decodeAll().samples
        #expect(samples.count == signal.samples.count)
        #expect(decoder.damage.incidents == 1 && decoder.damage.silencedFrames == 3000)
        #expect(difference(Array(samples.prefix(6000 * 3)), Array(signal.samples.prefix(6000 * 3))) == nil)
    }

    @Test("Codecs that are described as in WAV", arguments: ["pcm_alaw", "pcm_mulaw"], [1, 2])
    func windows(codec: String, channels: Int) throws {
        let signal = Signal(frames: 8001, rate: 8000, channels: channels)
        let expected = try decode(signal.ffmpeg(["-c:a", codec], to: "file.wav")).decoded.samples
        let decoder = try AudioFile.open(MemorySource(signal.ffmpeg(["-c:a", codec], to: "file.mka")))
        #expect(decoder.properties.codec == (codec == "pcm_alaw" ? .alaw : .ulaw))
        #expect(decoder.properties.frameCount == 8001)
        #expect(difference(decoder.decodeAll().samples, expected) == nil)
        try decoder.seek(toFrame: 5000)
        let rest = Array(expected[(5000 * channels)...].prefix(1000 * channels))
        #expect(try difference(decoder.decode(frames: 1000), rest) == nil)
    }

    @Test("Other codecs of Windows are refused by name")
    func otherWindows() throws {
        var file = try HandmadeMatroska(Signal(frames: 10_000))
        file.codec = "A_MS/ACM"
        for (header, what) in [
            ([0x11, 0, 1, 0, 0x40, 0x1F, 0, 0, 0, 0, 0, 0, 0, 1, 4, 0], "Matroska with ADPCM"),
            ([0x61, 1], "Matroska with a format that is cut off"), ([], "Matroska with a format that is cut off"),
        ] as [([UInt8], String)] {
            file.header = header
            let error = outcome(of: file.bytes).error
            #expect(error == .unsupported(what: what) || error == .damaged(what: what), "\(String(describing: error))")
        }
    }
}
