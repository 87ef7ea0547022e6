import PCM
import Testing

@testable import Media

#if AAC
    @Suite("Streams of ADTS with tags, other bytes and other formats between packets", Tool.needsFFmpeg)
    struct ADTSStreamTests {
        private let bytes: [UInt8]
        private let samples: [Int32]
        /// The offset of each packet, and the end.
        private let offsets: [Int]

        init() throws {
            bytes = try Self.encoded(Signal(frames: 60_000))
            samples = try decode(bytes).decoded.samples
            offsets = Self.offsets(bytes)
            try #require(offsets.count > 50)
        }

        private static func encoded(_ signal: Signal, _ options: [String] = []) throws -> [UInt8] {
            try signal.ffmpeg(AACReference.encoder + ["-b:a", "96k"] + options, to: "file.aac")
        }

        private static func offsets(_ bytes: [UInt8]) -> [Int] {
            var offsets = [0]
            while let header = ADTSHeader(bytes[(offsets.last ?? 0)...]) {
                offsets.append((offsets.last ?? 0) + header.byteCount)
            }
            return offsets
        }

        /// Bytes that are no packet.
        enum Other: CaseIterable {
            case id3, id3WithFooter, id3v1, extendedID3v1, ape, apeWithoutHeader, lyrics1, lyrics2, several, noise,
                zeros

            var bytes: [UInt8] {
                // Two bytes in each that look like a header.
                let text = [UInt8](repeating: 0x41, count: 40) + [0xFF, 0xF1, 0x50, 0x80, 0x01, 0x7F, 0xFC]
                func ape(_ flags: UInt8) -> [UInt8] {
                    Array("APETAGEX".utf8) + [0xD0, 7, 0, 0, 32 + 47, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, flags]
                        + [UInt8](repeating: 0, count: 8)
                }
                switch self {
                case .id3: return Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 47] + text
                case .id3WithFooter:
                    return Array("ID3".utf8) + [4, 0, 0x10, 0, 0, 0, 47] + text + Array("3DI".utf8)
                        + [4, 0, 0x10, 0, 0, 0, 47]
                case .id3v1: return Array("TAG".utf8) + text + [UInt8](repeating: 0, count: 78)
                case .extendedID3v1:
                    return Array("TAG+".utf8) + text + [UInt8](repeating: 0, count: 176) + Other.id3v1.bytes
                case .ape: return ape(0xA0) + text + ape(0x80)
                case .apeWithoutHeader: return text + ape(0)
                case .lyrics1: return Array("LYRICSBEGIN".utf8) + text + Array("LYRICSEND".utf8)
                case .lyrics2:
                    return Array("LYRICSBEGININD0000200LYR00047".utf8) + text + Array("000076LYRICS200".utf8)
                case .several: return [Other.id3, .ape, .lyrics2, .id3v1].flatMap { $0.bytes }
                case .noise:
                    var state: UInt32 = 7
                    return (0..<3000).map { _ in
                        state = state &* 1_664_525 &+ 1_013_904_223
                        return UInt8(truncatingIfNeeded: state >> 24)
                    }
                case .zeros: return [UInt8](repeating: 0, count: 100_000)
                }
            }
        }

        @Test("Tags at the end: APE, and ID3v1 where it has no such field; ID3v2 in front comes between them")
        func tagsAtTheEnd() throws {
            let items = [("Title", Array("Ti".utf8), 0), ("Artist", Array("A\0B".utf8), 0)]
            let ape = MP3FileTests.ape(items + [("Year", Array("1999-02-03".utf8), 0)])
            let front = MP3FileTests.id3v2(
                MP3FileTests.frame("TIT2", [0] + Array("Front".utf8))
                    + MP3FileTests.frame("TCOM", [0] + Array("C".utf8)))
            let last = MP3FileTests.id3v1("Old title", track: 7)
            let decoder = try AudioFile.open(MemorySource(front + bytes + ape + last))
            let metadata = decoder.metadata
            #expect(metadata.title == "Ti" && metadata[.artist] == ["A", "B"] && metadata[.date] == ["1999-02-03"])
            #expect(metadata[.composer] == ["C"] && metadata.trackNumber == 7)
            #expect(difference(decoder.decodeAll().samples, samples) == nil)
            #expect(try AudioFile.open(MemorySource(bytes + last)).metadata.title == "Old title")
        }

        @Test("Other bytes are passed over wherever they stand, and have no time", arguments: Other.allCases)
        func others(other: Other) throws {
            let junk = other.bytes
            var file = other == .zeros ? [] : junk
            for (place, start) in offsets.dropLast().enumerated() {
                file += bytes[start..<offsets[place + 1]]
                if place % 7 == 4 || place + 2 == offsets.count { file += junk }
            }
            let decoder = try AudioFile.open(MemorySource(file))
            #expect(decoder.properties.container == .adts)
            #expect(difference(decoder.decodeAll().samples, samples) == nil)
            #expect(decoder.damage.isEmpty)
            try decoder.seek(toFrame: 30_000)
            let found = try decoder.decode(frames: 5000)
            #expect(AACReference.difference(found, Array(samples[60_000..<70_000]), step: 256) == nil)

            // The same in segments, also divided inside of a tag.
            guard other != .zeros else { return }
            let half = junk.count / 2
            for cut in [0, 6, half, junk.count] {
                let first = Array(junk + bytes[..<offsets[20]] + junk.prefix(cut))
                let second = Array(junk.dropFirst(cut) + bytes[offsets[20]..<offsets[40]])
                let third = Array(bytes[offsets[40]...] + junk)
                let timeline = SegmentTimeline(
                    runs: [.init(start: 0, duration: 20.0 * 1024 / 44_100, count: 3)], isComplete: true)
                let segments = MemorySegments(nil, [first, second, third], timeline, notYetEvery: 3)
                let decoder = try AudioFile.open(segments)
                #expect(difference(decoder.decodeAll().samples, samples) == nil, "\(cut)")
                #expect(decoder.damage.isEmpty)
            }
        }

        @Test("A recording that begins inside of a packet begins with the next one", arguments: [1, 5, 100])
        func inside(count: Int) throws {
            let file = Array(bytes[(offsets[3] + count)...])
            let expected = try decode(Array(bytes[offsets[4]...])).decoded.samples
            let decoder = try AudioFile.open(MemorySource(file))
            #expect(decoder.properties.container == .adts)
            #expect(difference(decoder.decodeAll().samples, expected) == nil)
            let segments = MemorySegments(
                nil, [Array(file.prefix(offsets[20] - offsets[3] - count)), Array(bytes[offsets[20]...])],
                SegmentTimeline(runs: [.init(start: 0, duration: 0.5, count: 2)], isComplete: true))
            #expect(difference(try AudioFile.open(segments).decodeAll().samples, expected) == nil)
        }

        @Test(
            "Another rate or other channels in the middle are played on in the new format, and back",
            arguments: [(48_000, 2), (44_100, 1), (22_050, 1), (44_100, 6)])
        func otherFormat(rate: Int, channels: Int) throws {
            let other = try Self.encoded(
                Signal(frames: 40_000, rate: rate, channels: channels), channels == 1 ? ["-ac", "1"] : [])
            let expected = try decode(other).decoded
            for isFirst in [false, true] {
                let file = isFirst ? other + bytes : bytes + other + bytes
                let decoder = try AudioFile.open(MemorySource(file))
                let found = decoder.decodeAll().parts.flatMap { $0.samples }
                let parts = isFirst ? [expected.samples, samples] : [samples, expected.samples, samples]
                try #require(found.count == parts.reduce(0) { $0 + $1.count })
                var start = 0
                for part in parts {
                    // The first packet of a stream has no packet to overlap with.
                    let here = Array(found[start..<(start + part.count)])
                    #expect(AACReference.difference(here, part, step: 256) == nil, "\(start)")
                    start += part.count
                }
                #expect(decoder.damage.isEmpty)
            }
        }

        @Test("Packets with a checksum")
        func checksums() throws {
            var file: [UInt8] = []
            for (place, start) in offsets.dropLast().enumerated() {
                var packet = Array(bytes[start..<offsets[place + 1]])
                packet[1] &= 0xFE
                let count = packet.count + 2
                packet[3] = packet[3] & 0xFC | UInt8(count >> 11)
                packet[4] = UInt8(truncatingIfNeeded: count >> 3)
                packet[5] = packet[5] & 0x1F | UInt8(truncatingIfNeeded: count << 5)
                file += packet[..<7] + [0, 0] + packet[7...]
            }
            let found = try decode(Array(file[40...])).decoded.samples
            #expect(
                AACReference.difference(Array(found.suffix(20_000)), Array(samples.suffix(20_000)), step: 256) == nil)
        }
    }
#endif
