import Foundation
import PCM
import Testing

@testable import Media

#if AAC
    @Suite("AAC against ffmpeg's decoder", Tool.needsFFmpeg)
    struct AACTests {
        static let signals = [
            Signal(frames: 100_000), Signal(frames: 50_001, rate: 48_000, seed: 2),
            Signal(frames: 30_000, rate: 8000, channels: 1, seed: 3),
            Signal(frames: 40_000, rate: 22_050, channels: 1, seed: 7),
            Signal(frames: 20_000, rate: 48_000, channels: 6, depth: 24, seed: 4),
            Signal(frames: 10_000, rate: 96_000, channels: 2, depth: 24, seed: 5),
        ]

        private static func encoded(_ signal: Signal, _ options: [String], to name: String) throws -> [UInt8] {
            let layout: [String] =
                switch signal.format.channelCount {
                case 1: ["-af", "pan=mono|c0=c0"]
                case 6: ["-channel_layout", "5.1"]
                default: []
                }
            return try signal.ffmpeg(AACReference.encoder + layout + options, to: name)
        }

        @Test("AAC-LC in every layout of MP4, whole and from any frame, without the encoder's frames")
        func everyLayout() throws {
            for (index, signal) in Self.signals.enumerated() {
                for (number, layout) in MP4Tests.layouts.enumerated() where index == 0 || number == 0 {
                    let bytes = try Self.encoded(signal, layout, to: "file.mp4")
                    let decoder = try AudioFile.open(MemorySource(bytes))
                    let format = signal.format
                    #expect(
                        decoder.properties.format
                            == PCMFormat(
                                sampleRate: format.sampleRate, channelCount: format.channelCount, bitDepth: 24))
                    #expect(decoder.properties.container == .mp4 && decoder.properties.codec == .aac)
                    #expect(decoder.properties.aacObjectType == 2)
                    let samples = decoder.decodeAll().samples
                    let place = "signal \(index), layout \(number)"
                    // Without an edit list, the number of frames that the encoder added in front is unknown.
                    let isTrimmed = !Boxes.find(["moov", "trak", "edts"], in: bytes).isEmpty
                    let count = signal.frameCount + (isTrimmed ? 0 : 1024)
                    #expect(samples.count == count * format.channelCount, "\(place)")
                    // ffmpeg plays the frames that the encoder added after the end.
                    var reference = try AACReference.decode(bytes, "file.mp4")
                    // One of the layouts makes ffmpeg play the frames in front.
                    if reference.count >= samples.count + 1024 * format.channelCount {
                        reference.removeFirst(1024 * format.channelCount)
                    }
                    reference.removeLast(reference.count - samples.count)
                    #expect(AACReference.difference(samples, reference) == nil, "\(place)")
                    #expect(decoder.damage.isEmpty, "\(place)")
                    for frame in [count - 1, 0, count / 2, 1023, 1024, 1025, 1, count, count / 3, 1 << 40] {
                        try decoder.seek(toFrame: Int64(frame))
                        let first = min(frame, count) * format.channelCount
                        let expected = Array(samples[first...].prefix(3000 * format.channelCount))
                        let found = try decoder.decode(frames: 3000)
                        #expect(AACReference.difference(found, expected, step: 256) == nil, "\(place), frame \(frame)")
                    }
                    #expect(decoder.damage.isEmpty, "\(place)")
                }
            }
        }

        @Test("The length is that of the source, to the frame", arguments: [0, 1])
        func length(layout: Int) throws {
            for signal in Self.signals {
                let decoder = try AudioFile.open(
                    MemorySource(try Self.encoded(signal, MP4Tests.layouts[layout], to: "file.m4a")))
                #expect(decoder.properties.frameCount == Int64(signal.frameCount))
                #expect((decoder.properties.bitRate ?? 0) > 1000)
            }
        }

        /// A file whose movie box is at its end, with `iTunSMPB` as its only tag.
        private static func adding(_ text: String, to file: [UInt8]) throws -> [UInt8] {
            let movie = try #require(Boxes.find(["moov"], in: file).first)
            try #require(movie.upperBound == file.count)
            var content = Array(file[(movie.lowerBound + 8)...])
            if let other = Boxes.find(["moov", "udta"], in: file).first {
                let start = movie.lowerBound + 8
                content.removeSubrange((other.lowerBound - start)..<(other.upperBound - start))
            }
            let mean = Boxes.full("mean", Array("com.apple.iTunes".utf8))
            let name = Boxes.full("name", Array("iTunSMPB".utf8))
            let data = Boxes.full("data", flags: 1, [0, 0, 0, 0] + Array(text.utf8))
            let handler = Boxes.full("hdlr", Boxes.big(0, 4) + Array("mdirappl".utf8) + Boxes.big(0, 9))
            let list = Boxes.box("ilst", Boxes.box("----", mean + name + data))
            content += Boxes.box("udta", Boxes.full("meta", handler + list))
            return Array(file[..<movie.lowerBound]) + Boxes.box("moov", content)
        }

        @Test("iTunSMPB alone: what the encoder added is gone at both ends, to the sample")
        func gapless() throws {
            for (index, signal) in Self.signals.prefix(3).enumerated() {
                // Packets of full length and no edit list: only the tag shows where the recording is.
                let stream = try Self.encoded(signal, [], to: "file.aac")
                let plain = try withTemporaryFolder { folder in
                    try Files.write(stream, "file.aac", folder)
                    try Tool.ffmpeg.run(
                        ["-loglevel", "error", "-i", "file.aac", "-c", "copy", "-use_editlist", "0", "file.m4a"],
                        in: folder)
                    return try Files.read("file.m4a", folder)
                }
                #expect(Boxes.find(["moov", "trak", "edts"], in: plain).isEmpty)
                let channels = signal.format.channelCount
                let whole = try AACReference.decode(stream, "file.aac")
                let delay = 1024
                let padding = whole.count / channels - delay - signal.frameCount
                try #require(padding > 0)
                let untrimmed = try decode(plain).decoded.samples
                #expect(untrimmed.count == whole.count, "signal \(index)")

                let text =
                    String(format: " 00000000 %08X %08X %016llX", delay, padding, signal.frameCount)
                    + String(repeating: " 00000000", count: 8)
                let decoder = try AudioFile.open(MemorySource(try Self.adding(text, to: plain)))
                #expect(decoder.properties.frameCount == Int64(signal.frameCount))
                let samples = decoder.decodeAll().samples
                let expected = Array(whole[(delay * channels)..<((delay + signal.frameCount) * channels)])
                #expect(AACReference.difference(samples, expected) == nil, "signal \(index)")
                for frame in [signal.frameCount - 1, 0, signal.frameCount / 2, 1023, 1] {
                    try decoder.seek(toFrame: Int64(frame))
                    let wanted = Array(samples[(frame * channels)...].prefix(3000 * channels))
                    let found = try decoder.decode(frames: 3000)
                    #expect(AACReference.difference(found, wanted, step: 256) == nil, "\(index), \(frame)")
                }
            }
        }

        @Test("ADTS decodes to the same as with ffmpeg, also behind tags, and from any frame")
        func elementaryStream() throws {
            for (index, signal) in Self.signals.enumerated() {
                let bytes = try Self.encoded(signal, [], to: "file.aac")
                let tag = Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, 10] + [UInt8](repeating: 0, count: 10)
                let reference = try AACReference.decode(bytes, "file.aac")
                for file in [bytes, tag + bytes, bytes + Array("TAG".utf8) + [UInt8](repeating: 0, count: 125)] {
                    let decoder = try AudioFile.open(MemorySource(file))
                    #expect(decoder.properties.container == .adts && decoder.properties.codec == .aac)
                    #expect(decoder.properties.format.sampleRate == signal.format.sampleRate)
                    #expect(decoder.properties.format.channelCount == signal.format.channelCount)
                    let samples = decoder.decodeAll().samples
                    #expect(AACReference.difference(samples, reference) == nil, "signal \(index)")
                    let channels = signal.format.channelCount
                    let count = samples.count / channels
                    for frame in [count - 1, 0, count / 2, 1023, 1024, 1, count] {
                        try decoder.seek(toFrame: Int64(frame))
                        let expected = Array(samples[(frame * channels)...].prefix(3000 * channels))
                        let found = try decoder.decode(frames: 3000)
                        #expect(AACReference.difference(found, expected, step: 256) == nil, "\(index), \(frame)")
                    }
                    #expect(decoder.damage.isEmpty)
                }
            }
        }

        @Test("Bytes between packets, a damaged packet and a cut cost what they hit")
        func damage() throws {
            let signal = Self.signals[0]
            let bytes = try Self.encoded(signal, [], to: "file.aac")
            let whole = try AudioFile.open(MemorySource(bytes)).decodeAll().samples
            var offsets = [0]
            while let header = ADTSHeader(bytes[(offsets.last ?? 0)...]) {
                offsets.append((offsets.last ?? 0) + header.byteCount)
            }
            // Junk between packets 20 and 21 has no time.
            let junk = Array(bytes[..<offsets[20]]) + [UInt8](repeating: 0xFF, count: 700) + bytes[offsets[20]...]
            let decoder = try AudioFile.open(MemorySource(junk))
            let found = decoder.decodeAll().samples
            #expect(decoder.damage.isEmpty)
            #expect(difference(found, whole) == nil)
            let cut = try AudioFile.open(MemorySource(Array(bytes.prefix(offsets[50] + 100))))
            #expect(difference(cut.decodeAll().samples, Array(whole[..<(50 * 2048)])) == nil)
            #expect(cut.damage.truncated)
        }

        @Test("AAC of other kinds is refused by name")
        func otherKinds() throws {
            let bytes = try Self.signals[0].ffmpeg(
                AACReference.encoder + ["-profile:a", "aac_ltp", "-strict", "-2"], to: "file.m4a")
            #expect(throws: MediaError.unsupported(what: "AAC LTP")) { try AudioFile.open(MemorySource(bytes)) }
        }
    }
#endif
