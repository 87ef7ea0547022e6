import PCM
import TestSupport
import Testing

@testable import Media

@Suite("Files of Matroska: their parts, damage, and long ones", Tool.needsFFmpeg, Tool.needsMKVToolNix, Tool.needsFLAC)
struct MatroskaFileTests {
    private static let signal = Signal(frames: 100_001)

    private func expect(_ bytes: [UInt8], _ comment: Comment? = nil) throws {
        for knowsLength in [true, false] {
            let decoder = try AudioFile.open(MemorySource(bytes, knowsLength: knowsLength))
            #expect(difference(decoder.decodeAll().samples, Self.signal.samples) == nil, comment)
            for frame in [70_001, 4607, 4608, 99_999, 0] {
                try decoder.seek(toFrame: Int64(frame))
                let expected = Self.signal.slice(frame..<min(100_001, frame + 6000))
                #expect(try difference(decoder.decode(frames: 6000), expected) == nil, comment)
            }
            #expect(decoder.damage.isEmpty, comment)
        }
    }

    @Test("Sizes that are not known, elements between others, and parts that nobody knows")
    func layouts() throws {
        var file = try HandmadeMatroska(Self.signal)
        try expect(file.bytes, "sizes")
        file.hasSizes = false
        file.type = "webm"
        file.otherParts =
            Elements.element(MatroskaID.void, [UInt8](repeating: 0x1F, count: 500)) + Elements.element(0x4321, [1, 2])
        try expect(file.bytes, "no sizes")
        file.type = "other"
        #expect(throws: MediaError.unsupported(what: "EBML with the type “other”")) {
            try AudioFile.open(MemorySource(file.bytes))
        }
    }

    @Test("Bytes that the file takes away from each packet come back; other encodings are named")
    func encodings() throws {
        func encoding(_ content: [UInt8]) -> [UInt8] {
            Elements.element(MatroskaID.encodings, Elements.element(MatroskaID.encoding, content))
        }
        func compression(_ algorithm: Int, _ settings: [UInt8] = []) -> [UInt8] {
            encoding(
                Elements.element(
                    MatroskaID.compression,
                    Elements.number(MatroskaID.algorithm, algorithm) + Elements.element(MatroskaID.settings, settings)))
        }
        var file = try HandmadeMatroska(Self.signal)
        let plain = file.packets
        try #require(plain.allSatisfy { $0.starts(with: [0xFF, 0xF8]) })
        file.packets = plain.map { Array($0.dropFirst(2)) }
        file.moreFields = Elements.element(
            MatroskaID.encodings,
            [1, 2].flatMap { _ in
                Elements.element(
                    MatroskaID.encoding,
                    Elements.element(
                        MatroskaID.compression,
                        Elements.number(MatroskaID.algorithm, 3)
                            + Elements.element(MatroskaID.settings, [UInt8](repeating: 0, count: 200))))
            })
        #expect(throws: MediaError.unsupported(what: "Matroska with 400 bytes taken away from each packet")) {
            try AudioFile.open(MemorySource(file.bytes))
        }
        file.moreFields = compression(3, [0xFF, 0xF8])
        try expect(file.bytes)
        for (fields, name) in [
            (compression(0), "Matroska with zlib compression"), (compression(9), "Matroska with unknown compression"),
            (encoding(Elements.element(MatroskaID.encryption, [])), "Matroska with encryption"),
        ] {
            file.moreFields = fields
            #expect(throws: MediaError.unsupported(what: name)) { try AudioFile.open(MemorySource(file.bytes)) }
        }
    }

    @Test("The default track with a codec that is known plays, otherwise the first one; others are named")
    func tracks() throws {
        var file = try HandmadeMatroska(Self.signal)
        let picture = HandmadeMatroska.track(1, "V_VP9", [], type: 1)
        file.otherTracks = picture + HandmadeMatroska.track(2, "A_AC3", [])
        try expect(file.bytes)
        // One before it that is not the default one, and then one that is.
        let other = Elements.element(MatroskaID.codecPrivate, file.header)
        file.otherTracks =
            HandmadeMatroska.track(3, "A_FLAC", other + Elements.number(MatroskaID.isDefault, 0)) + picture
        try expect(file.bytes)
        file.otherTracks = HandmadeMatroska.track(3, "A_FLAC", other)
        #expect(try decode(file.bytes).decoded.samples.isEmpty)
        file.otherTracks = HandmadeMatroska.track(3, "A_FLAC", other + Elements.number(MatroskaID.isEnabled, 0))
        try expect(file.bytes)
        file.otherTracks = []
        for (codec, name) in [
            ("A_AC3", "AC-3"), ("A_DTS/EXPRESS", "DTS"), ("A_REAL/COOK", "codec “A_REAL/COOK”"),
            ("A_AAC/MPEG4/LC", "AAC that is not described"),
        ] {
            file.codec = codec
            #expect(throws: MediaError.unsupported(what: "Matroska with \(name)")) {
                try AudioFile.open(MemorySource(file.bytes))
            }
        }
        let film = try Signal(frames: 5000).ffmpeg(
            ["-f", "lavfi", "-i", "testsrc=size=64x64:rate=10:duration=1", "-map", "1:v", "-c:v", "mpeg4"],
            to: "file.mkv")
        #expect(throws: MediaError.unsupported(what: "Matroska without sound")) {
            try AudioFile.open(MemorySource(film))
        }
    }

    @Test("The delay at the beginning and the padding at the end are not played")
    func padding() throws {
        var file = try HandmadeMatroska(Self.signal)
        // 1000 frames of the last packet; and 441 of the third one, where times do not stop.
        file.discards = [0, 0, 10_000_000] + [Int](repeating: 0, count: file.packets.count - 4) + [22_675_737]
        file.moreFields = Elements.number(MatroskaID.codecDelay, 11_337_868)
        let decoder = try AudioFile.open(MemorySource(file.bytes))
        #expect(difference(decoder.decodeAll().samples, Self.signal.slice(500..<99_001)) == nil)
        try decoder.seek(toFrame: 50_000)
        #expect(try difference(decoder.decode(frames: 900), Self.signal.slice(50_500..<51_400)) == nil)
        #expect(decoder.damage.isEmpty)
    }

    @Test("The sound of a film, and its tags: of the segment, of the track, of the album")
    func film() throws {
        let film = try Self.signal.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc=size=320x240:rate=25:duration=2.3", "-map", "1:v", "-map", "0:a", "-c:v",
                "mpeg4", "-c:a", "flac", "-cluster_time_limit", "300", "-metadata", "title=Title", "-metadata",
                "ARTIST=One", "-metadata", "ALBUM=Album", "-metadata", "track=3/9", "-metadata",
                "REPLAYGAIN_TRACK_GAIN=-3.5 dB",
            ], to: "file.mkv")
        try expect(film)
        let metadata = try AudioFile.open(MemorySource(film)).metadata
        #expect(metadata.title == "Title" && metadata.artist == "One" && metadata.album == "Album")
        #expect(metadata.trackNumber == 3 && metadata.replayGain.trackGain == -3.5)

        var file = try HandmadeMatroska(Self.signal)
        func tag(_ level: Int, _ values: [(String, String)], track: Int = 0) -> [UInt8] {
            let targets = Elements.element(
                MatroskaID.targets,
                Elements.number(MatroskaID.targetLevel, level) + Elements.number(MatroskaID.targetTrack, track))
            return Elements.element(
                MatroskaID.tag,
                values.reduce(targets) { bytes, value in
                    bytes
                        + Elements.element(
                            MatroskaID.simpleTag,
                            Elements.element(MatroskaID.tagName, Array(value.0.utf8))
                                + Elements.element(MatroskaID.tagString, Array(value.1.utf8)))
                })
        }
        file.otherParts = Elements.element(
            MatroskaID.tags,
            tag(50, [("TITLE", "Album"), ("ARTIST", "Band"), ("PART_NUMBER", "2"), ("REPLAYGAIN_ALBUM_GAIN", "-2")])
                + tag(30, [("TITLE", "Other")], track: 99)
                + tag(30, [("TITLE", "Song"), ("artist", "Singer"), ("PART_NUMBER", "4")], track: 7))
        let levels = try AudioFile.open(MemorySource(file.bytes)).metadata
        #expect(levels.title == "Song" && levels.artist == "Singer" && levels.trackNumber == 4)
        #expect(levels.album == "Album" && levels.albumArtist == "Band" && levels.discNumber == 2)
        #expect(levels.replayGain.albumGain == -2)
    }

    @Test("A missing cluster, header, part of a packet or end is silence of its length")
    func damage() throws {
        let bytes = try Self.signal.ffmpeg(["-c:a", "flac", "-cluster_time_limit", "300"], to: "file.mkv")
        let clusters = try Elements.clusters(bytes)
        try #require(clusters.count > 5)
        let (second, third) = (clusters[1], clusters[2])
        var without = bytes
        without.removeSubrange(second.start..<second.end)
        var header = bytes
        for place in second.start..<(second.start + 8) { header[place] = 0x55 }
        var packet = bytes
        packet[(third.content + third.end) / 2] ^= 0x10
        for (name, damaged) in [("cluster", without), ("header", header), ("packet", packet)] {
            let decoder = try AudioFile.open(MemorySource(damaged))
            let samples = decoder.decodeAll().samples
            #expect(samples.count == 200_002, "\(name)")
            let wrong = zip(samples, Self.signal.samples).enumerated().filter { $0.element.0 != $0.element.1 }
            let first = try #require(wrong.first?.offset), last = try #require(wrong.last?.offset)
            #expect(samples[first...last].allSatisfy { $0 == 0 } && last - first < 60_000, "\(name)")
            #expect(decoder.damage.incidents > 0 && decoder.damage.silencedFrames >= (last - first) / 2, "\(name)")
            for frame in [99_000, 80_000, 10] {
                try decoder.seek(toFrame: Int64(frame))
                let expected = Self.signal.slice(frame..<(frame + 500))
                #expect(try difference(decoder.decode(frames: 500), expected) == nil, "\(name), frame \(frame)")
            }
        }
        for count in [second.end + 10, bytes.count / 2, third.start + 3] {
            let (decoded, damage) = try decode(Array(bytes[..<count]))
            #expect(damage.truncated && decoded.error == nil && decoded.samples.count > 20_000)
            #expect(difference(decoded.samples, Array(Self.signal.samples.prefix(decoded.samples.count))) == nil)
        }
        // A stream does not contain its end.
        let stream = try Self.signal.ffmpeg(["-c:a", "flac"], to: "file.matroska", asStream: true)
        try expect(stream)
    }

    @Test("The blocks of a cluster that is cut off play")
    func cutCluster() throws {
        let bytes = try Self.signal.ffmpeg(["-c:a", "flac"], to: "file.mkv")
        let (decoded, damage) = try decode(Array(bytes.prefix(bytes.count * 3 / 4)))
        #expect(damage.truncated && decoded.error == nil)
        #expect(decoded.samples.count > Self.signal.samples.count / 2)
        #expect(difference(decoded.samples, Array(Self.signal.samples.prefix(decoded.samples.count))) == nil)
    }

    @Test("The time of a single block that no other one confirms is no gap")
    func wrongTime() throws {
        let signal = Signal.music(frames: 96_000, rate: 48_000)
        let bytes = try signal.ffmpeg(["-c:a", "libopus"], to: "file.mka")
        let whole = try decode(bytes).decoded.samples
        // A simple block of the first track, with a size of two bytes: time, then flags.
        let blocks = bytes.indices.dropLast(8).filter {
            bytes[$0] == 0xA3 && bytes[$0 + 1] & 0xC0 == 0x40 && bytes[$0 + 3] == 0x81 && bytes[$0 + 6] == 0x80
        }
        try #require(blocks.count > 20)
        var damaged = bytes
        damaged[blocks[12] + 4] ^= 0x20
        #expect(difference(try decode(damaged).decoded.samples, whole) == nil)
    }

    @Test("A seek in a long file reads little, with an index and without one", arguments: [false, true])
    func longFile(hasCues: Bool) throws {
        let signal = Signal(frames: 1_000_000, channels: 1)
        let bytes = try signal.ffmpeg(
            ["-c:a", "flac", "-cluster_time_limit", "200"] + (hasCues ? [] : ["-live", "1"]), to: "file.mkv")
        #expect(try Elements.find([MatroskaID.segment, MatroskaID.cues], in: bytes).isEmpty == !hasCues)
        let source = MemorySource(bytes)
        let decoder = try AudioFile.open(source)
        #expect(decoder.properties.frameCount == 1_000_000)
        for frame in [990_000, 0, 500_001, 730_000, 4608, 250_000, 999_999] {
            let before = source.bytesRead
            try decoder.seek(toFrame: Int64(frame))
            #expect(source.bytesRead - before < 800_000, "frame \(frame): \(source.bytesRead - before)")
            let expected = signal.slice(frame..<min(1_000_000, frame + 6000))
            #expect(try difference(decoder.decode(frames: 6000), expected) == nil, "frame \(frame)")
        }
    }
}
