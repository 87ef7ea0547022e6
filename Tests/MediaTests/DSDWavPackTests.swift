import PCM
import Testing

@testable import Media

@Suite("DSD in WavPack, alone and in Matroska", Tool.needsWavPack, Tool.needsMKVToolNix)
struct DSDWavPackTests {
    private static func wavPack(_ signal: DSDSignal, _ options: [String] = []) throws -> [UInt8] {
        try WavPackFile.encode(signal.dsf(), options, name: "input.dsf")
    }

    @Test(
        "PCM and words are those of DSF, whole and from any frame", arguments: [2_822_400, 5_644_800],
        [[], ["-h"], ["--blocksize=5000"]])
    func plays(rate: Int, options: [String]) throws {
        let signal = DSDSignal(
            rate: rate, byteCount: 60_003, tones: options.isEmpty ? [(500, 0.3)] : [(500, 0.3), (700, 0.4)])
        let plain = try AudioFile.open(MemorySource(signal.dsf()))
        let expected = plain.decodeAll().samples
        let words = try #require(plain.dsdWords)
        try words.seek(toFrame: 0)
        let expectedWords = words.decodeAll().samples
        let channels = signal.channels.count
        let native = try Self.wavPack(signal, options)
        for (bytes, container) in [
            (native, AudioProperties.Container.wavpack), (try Remuxing.mkvmerge(native, "file.wv"), .matroska),
        ] {
            let decoder = try AudioFile.open(MemorySource(bytes))
            #expect(decoder.properties.format == plain.properties.format)
            #expect(decoder.properties.container == container && decoder.properties.codec == .dsd)
            #expect(decoder.properties.frameCount == plain.properties.frameCount)
            #expect(difference(decoder.decodeAll().samples, expected) == nil)
            for frame in [15_000, 0, 1, 1250, 7, 9999] {
                try decoder.seek(toFrame: Int64(frame))
                let rest = Array(expected[(channels * frame)...].prefix(300 * channels))
                #expect(try difference(decoder.decode(frames: 300), rest) == nil, "frame \(frame)")
            }
            let found = try #require(decoder.dsdWords)
            #expect(found.properties.format == words.properties.format)
            for frame in [0, 1, 2499, 2500, 2501, 30_000, 3] {
                try found.seek(toFrame: Int64(frame))
                let rest = Array(expectedWords[(channels * frame)...].prefix(3000 * channels))
                #expect(try difference(found.decode(frames: 3000), rest) == nil, "word \(frame)")
            }
            #expect(decoder.damage.isEmpty && found.damage.isEmpty)
        }
    }

    @Test("A damaged block is silence of its length, and counted")
    func damage() throws {
        let signal = DSDSignal(byteCount: 40_000, tones: [(500, 0.3), (700, 0.4)])
        let plain = try AudioFile.open(MemorySource(signal.dsf()))
        let expected = plain.decodeAll().samples
        var map = WavPackMap(try Self.wavPack(signal, ["--blocksize=4000"]))
        try #require(map.blocks.count >= 9)
        map.blocks[4][map.blocks[4].count / 2] ^= 0x55
        let decoder = try AudioFile.open(MemorySource(map.bytes))
        let samples = decoder.decodeAll().samples
        #expect(samples.count == expected.count)
        #expect(decoder.damage.incidents == 1 && decoder.damage.silencedFrames == 1000)
        // The filter reaches 60 bytes.
        #expect(samples[..<(2 * 3980)].elementsEqual(expected[..<(2 * 3980)]))
        #expect(samples[(2 * 5020)...].elementsEqual(expected[(2 * 5020)...]))
        let words = try #require(decoder.dsdWords)
        try words.seek(toFrame: 8000)
        let found = try words.decode(frames: 4000)
        #expect(found.prefix(2 * 2000).allSatisfy { $0 == 0x6969_0000 })
        let plainWords = try #require(plain.dsdWords)
        try plainWords.seek(toFrame: 10_000)
        #expect(try difference(Array(found.dropFirst(2 * 2000)), plainWords.decode(frames: 2000)) == nil)
        #expect(words.damage.incidents == 1 && words.damage.silencedFrames == 2000)
    }

    @Test("At every k-th read: the same samples", arguments: [2, 5])
    func notYet(k: Int) throws {
        let signal = DSDSignal(randomBytes: 20_003, channels: 2)
        let expected = try decode(signal.dsf()).decoded.samples
        let source = MemorySource(try Self.wavPack(signal, ["--blocksize=3000"]))
        source.notYetEvery = k
        source.largestRead = 700
        #expect(try difference(AudioFile.open(source).decodeAll(bufferFrames: 100).samples, expected) == nil)
        #expect(source.notYetCount > 0)
    }
}
