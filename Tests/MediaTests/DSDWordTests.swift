import Foundation
import PCM
import Testing

@testable import Media

@Suite("DSD as words (docs/decisions/dsd-over-pcm.md)")
struct DSDWordTests {
    /// The words by the definition: the first byte at the top, and the idle pattern where a byte is missing.
    private func words(_ signal: DSDSignal) -> [Int32] {
        (0..<((signal.byteCount + 1) / 2)).flatMap { frame in
            signal.channels.map { channel in
                let second = 2 * frame + 1 < channel.count ? channel[2 * frame + 1] : 0x69
                return Int32(bitPattern: UInt32(channel[2 * frame]) << 24 | UInt32(second) << 16)
            }
        }
    }

    private func decoder(_ bytes: [UInt8]) throws -> any AudioDecoder { try decoder(MemorySource(bytes)) }

    private func decoder(_ source: MemorySource) throws -> any AudioDecoder {
        try #require(try AudioFile.open(source).dsdWords)
    }

    @Test(
        "Every bit of a file, in every layout",
        arguments: [(1, 2_822_400), (2, 5_644_800), (3, 3_072_000), (6, 2_822_400)])
    func whole(channels: Int, rate: Int) throws {
        for byteCount in [8193, 402, 1] {
            let signal = DSDSignal(rate: rate, randomBytes: byteCount, channels: channels)
            let expected = words(signal)
            for file in [signal.dsf(), signal.dsf(isLowestFirst: false), signal.dff()] {
                let decoder = try decoder(file)
                #expect(decoder.properties.format == .dsd(bitRate: rate, channelCount: channels))
                #expect(decoder.properties.format.sampleRate == rate / 16)
                #expect(decoder.properties.frameCount == Int64((byteCount + 1) / 2))
                #expect(decoder.properties.codec == .dsd && decoder.damage.isEmpty)
                let samples = decoder.decodeAll().samples
                #expect(difference(samples, expected) == nil, "\(byteCount) bytes")
            }
        }
    }

    @Test("Files of real encoders: DSF and DFF that wvunpack writes", Tool.needsWavPack, arguments: ["dsf", "dff"])
    func wavPack(kind: String) throws {
        let signal = DSDSignal(byteCount: 12_288, tones: [(500, 0.3), (700, 0.4)])
        let file = try withTemporaryFolder { folder in
            try Files.write(signal.dsf(), "input.dsf", folder)
            try Tool.wavpack.run(["-q", "-y", "input.dsf", "-o", "file.wv"], in: folder)
            try Tool.wvunpack.run(["-q", "-y", "--\(kind)", "file.wv", "-o", "decoded.\(kind)"], in: folder)
            return try Files.read("decoded.\(kind)", folder)
        }
        #expect(try difference(decoder(file).decodeAll().samples, words(signal)) == nil)
    }

    @Test("A seek goes to the exact word", arguments: [false, true])
    func seeks(isDFF: Bool) throws {
        let signal = DSDSignal(randomBytes: 20_003, channels: 2)
        let expected = words(signal)
        let decoder = try decoder(isDFF ? signal.dff() : signal.dsf())
        for frame in [0, 1, 2047, 2048, 2049, 5000, 10_000, 10_001, 10_002, 80_000, 3, 0] {
            try decoder.seek(toFrame: Int64(frame))
            let rest = Array(expected[min(2 * frame, expected.count)...].prefix(2400))
            #expect(try difference(decoder.decode(frames: 1200), rest) == nil, "word \(frame)")
        }
        try decoder.seek(toFrame: .max)
        #expect(try decoder.decode(frames: 1).isEmpty)
    }

    @Test("Words and PCM of one file can be read in turn")
    func both() throws {
        let signal = DSDSignal(randomBytes: 12_000, channels: 2)
        let pcm = try AudioFile.open(MemorySource(signal.dsf()))
        let expected = try decode(signal.dsf()).decoded.samples
        let words = try #require(pcm.dsdWords)
        for frame in [0, 1500, 7] {
            try words.seek(toFrame: Int64(2 * frame))
            #expect(try words.decode(frames: 100) == Array(self.words(signal)[(4 * frame)..<(4 * frame + 200)]))
            try pcm.seek(toFrame: Int64(frame))
            #expect(try pcm.decode(frames: 100) == Array(expected[(2 * frame)..<(2 * frame + 200)]))
        }
    }

    @Test("At every k-th read, and in small pieces and buffers: the same words", arguments: [2, 5])
    func notYet(k: Int) throws {
        let signal = DSDSignal(randomBytes: 12_003, channels: 3)
        let expected = words(signal)
        for bytes in [signal.dsf(), signal.dff()] {
            for largestRead in [Int.max, 700] {
                let source = MemorySource(bytes)
                source.largestRead = largestRead
                source.notYetEvery = k
                // Opening waits for the bytes.
                let decoder = try decoder(source)
                #expect(difference(decoder.decodeAll(bufferFrames: 1).samples, expected) == nil)
                #expect(source.notYetCount > 0)
            }
        }
    }

    @Test("A file that is cut plays to the cut, and says so")
    func cut() throws {
        let signal = DSDSignal(randomBytes: 30_000, channels: 2)
        for file in [Array(signal.dsf().prefix(40_001)), Array(signal.dff().prefix(40_001))] {
            let decoder = try decoder(MemorySource(file, knowsLength: false))
            let samples = decoder.decodeAll().samples
            #expect(samples.count >= 2 * 4 * 2048 && decoder.damage.truncated)
            // The last word may be half there.
            #expect(samples.dropLast(2) == words(signal)[..<(samples.count - 2)])
        }
    }

    @Test("Other audio has no words")
    func others() throws {
        #expect(try AudioFile.open(MemorySource(Signal(frames: 300).extensibleWAV)).dsdWords == nil)
    }
}
