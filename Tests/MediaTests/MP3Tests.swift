import PCM
import Testing

@testable import Media

@Suite("MP3 against the source, mpg123 and ffmpeg", Tool.needsLAME, Tool.needsFFmpeg)
struct MP3Tests {
    struct Encoding: CustomTestStringConvertible {
        var rate: Int
        var channels: Int
        var options: [String]
        var testDescription: String { "\(rate) Hz, \(channels) channels, \(options.joined(separator: " "))" }
    }

    /// Every rate of MPEG 1, 2 and 2.5, and every kind of bit rate.
    static let encodings: [Encoding] = [48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000].flatMap {
        rate in
        [1, 2].flatMap { channels in
            let bitRate = rate > 24_000 ? "128" : rate > 12_000 ? "64" : "32"
            return [
                ["-b", bitRate], ["-V", "4"], ["--abr", bitRate], ["-b", bitRate, "-p"],
                ["-b", rate > 24_000 ? "344" : "72", "--freeformat"],
            ].map { Encoding(rate: rate, channels: channels, options: $0) }
        }
    }

    private static func signal(_ encoding: Encoding, frames: Int) -> Signal {
        Signal(frames: frames, rate: encoding.rate, channels: encoding.channels, seed: UInt64(encoding.rate))
    }

    @Test("Every rate and mode: the source's length, and mpg123's samples within a step", arguments: encodings)
    func everyEncoding(encoding: Encoding) throws {
        let signal = Self.signal(encoding, frames: 9001)
        let bytes = try signal.lame(encoding.options)
        let decoder = try AudioFile.open(MemorySource(bytes))
        #expect(decoder.properties.container == .mp3 && decoder.properties.codec == .mp3)
        #expect(
            decoder.properties.format
                == PCMFormat(sampleRate: encoding.rate, channelCount: encoding.channels, bitDepth: 24))
        #expect(decoder.properties.frameCount == 9001)
        let samples = decoder.decodeAll().samples
        #expect(samples.count == 9001 * encoding.channels)
        #expect(decoder.damage.isEmpty)
        // Its own rounding of large sums is not to be compared.
        #expect(AACReference.difference(samples, try MP3Reference.decode(bytes), step: 65_536) == nil)
    }

    @Test("The same as ffmpeg's decoder, which is another one", arguments: [44_100, 22_050, 8000], [1, 2])
    func otherDecoder(rate: Int, channels: Int) throws {
        let signal = Signal(frames: 20_001, rate: rate, channels: channels, seed: 5)
        for options in [["-V", "2"], ["-b", rate > 24_000 ? "320" : rate > 12_000 ? "160" : "64"]] {
            let bytes = try signal.lame(options)
            let samples = try decode(bytes).decoded.samples
            #expect(AACReference.difference(samples, try AACReference.decode(bytes, "file.mp3")) == nil)
        }
    }

    @Test(
        "Joint stereo, dual channel, and both channels apart",
        arguments: [["-m", "j"], ["-m", "f"], ["-m", "s"], ["-m", "d"], ["-m", "m"]])
    func modes(options: [String]) throws {
        let signal = Signal(frames: 9001)
        let bytes = try signal.lame(options + ["-b", "96"])
        let samples = try decode(bytes).decoded.samples
        #expect(AACReference.difference(samples, try AACReference.decode(bytes, "file.mp3")) == nil)
    }

    @Test("Layer II, which is in old recordings of radio", arguments: [48_000, 44_100, 24_000], [1, 2])
    func layerII(rate: Int, channels: Int) throws {
        let bytes = try Signal(frames: 20_000, rate: rate, channels: channels).ffmpeg(
            ["-c:a", "mp2", "-b:a", "64k"] + (channels == 1 ? ["-af", "pan=mono|c0=c0"] : []), to: "file.mp2")
        let decoder = try AudioFile.open(MemorySource(bytes))
        #expect(decoder.properties.codec == .mp2 && decoder.properties.frameCount == 20_736)
        let samples = decoder.decodeAll().samples
        #expect(AACReference.difference(samples, try MP3Reference.decode(bytes)) == nil)
        // That of ffmpeg computes with integers, and is up to two steps off.
        #expect(AACReference.difference(samples, try AACReference.decode(bytes, "file.mp2"), step: 140_000) == nil)
        #expect(decoder.damage.isEmpty)
    }

    /// Long enough for seeks that do not begin at the first frame. The smallest frames have the longest way back.
    static let seekEncodings: [Encoding] = [
        Encoding(rate: 44_100, channels: 2, options: ["-V", "2"]),
        Encoding(rate: 44_100, channels: 2, options: ["-b", "320"]),
        Encoding(rate: 48_000, channels: 1, options: ["-b", "32"]),
        Encoding(rate: 44_100, channels: 2, options: ["-b", "64", "-t"]),
        Encoding(rate: 44_100, channels: 2, options: ["-V", "5", "-t"]),
        Encoding(rate: 24_000, channels: 1, options: ["-b", "8"]),
        Encoding(rate: 24_000, channels: 2, options: ["-b", "8"]),
        Encoding(rate: 24_000, channels: 1, options: ["-b", "64"]),
        Encoding(rate: 8000, channels: 1, options: ["-b", "8", "-p"]),
        Encoding(rate: 32_000, channels: 2, options: ["-b", "400", "--freeformat"]),
        Encoding(rate: 22_050, channels: 2, options: ["--abr", "40"]),
    ]

    @Test("After a seek every byte is that of the whole decode", arguments: seekEncodings)
    func seeks(encoding: Encoding) throws {
        let signal = Self.signal(encoding, frames: 400_001).varied
        let bytes = try signal.lame(encoding.options)
        let whole = try decode(bytes)
        let samples = whole.decoded.samples
        #expect(whole.damage.isEmpty)
        let channels = encoding.channels
        let count = samples.count / channels
        #expect(count >= 400_001)
        // One decoder with an index and one without.
        let played = try AudioFile.open(MemorySource(bytes))
        _ = played.decodeAll()
        let fresh = try AudioFile.open(MemorySource(bytes))
        for decoder in [fresh, played] {
            for frame in [
                count - 1, 0, count / 2, 1151, 1152, 1, count, 300_007, 399_000, 123_456, 47, 576 * 300, 1152 * 290 + 1,
                1 << 40, 99_999,
            ] {
                try decoder.seek(toFrame: Int64(frame))
                let expected = Array(samples[(min(frame, count) * channels)...].prefix(4000 * channels))
                let found = try decoder.decode(frames: 4000)
                #expect(difference(found, expected) == nil, "frame \(frame)")
            }
            #expect(decoder.damage.isEmpty)
        }
    }

    @Test("One signal cut at an odd frame and encoded in two plays as one", arguments: [["-V", "2"], ["-b", "192"]])
    func gapless(options: [String]) throws {
        let whole = Signal(frames: 60_000, seed: 9)
        let cut = 27_031
        let parts = [whole.slice(0..<cut), whole.slice(cut..<60_000)].map { Signal($0, whole.format) }
        let joined = try parts.flatMap { try decode($0.lame(options)).decoded.samples }
        #expect(joined.count == whole.samples.count)
        // No step at the joint is larger than the codec's own error elsewhere.
        func error(_ range: Range<Int>) -> Int64 {
            range.reduce(0) { max($0, abs(Int64(joined[$1]) - Int64(whole.samples[$1]))) }
        }
        #expect(error((2 * cut - 200)..<(2 * cut + 200)) <= error(0..<joined.count - 4000))
    }
}
