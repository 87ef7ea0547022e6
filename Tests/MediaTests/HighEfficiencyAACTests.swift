import PCM
import Testing

@testable import Manifests
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
            #expect(decoder.properties.aacObjectType == (kind == .parametric ? 29 : 5))
            let samples = decoder.decodeAll().samples
            try expectReference(samples, stream, kind, "file.aac")
            #expect(decoder.damage.isEmpty)
            let channels = decoder.properties.format.channelCount
            for frame in [40_000, 20_479, 20_480, 20_481, 0] {
                try decoder.seek(toFrame: Int64(frame))
                let expected = Array(samples[(frame * channels)...].prefix(5000 * channels))
                let found = try decoder.decode(frames: 5000)
                // The noise of SBR continues from the decoder's state.
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
            #expect(decoder.properties.aacObjectType == direct.properties.aacObjectType)
            let samples = decoder.decodeAll().samples
            let expected = direct.decodeAll().samples
            #expect(difference(samples, Array(expected.prefix(samples.count))) == nil)
            #expect(expected.count - samples.count < 2 * 2048)
            #expect(decoder.properties.frameCount == Int64(samples.count / decoder.properties.format.channelCount))
        }

        /// Segments decode to the same samples as the packets in one file, also after seeks.
        private func expectSegments(
            _ segments: any SegmentedSource, toPlayAs whole: [UInt8], _ kind: Kind
        ) throws {
            let direct = try AudioFile.open(MemorySource(whole))
            let decoder = try AudioFile.open(segments)
            #expect(decoder.properties.format == direct.properties.format)
            #expect(decoder.properties.format.sampleRate == 44_100)
            let samples = decoder.decodeAll().samples
            #expect(difference(samples, direct.decodeAll().samples) == nil)
            #expect(decoder.damage.isEmpty)
            try expectReference(samples, whole, kind, "file.aac")
            let channels = decoder.properties.format.channelCount
            for frame in [60_000, 20_481, 0] {
                try decoder.seek(toFrame: Int64(frame))
                let expected = Array(samples[(frame * channels)...].prefix(5000 * channels))
                let found = try decoder.decode(frames: 5000)
                #expect(AACReference.difference(found, expected, step: 4 * AACReference.step) == nil, "frame \(frame)")
            }
        }

        @Test("The same packets in segments without times", arguments: Kind.allCases)
        func inPlainSegments(kind: Kind) throws {
            let stream = try Self.stream(kind)
            var segments: [[UInt8]] = []
            var (start, end, count) = (0, 0, 0)
            while let header = ADTSHeader(stream[end...]) {
                end += header.byteCount
                count += 1
                if count % 10 == 0 {
                    segments.append(Array(stream[start..<end]))
                    start = end
                }
            }
            let whole = Array(stream[..<start])
            try #require(segments.count >= 4)
            let timeline = SegmentTimeline(
                runs: [.init(start: 0, duration: 20_480 / 44_100.0, count: segments.count)], isComplete: true)
            try expectSegments(MemorySegments(nil, segments, timeline, notYetEvery: 5), toPlayAs: whole, kind)
        }

        @Test("The same packets in segments of HLS", Tool.needsPackager, arguments: Kind.allCases)
        func inSegments(kind: Kind) throws {
            let stream = try Self.stream(kind)
            let file = try withTemporaryFolder { folder in
                try Files.write(stream, "file.aac", folder)
                try Tool.ffmpeg.run(["-loglevel", "error", "-i", "file.aac", "-c", "copy", "file.m4a"], in: folder)
                return try Files.read("file.m4a", folder)
            }
            let files = try Packaged(
                file, "segment_template=$Number$.aac,playlist_name=audio.m3u8",
                ["--segment_duration", "0.5", "--hls_master_playlist_output", "master.m3u8"]
            ).files
            let list = try MediaPlaylist(try #require(files["audio.m3u8"]), url: "https://h/audio.m3u8").segments
            #expect(list.segments.count > 2)
            // After the tag at the start of each, which has a size of less than 128 bytes.
            let whole = (1...list.segments.count).flatMap { number -> [UInt8] in
                guard let segment = files["\(number).aac"] else { return [] }
                return Array(segment[(10 + Int(segment[9]))...])
            }
            try expectSegments(try PackagedSegments(.list(list), files), toPlayAs: whole, kind)
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
