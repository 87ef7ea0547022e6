import PCM
import Testing

@testable import Media

#if AAC
    @Suite("HE-AAC against ffmpeg's decoder", Tool.needsFFmpeg)
    struct HighEfficiencyAACTests {
        /// One channel, two, and one with parametric stereo.
        enum Kind: CaseIterable { case mono, stereo, parametric }

        private static func stream(_ kind: Kind) throws -> [UInt8] {
            let signal = Signal(frames: 40_000, rate: 22_050, channels: 2, seed: 11)
            let core = try signal.ffmpeg(
                AACReference.encoder + ["-ac", kind == .stereo ? "2" : "1", "-flags:a", "bitexact"], to: "core.aac")
            return HighEfficiencyAAC(isPair: kind == .stereo, hasParametricStereo: kind == .parametric).bytes(core)
        }

        /// The decoders start the filters of SBR differently; the encoder's delay is longer than that.
        private static let settled = 4096

        private func expectReference(_ samples: [Int32], _ bytes: [UInt8], _ kind: Kind, _ name: String) throws {
            var reference = try AACReference.decode(bytes, name)
            // ffmpeg makes two equal channels of one, in case parametric stereo begins.
            if kind == .mono { reference = stride(from: 0, to: reference.count, by: 2).map { reference[$0] } }
            #expect(samples.count == reference.count)
            let first = Self.settled * (kind == .mono ? 1 : 2)
            #expect(
                AACReference.difference(Array(samples.dropFirst(first)), Array(reference.dropFirst(first))) == nil)
            // The upper band is there.
            #expect(samples.dropFirst(first).contains { abs(Int64($0)) > 1 << 24 })
        }

        @Test(
            "Said by the packets alone: twice the core's rate, and the channels of parametric stereo",
            arguments: Kind.allCases)
        func implicit(kind: Kind) throws {
            let stream = try Self.stream(kind)
            let decoder = try AudioFile.open(MemorySource(stream))
            #expect(
                decoder.properties.format
                    == PCMFormat(sampleRate: 44_100, channelCount: kind == .mono ? 1 : 2, bitDepth: 24))
            let samples = decoder.decodeAll().samples
            try expectReference(samples, stream, kind, "file.aac")
            #expect(decoder.damage.isEmpty)
            let channels = decoder.properties.format.channelCount
            for frame in [40_000, 20_479, 20_480, 20_481, 0] {
                try decoder.seek(toFrame: Int64(frame))
                let expected = Array(samples[(frame * channels)...].prefix(5000 * channels))
                let found = try decoder.decode(frames: 5000)
                // The noise of SBR goes on from where the decoder was.
                #expect(AACReference.difference(found, expected, step: 4 * AACReference.step) == nil, "frame \(frame)")
            }
        }

        @Test("The same packets in MP4", arguments: Kind.allCases)
        func inMP4(kind: Kind) throws {
            let stream = try Self.stream(kind)
            let bytes = try withTemporaryFolder { folder in
                try Files.write(stream, "file.aac", folder)
                try Tool.ffmpeg.run(["-loglevel", "error", "-i", "file.aac", "-c", "copy", "file.m4a"], in: folder)
                return try Files.read("file.m4a", folder)
            }
            let decoder = try AudioFile.open(MemorySource(bytes))
            let direct = try AudioFile.open(MemorySource(stream))
            #expect(decoder.properties.format == direct.properties.format)
            let samples = decoder.decodeAll().samples
            let expected = direct.decodeAll().samples
            #expect(difference(samples, Array(expected.prefix(samples.count))) == nil)
            #expect(expected.count - samples.count < 2 * 2048)
            #expect(decoder.properties.frameCount == Int64(samples.count / decoder.properties.format.channelCount))
        }

        @Test("Said by the configuration: the result is the same without a look at the packets")
        func explicit() throws {
            // Type 5, 22,050 Hz, two channels, 44,100 Hz, type 2; type 29 with one channel.
            let configs: [(Kind, [UInt8])] = [
                (.stereo, [0x2B, 0x92, 0x08, 0x00]), (.parametric, [0xEB, 0x8A, 0x08, 0x00]),
            ]
            for (kind, config) in configs {
                let stream = try Self.stream(kind)
                let expected = try AudioFile.open(MemorySource(stream)).decodeAll().samples
                let packets = try ADTSContainer(MemorySource(stream), tags: TrackMetadata())
                let found = try AACStream(try AudioSpecificConfig(config), packets)
                #expect(try packets.nextPacket()?.timeStamp == 0)
                #expect(found.format == PCMFormat(sampleRate: 44_100, channelCount: 2, bitDepth: 24))
                #expect(found.packetFrameCount == 2048)
                packets.decode(to: found.format, packetFrameCount: found.packetFrameCount, preroll: found.preroll)
                _ = try packets.seek(toFrame: 0)
                let decoder = TrackDecoder(
                    packets.track, packets, try AACCodec(packets, found), StepSource(MemorySource(stream)))
                #expect(difference(decoder.decodeAll().samples, expected) == nil)
            }
        }
    }
#endif
