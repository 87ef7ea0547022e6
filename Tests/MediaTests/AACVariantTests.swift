import PCM
import Testing

@testable import Media

#if AAC
    @Suite("AAC as encoders describe it wrongly, and with up to eight channels", Tool.needsFFmpeg)
    struct AACVariantTests {
        private static let signal = Signal.music(frames: 30_000, rate: 44_100)

        @Test("A configuration with flags that have nothing behind them: the same samples", arguments: [1, 2, 3])
        func flags(flags: UInt8) throws {
            let bytes = try Self.signal.ffmpeg(AACReference.encoder, to: "file.m4a")
            let plain = try decode(bytes).decoded
            // AAC-LC, 44.1 kHz, two channels, and the extension without SBR.
            let place = try #require(
                bytes.indices.first { bytes[$0...].starts(with: [0x05, 0x80, 0x80, 0x80, 5, 0x12, 0x10]) })
            var other = bytes
            other[place + 6] |= flags << 1 & 2 | flags >> 1 & 1
            let (decoded, damage) = try decode(other)
            #expect(decoded == plain && damage.isEmpty)
            // Two bytes of configuration, as in audiobooks of iTunes. The rest is another descriptor.
            other[place + 4] = 2
            other.replaceSubrange((place + 7)..<(place + 10), with: [0x06, 1, 2])
            #expect(try decode(other).decoded.samples == plain.samples)
        }

        @Test("A program configuration after such flags: the same samples")
        func program() throws {
            let signal = Signal(frames: 20_000, rate: 48_000, channels: 4)
            let bytes = try signal.ffmpeg(AACReference.encoder + ["-channel_layout", "quad"], to: "file.m4a")
            let plain = try decode(bytes).decoded
            let place = try #require(bytes.indices.first { bytes[$0...].starts(with: [0x11, 0x80, 0x04]) })
            var other = bytes
            other[place + 1] |= 2
            #expect(try decode(other).decoded == plain)
        }

        @Test(
            "ADTS with each object type in its headers, in all or in some packets", arguments: [0, 1, 2, 3] as [UInt8])
        func profiles(profile: UInt8) throws {
            let bytes = try Self.signal.ffmpeg(AACReference.encoder, to: "file.aac")
            let plain = try decode(bytes).decoded
            for isAlternating in [false, true] {
                var other = bytes
                var (start, number) = (0, 0)
                while let header = ADTSHeader(bytes[start...]) {
                    if !isAlternating || number % 3 == 1 { other[start + 2] = other[start + 2] & 0x3F | profile << 6 }
                    start += header.byteCount
                    number += 1
                }
                let decoder = try AudioFile.open(MemorySource(other))
                #expect(decoder.properties.container == .adts && decoder.properties.aacObjectType == 2)
                #expect(decoder.decodeAll() == plain && decoder.damage.isEmpty)
            }
        }

        @Test("Durations of packets that are wrong or differ: the length is what plays, and seeks are exact")
        func unevenDurations() throws {
            let bytes = try Self.signal.ffmpeg(AACReference.encoder, to: "file.m4a")
            let stream = try decode(Self.signal.ffmpeg(AACReference.encoder, to: "file.aac")).decoded.samples
            let table = try #require(Boxes.find(["moov", "trak", "mdia", "minf", "stbl", "stts"], in: bytes).first)
            let edits = try #require(Boxes.find(["moov", "trak", "edts"], in: bytes).first)
            // The duration of all packets but the last one.
            let place = table.lowerBound + 20
            try #require(Array(bytes[place..<(place + 4)]) == Boxes.big(1024, 4))
            for duration in [1000, 1023, 1031, 1500] {
                var other = bytes
                other.replaceSubrange((edits.lowerBound + 4)..<(edits.lowerBound + 8), with: Array("free".utf8))
                other.replaceSubrange(place..<(place + 4), with: Boxes.big(duration, 4))
                let decoder = try AudioFile.open(MemorySource(other))
                let samples = decoder.decodeAll().samples
                #expect(decoder.properties.frameCount == Int64(samples.count / 2), "\(duration)")
                #expect(difference(samples, Array(stream.prefix(samples.count))) == nil, "\(duration)")
                for frame in [28_000, 0, 1025, 20_479, 3] {
                    try decoder.seek(toFrame: Int64(frame))
                    let expected = Array(samples[(2 * frame)...].prefix(2000))
                    let found = try decoder.decode(frames: 1000)
                    #expect(AACReference.difference(found, expected, step: 256) == nil, "\(duration), frame \(frame)")
                }
            }
        }

        @Test("7.1 has the order of WAV, in MP4 and in ADTS", arguments: ["file.m4a", "file.aac"])
        func eightChannels(name: String) throws {
            let signal = Signal(frames: 20_000, rate: 48_000, channels: 8)
            let bytes = try signal.ffmpeg(
                AACReference.encoder + ["-channel_layout", "7.1", "-b:a", "800k"], to: name)
            let decoder = try AudioFile.open(MemorySource(bytes))
            #expect(decoder.properties.format.channelCount == 8)
            let samples = decoder.decodeAll().samples
            var reference = try AACReference.decode(bytes, name)
            reference.removeLast(max(0, reference.count - samples.count))
            #expect(AACReference.difference(samples, reference) == nil)
            #expect(decoder.damage.isEmpty)
        }

        @Test("The configuration of 7.1 with a pair behind, whose elements libfaad2 knows only by a program")
        func otherConfiguration() throws {
            let signal = Signal(frames: 20_000, rate: 48_000, channels: 8)
            var bytes = try signal.ffmpeg(
                AACReference.encoder + ["-channel_layout", "7.1", "-b:a", "800k"], to: "file.m4a")
            let plain = try decode(bytes).decoded
            let place = try #require(
                bytes.indices.first { bytes[$0...].starts(with: [0x05, 0x80, 0x80, 0x80, 5, 0x11, 0xB8]) })
            bytes[place + 6] = 0xE0
            let (decoded, damage) = try decode(bytes)
            #expect(decoded == plain && damage.isEmpty)
        }

        @Test("A pair before the single channel in front is refused: its order is not known")
        func unusualOrder() throws {
            let signal = Signal(frames: 5000, rate: 48_000, channels: 8)
            let bytes = try signal.ffmpeg(
                AACReference.encoder + ["-channel_layout", "7.1(wide)", "-b:a", "800k"], to: "file.m4a")
            #expect(throws: MediaError.unsupported(what: "AAC with 8 channels in an unusual order")) {
                try AudioFile.open(MemorySource(bytes))
            }
        }
    }
#endif
