import Foundation
import PCM
import Testing

@testable import Media

@Suite(
    "Ogg: Vorbis, Opus and FLAC", Tool.needsVorbisTools, Tool.needsOpusTools, Tool.needsFLAC, Tool.needsFFmpeg)
struct OggTests {
    /// A file of each codec, of an odd number of frames.
    enum Kind: CaseIterable, Sendable {
        case vorbis, opus, speech, flac

        func file(_ signal: Signal) throws -> [UInt8] {
            switch self {
            case .vorbis: try signal.oggenc(["-q", "4"])
            case .opus: try signal.opusenc(["--bitrate", "96"])
            case .speech: try signal.opusenc(["--bitrate", "14", "--speech", "--framesize", "60"])
            case .flac: try signal.flac(["--ogg"])
            }
        }
    }

    @Test("Vorbis is what oggdec decodes, rounded to more bits", arguments: [1, 2, 3, 4, 5, 6, 7, 8])
    func vorbis(channels: Int) throws {
        for (rate, quality) in [(44_100, "3"), (96_000, "8"), (8000, "0")] {
            let signal = Signal.music(frames: 9001, rate: rate, channels: channels)
            let bytes = try signal.oggenc(["-q", quality])
            let decoder = try AudioFile.open(MemorySource(bytes))
            #expect(decoder.properties.container == .ogg && decoder.properties.codec == .vorbis)
            #expect(decoder.properties.format == PCMFormat(sampleRate: rate, channelCount: channels, bitDepth: 24))
            #expect(decoder.properties.frameCount == 9001)
            let samples = decoder.decodeAll().samples
            if channels < 3 {
                // Half a step of 16 bits, and the difference between both roundings.
                let expected = try OggReference.vorbis(bytes)
                #expect(AACReference.difference(samples, expected, step: 32_768 + 256) == nil, "\(rate) Hz")
            } else {
                // oggdec has another order of channels.
                let expected = try AACReference.decode(bytes, "file.ogg")
                #expect(AACReference.difference(samples, expected, step: 8192) == nil, "\(rate) Hz")
            }
            #expect(decoder.damage.isEmpty)
        }
    }

    @Test("Opus is what opusdec decodes, to the last of 24 bits", arguments: [1, 2, 3, 4, 5, 6, 7, 8])
    func opus(channels: Int) throws {
        for (rate, options) in [
            (48_000, (64, "20")), (44_100, (32, "60")), (16_000, (16, "40")), (48_000, (48, "2.5")),
        ] {
            let signal = Signal.music(frames: 9001, rate: rate, channels: channels)
            // Less than this a channel is encoded with fewer channels.
            let bytes = try signal.opusenc(
                ["--bitrate", "\(options.0 * channels)", "--framesize", options.1]
                    + (options.0 < 20 ? ["--speech"] : []))
            let decoder = try AudioFile.open(MemorySource(bytes))
            #expect(decoder.properties.container == .ogg && decoder.properties.codec == .opus)
            #expect(decoder.properties.format == PCMFormat(sampleRate: 48_000, channelCount: channels, bitDepth: 24))
            #expect(decoder.properties.frameCount == Int64((9001 * 48_000 + rate - 1) / rate))
            let samples = decoder.decodeAll().samples
            #expect(difference(samples, try OggReference.opus(bytes)) == nil, "\(rate) Hz")
            #expect(decoder.damage.isEmpty)
        }
    }

    @Test("Every seek gives what the whole decode gives", arguments: Kind.allCases)
    func seeks(kind: Kind) throws {
        let signal = Signal.music(frames: 200_001)
        let bytes = try kind.file(signal)
        for knowsLength in [true, false] {
            let decoder = try AudioFile.open(MemorySource(bytes, knowsLength: knowsLength))
            let whole = decoder.decodeAll().samples
            #expect(whole.count == 2 * 200_001)
            for frame in [
                0, 1, 311, 312, 960, 4095, 61_128, 61_440, 61_441, 70_000, 123_457, 188_888, 199_000, 200_000,
                200_001, 5_000_000, 60_000, 155_255, 12, 0,
            ] {
                try decoder.seek(toFrame: Int64(frame))
                let expected = Array(whole[min(2 * frame, whole.count)...].prefix(8000))
                #expect(try difference(decoder.decode(frames: 4000), expected) == nil, "frame \(frame)")
            }
            #expect(decoder.damage.isEmpty)
        }
    }

    @Test("Opus with SILK: a seek into a long voice gives what the whole decode gives, in each container")
    func voice() throws {
        let signal = Self.voice
        for options in [["--bitrate", "16", "--speech", "--framesize", "60"], ["--bitrate", "14", "--speech"]] {
            let ogg = try signal.opusenc(options)
            let whole = try decode(ogg).decoded.samples
            for bytes in [
                ogg, try Remuxing.ffmpeg(ogg, "file.opus", to: "file.mkv"),
                try Remuxing.ffmpeg(ogg, "file.opus", to: "file.mp4"),
            ] {
                let decoder = try AudioFile.open(MemorySource(bytes))
                for frame in [210_000, 270_000, 285_000, 430_000, 20_000, 0] {
                    try decoder.seek(toFrame: Int64(frame))
                    let expected = Array(whole[frame...].prefix(4000))
                    let problem = try difference(decoder.decode(frames: 4000), expected)
                    #expect(problem == nil, "\(decoder.properties.container) \(options), frame \(frame)")
                }
                #expect(decoder.damage.isEmpty)
            }
        }
    }

    /// A vowel that lasts for 2.6 s at a time, with noise between. SILK predicts each period from the one before.
    private static let voice: Signal = {
        var generator = SeededGenerator(seed: 2)
        let samples = (0..<480_000).map { frame -> Int32 in
            let time = Double(frame) / 48_000
            if time.truncatingRemainder(dividingBy: 3) < 0.4 {
                return Int32(truncatingIfNeeded: generator.next()) / 5 & ~0xFFFF
            }
            let tones = [(120, 0.3), (240, 0.2), (360, 0.15), (480, 0.1), (960, 0.05)]
            let value = tones.reduce(0.0) { $0 + $1.1 * sin(2 * .pi * Double($1.0) * time) }
            return Int32(value * 32_767) << 16
        }
        return Signal(samples, PCMFormat(sampleRate: 48_000, channelCount: 1, bitDepth: 16))
    }()

    @Test(
        "At every k-th read, and in small pieces: the same tags, samples and seeks", arguments: Kind.allCases, [2, 5])
    func notYet(kind: Kind, k: Int) throws {
        let bytes = try kind.file(Signal.music(frames: 100_001))
        let plain = try AudioFile.open(MemorySource(bytes))
        let samples = plain.decodeAll().samples
        for largestRead in [Int.max, 700] {
            let source = MemorySource(bytes)
            source.notYetEvery = k
            source.largestRead = largestRead
            let decoder = try AudioFile.open(source)
            #expect(decoder.metadata == plain.metadata && decoder.properties == plain.properties)
            #expect(difference(decoder.decodeAll().samples, samples) == nil)
            for frame in [95_000, 3, 80_001] {
                try decoder.seek(toFrame: Int64(frame))
                let expected = Array(samples[(2 * frame)...].prefix(2000))
                #expect(try difference(decoder.decode(frames: 1000), expected) == nil)
            }
            #expect((source.notYetCount > 0 || largestRead > 700) && decoder.damage.isEmpty)
        }
    }

    @Test("A signal cut in two is as long as in one, and has no step at the joint", arguments: Kind.allCases)
    func gapless(kind: Kind) throws {
        let signal = Signal.music(frames: 60_001)
        let whole = try decode(kind.file(signal)).decoded.samples
        for cut in [20_001, 40_003] {
            let first = try decode(kind.file(Signal(signal.slice(0..<cut), signal.format))).decoded.samples
            let second = try decode(kind.file(Signal(signal.slice(cut..<60_001), signal.format))).decoded.samples
            #expect(first.count == 2 * cut && second.count == 2 * (60_001 - cut))
            let joined = first + second
            func largestError(_ samples: [Int32], _ frames: Range<Int>) -> Int64 {
                (2 * frames.lowerBound..<2 * frames.upperBound).map {
                    abs(Int64(samples[$0]) - Int64(signal.samples[$0]))
                }.max() ?? 0
            }
            let elsewhere = largestError(whole, 1000..<59_000)
            #expect(largestError(joined, (cut - 300)..<(cut + 300)) <= elsewhere * 3 / 2, "\(cut)")
        }
    }

    @Test("Tags of each codec; R128 comes before ReplayGain in Opus, and after it in Vorbis")
    func tags() throws {
        let signal = Signal.music(frames: 10_000)
        let gains = [
            "R128_TRACK_GAIN=-512", "R128_ALBUM_GAIN=256", "REPLAYGAIN_TRACK_GAIN=-1.5 dB",
            "REPLAYGAIN_TRACK_PEAK=0.5",
        ]
        let texts = ["TITLE=Größe", "ARTIST=A", "ARTIST=B", "ALBUM=Album", "TRACKNUMBER=3/9", "DISCNUMBER=2"]
        func options(_ name: String) -> [String] { (texts + gains).flatMap { [name, $0] } }
        let files = [
            try signal.oggenc(options("-c")), try signal.opusenc(options("--comment")),
            try signal.flac(["--ogg"] + options("-T")),
        ]
        for (number, file) in files.enumerated() {
            let metadata = try AudioFile.open(MemorySource(file)).metadata
            #expect(metadata.title == "Größe" && metadata.artist == "A, B" && metadata.album == "Album")
            #expect(metadata.trackNumber == 3 && metadata.discNumber == 2)
            #expect(metadata.replayGain.trackGain == (number == 1 ? 3 : -1.5))
            #expect(metadata.replayGain.trackPeak == 0.5 && metadata.replayGain.albumGain == 6)
        }
    }

    @Test("A picture of megabytes in the comments is not loaded, and hides no other comment")
    func picture() throws {
        let signal = Signal.music(frames: 10_000)
        let bytes = try withTemporaryFolder { folder in
            var generator = SeededGenerator(seed: 9)
            let noise = (0..<3_000_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
            try Files.write([0xFF, 0xD8, 0xFF, 0xE0] + noise, "cover.jpg", folder)
            try Files.write(signal.extensibleWAV, "input.wav", folder)
            try Tool.opusenc.run(
                [
                    "--quiet", "--picture", "3|image/jpeg||500x500x24|cover.jpg", "--title", "Title", "input.wav",
                    "file.opus",
                ], in: folder)
            return try Files.read("file.opus", folder)
        }
        let source = MemorySource(bytes)
        let decoder = try AudioFile.open(source)
        #expect(decoder.metadata.title == "Title")
        #expect(source.largestRequest <= 65_536)
        #expect(difference(decoder.decodeAll().samples, try OggReference.opus(bytes)) == nil)
    }
}
