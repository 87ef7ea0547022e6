import PCM
import Testing

@testable import Media

@Suite("Files of MP3 as people have them", Tool.needsLAME)
struct MP3FileTests {
    private static let signal = Signal(frames: 60_001, seed: 3).varied

    private static func little(_ value: Int) -> [UInt8] { Chunks.little(value, 4) }

    static func id3v2(_ frames: [UInt8], flags: UInt8 = 0) -> [UInt8] {
        let size = [21, 14, 7, 0].map { UInt8(frames.count >> $0 & 0x7F) }
        return Array("ID3".utf8) + [3, 0, flags] + size + frames
    }

    static func frame(_ name: String, _ content: [UInt8]) -> [UInt8] {
        Array(name.utf8) + Chunks.big(content.count, 4) + [0, 0] + content
    }

    static func id3v1(_ title: String, track: UInt8) -> [UInt8] {
        func field(_ text: String, _ count: Int) -> [UInt8] {
            Array((Array(text.utf8) + [UInt8](repeating: 0, count: count)).prefix(count))
        }
        return Array("TAG".utf8) + field(title, 30) + field("Old artist", 30) + field("", 30) + field("1999", 4)
            + field("", 28) + [0, track, 12]
    }

    static func ape(_ items: [(String, [UInt8], Int)], hasHeader: Bool = true) -> [UInt8] {
        var content: [UInt8] = []
        for item in items { content += little(item.1.count) + little(item.2) + Array(item.0.utf8) + [0] + item.1 }
        func end(_ flags: Int) -> [UInt8] {
            Array("APETAGEX".utf8) + little(2000) + little(content.count + 32) + little(items.count) + little(flags)
                + [UInt8](repeating: 0, count: 8)
        }
        return (hasHeader ? end(0xA000_0000) : []) + content + end(hasHeader ? 0x8000_0000 : 0)
    }

    private static var noise: [UInt8] {
        var generator = SeededGenerator(seed: 4)
        return (0..<5000).map { _ in .random(in: 0...255, using: &generator) }
    }

    private static let lyrics =
        Array("LYRICSBEGIN".utf8) + Array("IND0000200ETT00003abc".utf8) + Array("000032LYRICS200".utf8)

    @Test("Bytes around the frames change no sample and no length")
    func surroundings() throws {
        let bytes = try Self.signal.lame(["-V", "3"])
        let plain = try decode(bytes)
        #expect(plain.decoded.samples.count == 2 * 60_001)
        let cover = Self.frame(
            "APIC", [0] + Array("image/jpeg".utf8) + [0, 3, 0] + [UInt8](repeating: 0xFF, count: 9000))
        let tag = Self.id3v2(Self.frame("TIT2", [0, 0x61]) + cover)
        let apeTag = Self.ape([("Title", Array("b".utf8), 0)])
        let old = Self.id3v1("c", track: 3)
        let files: [(String, [UInt8], [UInt8])] = [
            ("ID3v2", tag, []), ("three ID3v2", tag + tag + tag, []), ("APE in front", apeTag, []),
            ("ID3v2 and APE in front", tag + apeTag, []), ("noise in front", Self.noise, []),
            ("ID3v2 and noise in front", tag + Self.noise, []),
            ("zeros in front", [UInt8](repeating: 0, count: 700), []),
            ("0xFF in front", [UInt8](repeating: 0xFF, count: 700), []),
            ("ID3v1", [], old), ("APE", [], apeTag), ("APE without a header", [], Self.ape([], hasHeader: false)),
            ("APE, Lyrics3, ID3v1", [], apeTag + Self.lyrics + old),
            ("Lyrics3, APE, ID3v1", [], Self.lyrics + apeTag + old),
            ("TAG+", [], Array("TAG+".utf8) + [UInt8](repeating: 0x20, count: 223) + old),
            ("Lyrics3 1", [], Array("LYRICSBEGIN la la LYRICSEND".utf8) + old), ("noise behind", [], Self.noise),
            ("zeros behind", [], [UInt8](repeating: 0, count: 9000)),
            ("text behind", [], Array("thanks for all\n".utf8)),
            ("everything", tag + Self.noise, Self.noise + apeTag + Self.lyrics + old),
        ]
        for (name, front, behind) in files {
            for knowsLength in [true, false] {
                let decoder = try AudioFile.open(MemorySource(front + bytes + behind, knowsLength: knowsLength))
                #expect(decoder.properties.frameCount == 60_001, "\(name)")
                #expect(difference(decoder.decodeAll().samples, plain.decoded.samples) == nil, "\(name)")
                #expect(decoder.damage.isEmpty, "\(name)")
                try decoder.seek(toFrame: 50_000)
                let expected = Array(plain.decoded.samples[100_000..<108_000])
                #expect(try difference(decoder.decode(frames: 4000), expected) == nil, "\(name)")
            }
        }
    }

    @Test("APE overrides ID3v2, which overrides ID3v1, field by field; the first of several ID3v2 counts")
    func tags() throws {
        let bytes = try Self.signal.lame(["-b", "64"])
        let first = Self.id3v2(
            Self.frame("TIT2", [0] + Array("Two".utf8)) + Self.frame("TALB", [0] + Array("Album".utf8)))
        let second = Self.id3v2(
            Self.frame("TIT2", [0] + Array("No".utf8)) + Self.frame("TPE2", [0] + Array("All".utf8)))
        let apeTag = Self.ape([
            ("TITLE", Array("Ape".utf8), 0), ("Artist", Array("One\0Other".utf8), 0), ("Track", Array("7/9".utf8), 0),
            ("REPLAYGAIN_TRACK_GAIN", Array("-6.50 dB".utf8), 0), ("replaygain_track_peak", Array("0.5".utf8), 0),
            ("Cover Art (Front)", Array("c.jpg\0JPEG".utf8), 2), ("Disc", Array("2".utf8), 0),
        ])
        var metadata = try AudioFile.open(MemorySource(first + second + bytes + apeTag + Self.id3v1("Old", track: 3)))
            .metadata
        #expect(metadata.title == "Ape" && metadata.artist == "One, Other" && metadata.album == "Album")
        #expect(metadata.albumArtist == "All" && metadata.trackNumber == 7 && metadata.discNumber == 2)
        #expect(metadata.replayGain.trackGain == -6.5 && metadata.replayGain.trackPeak == 0.5)
        let picture = try #require(metadata.picture)
        let file = first + second + bytes + apeTag
        #expect(
            Array(file[Int(picture.offset)...].prefix(Int(picture.length))) == Array("JPEG".utf8) && picture.isFront)
        metadata = try AudioFile.open(MemorySource(first + bytes + Self.id3v1("Old", track: 3))).metadata
        #expect(metadata.title == "Two" && metadata.artist == "Old artist" && metadata.trackNumber == 3)
        metadata = try AudioFile.open(MemorySource(bytes + Self.id3v1("Größe", track: 0))).metadata
        #expect(metadata.title == "Größe" && metadata.trackNumber == nil)
    }

    @Test("A picture of an ID3v2 tag is a range of the file; the front cover comes first")
    func pictures() throws {
        let bytes = try Self.signal.lame(["-b", "64"])
        func picture(_ kind: UInt8, _ content: String, _ description: [UInt8], encoding: UInt8 = 0) -> [UInt8] {
            Self.frame("APIC", [encoding] + Array("image/png".utf8) + [0, kind] + description + Array(content.utf8))
        }
        let wide: [UInt8] = [0xFF, 0xFE, 0x61, 0, 0, 0]
        let file =
            Self.id3v2(
                picture(4, "back", [0]) + picture(3, "front", wide, encoding: 1) + picture(3, "other", [0])
                    + Self.frame("TIT2", [0, 0x61])) + bytes
        let source = MemorySource(file)
        let metadata = try AudioFile.open(source).metadata
        let found = try #require(metadata.picture)
        #expect(Array(file[Int(found.offset)...].prefix(Int(found.length))) == Array("front".utf8))
        #expect(found.mediaType == "image/png" && found.isFront && metadata.title == "a")
    }

    /// An ID3v2 tag with the comment that iTunes writes.
    private static func iTunes(delay: Int, padding: Int, count: Int, utf16: Bool) -> [UInt8] {
        func hexadecimal(_ value: Int, _ digits: Int) -> String {
            let text = String(value, radix: 16, uppercase: true)
            return String(repeating: "0", count: digits - text.count) + text
        }
        let text = " 00000000 \(hexadecimal(delay, 8)) \(hexadecimal(padding, 8)) \(hexadecimal(count, 16)) 00000000"
        func wide(_ text: String) -> [UInt8] {
            [0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        }
        return id3v2(
            frame(
                "COMM",
                utf16
                    ? [1] + Array("eng".utf8) + wide("iTunSMPB") + [0, 0] + wide(text)
                    : [0] + Array("eng".utf8) + Array("iTunSMPB".utf8) + [0] + Array(text.utf8)))
    }

    @Test("iTunSMPB in a comment trims a file without LAME's header", arguments: [false, true])
    func iTunes(utf16: Bool) throws {
        let plain = try decode(Self.signal.lame(["-b", "128"])).decoded.samples
        let bare = try Self.signal.lame(["-b", "128", "-t"])
        let whole = try decode(bare).decoded.samples
        let padding = whole.count / 2 - 576 - 60_001
        let decoder = try AudioFile.open(
            MemorySource(Self.iTunes(delay: 576, padding: padding, count: 60_001, utf16: utf16) + bare))
        #expect(decoder.properties.frameCount == 60_001)
        #expect(difference(decoder.decodeAll().samples, Array(whole[(2 * (576 + 529))...].prefix(2 * 60_001))) == nil)
        #expect(plain.count == 2 * 60_001)
    }

    @Test("The length: exact by the header, by frames of one size, or by reading; else nobody knows it")
    func lengths() throws {
        let constant = try MP3Map(try Self.signal.lame(["-b", "128"]))
        let variable = try MP3Map(try Self.signal.lame(["-V", "3"]))
        let bare = Int64(constant.count * 1152)
        func length(_ bytes: [UInt8], knowsLength: Bool = true) throws -> Int64? {
            try AudioFile.open(MemorySource(bytes, knowsLength: knowsLength)).properties.frameCount
        }
        #expect(try length(constant.bytes) == 60_001)
        #expect(try length(variable.bytes) == 60_001)
        #expect(try length(constant.frames(0..<constant.count)) == bare)
        let found = try length(variable.frames(0..<variable.count))
        #expect(found == Int64(variable.count * 1152))
        #expect(try length(variable.frames(0..<variable.count), knowsLength: false) == nil)
        // Cut off: the length is that of the frames that are there.
        let cut = Array(constant.bytes.prefix(constant.offsets[31] + 100))
        #expect(try length(cut) == 30 * 1152 - 576 - 529)
        let cutVariable = Array(variable.bytes.prefix(variable.offsets[31] + 100))
        #expect(try length(cutVariable) == 30 * 1152 - 576 - 529)
        for bytes in [cut, cutVariable] {
            let (decoded, damage) = try decode(bytes)
            #expect(decoded.samples.count == 2 * (30 * 1152 - 576 - 529) && damage.truncated)
        }
    }

    @Test("Of a long file with a header only the ends are read")
    func longFile() throws {
        let map = try MP3Map(try Self.signal.lame(["-V", "3"]))
        // Three hours, with a header that declares them.
        let repetitions = 400
        let body = [UInt8]((0..<repetitions).map { _ in map.frames(0..<map.count) }.joined())
        var info = map.info
        info.replaceSubrange(44..<48, with: Chunks.big(map.count * repetitions, 4))
        info.replaceSubrange(48..<52, with: Chunks.big(body.count + info.count, 4))
        let source = MemorySource(info + body)
        let decoder = try AudioFile.open(source)
        #expect(decoder.properties.frameCount ?? 0 > Int64(map.count * repetitions * 1152 - 4000))
        _ = try decoder.decode(frames: 100)
        #expect(source.bytesRead < 200_000)
    }

    @Test("A tag that is longer than the file says nothing about the frames")
    func tagBeyondTheEnd() throws {
        let bytes = try Self.signal.lame(["-b", "128"])
        var tag = Self.id3v2(Self.frame("TIT2", [0, 0x61]) + [UInt8](repeating: 0, count: 90_000))
        tag[6] = 0x40
        let decoder = try AudioFile.open(MemorySource(tag + bytes))
        #expect(decoder.properties.frameCount == 60_001 && decoder.metadata.title == "a")
        #expect(decoder.decodeAll().samples.count == 2 * 60_001)
    }

    @Test("MP3 inside of WAV", Tool.needsFFmpeg)
    func insideOfWAV() throws {
        let bytes = try Self.signal.ffmpeg(["-c:a", "libmp3lame", "-b:a", "128k"], to: "file.wav")
        #expect(Array(bytes[..<4]) == Array("RIFF".utf8))
        let decoder = try AudioFile.open(MemorySource(bytes))
        #expect(decoder.properties.codec == .mp3)
        let samples = decoder.decodeAll().samples
        #expect(samples.count >= 2 * 60_001 && samples.count <= 2 * 64_000 && decoder.damage.isEmpty)
    }

    @Test("A length that no medium has is only a hint")
    func absurdLength() throws {
        for options in [["-b", "128"], ["-b", "128", "-t"], ["-V", "3"], ["-b", "400", "--freeformat", "-t"]] {
            let bytes = try Self.signal.lame(options)
            for length in [Int64.max, 1 << 60, 1 << 40, 1 << 33] {
                let decoder = try AudioFile.open(SparseSource(bytes, length: length))
                #expect(decoder.properties.format.sampleRate == 44_100)
                #expect(try decoder.decode(frames: 1000).count == 2000)
            }
        }
    }

    @Test("Frames of one size are found without reading those before")
    func jump() throws {
        let map = try MP3Map(try Self.signal.lame(["-b", "128", "-t"]))
        let body = [UInt8]((0..<200).map { _ in map.bytes }.joined())
        let source = MemorySource(body)
        let decoder = try AudioFile.open(source)
        let frames = Int64(200 * (map.count + 1) * 1152)
        // Padding restarts in each copy, so the frames are a few bytes off, and the file is read.
        #expect(decoder.properties.frameCount == frames)
        let unpadded = try MP3Map(Self.unpadded).bytes
        let plain = MemorySource([UInt8](repeatElement(unpadded, count: 200).joined()))
        let other = try AudioFile.open(plain)
        let before = plain.bytesRead
        try other.seek(toFrame: 3_000_000)
        #expect(try other.decode(frames: 10).count == 20)
        #expect(plain.bytesRead - before < 200_000)
    }

    private static var unpadded: [UInt8] {
        get throws { try Signal(frames: 40_000, rate: 48_000).lame(["-b", "128", "-t"]) }
    }

    @Test("VBRI gives the length, and its frame is not heard")
    func vbri() throws {
        let map = try MP3Map(try Self.signal.lame(["-V", "3"]))
        var info = map.info
        info.replaceSubrange(4..., with: [UInt8](repeating: 0, count: info.count - 4))
        let fields =
            Array("VBRI".utf8) + Chunks.big(1, 2) + Chunks.big(4630, 2) + Chunks.big(75, 2)
            + Chunks.big(map.bytes.count, 4)
            + Chunks.big(map.count, 4) + [0, 0, 0, 1, 0, 2, 0, 1]
        info.replaceSubrange(36..<(36 + fields.count), with: fields)
        let source = MemorySource(info + map.frames(0..<map.count))
        let decoder = try AudioFile.open(source)
        #expect(decoder.properties.frameCount == Int64(map.count * 1152))
        let expected = try decode(map.frames(0..<map.count)).decoded.samples
        #expect(difference(decoder.decodeAll().samples, expected) == nil)
    }

    @Test("ReplayGain of LAME's header, in both forms of the peak, below that of tags")
    func replayGain() throws {
        let map = try MP3Map(try Self.signal.lame(["-b", "128"]))
        // The name of the encoder follows all four fields of Xing.
        let name = 36 + 8 + 4 + 4 + 100 + 4
        #expect(Array(map.bytes[name..<(name + 4)]) == Array("LAME".utf8))
        func gain(_ peak: [UInt8], _ track: Int, _ album: Int, _ front: [UInt8] = []) throws -> ReplayGain {
            var info = map.info
            info.replaceSubrange((name + 11)..<(name + 15), with: peak)
            info.replaceSubrange((name + 15)..<(name + 19), with: Chunks.big(track, 2) + Chunks.big(album, 2))
            return try AudioFile.open(MemorySource(front + info + map.frames(0..<map.count))).metadata.replayGain
        }
        let fixed = try gain(Chunks.big(0x40_0000, 4), 0x2C00 | 0x200 | 65, 0x4C00 | 12)
        #expect(fixed == ReplayGain(trackGain: -6.5, trackPeak: 0.5, albumGain: 1.2, albumPeak: 0.5))
        let float = try gain(Chunks.big(Int(Float(0.75).bitPattern), 4), 0x2C00 | 20, 0)
        #expect(float == ReplayGain(trackGain: 2, trackPeak: 0.75, albumGain: nil, albumPeak: nil))
        #expect(try gain([0, 0, 0, 0], 0x2C00 | 20, 0).trackPeak == 1)
        #expect(try gain([0, 0, 0, 0], 0, 0) == ReplayGain())
        let tag = Self.id3v2(Self.frame("TXXX", [0] + Array("REPLAYGAIN_TRACK_GAIN\0-3 dB".utf8)))
        #expect(try gain([0, 0, 0, 0], 0x2C00 | 20, 0, tag).trackGain == -3)
    }

    @Test("The index of twelve hours has less than 1 MB, and one of a year no more")
    func index() {
        // As if each place were one of 128.
        var index = MPEGIndex(MPEGPlace(offset: 0), stride: 1)
        func size() -> Int { index.positions.capacity * MemoryLayout<MPEGPlace>.stride }
        for packet in 0..<100_000 {
            let place = index.frontier
            var next = place
            next.offset += 400
            next.frame += 1152
            index.add(next, after: place)
            if packet == 12 * 3600 * 44_100 / 1152 / 128 { #expect(size() < 1_000_000) }
        }
        #expect(size() < 1_700_000)
        for packet in [0, 1, 127, 128, 50_000, 99_999] as [Int64] {
            let found = index.positions[index.number(before: packet * 1152)]
            #expect(found.frame <= packet * 1152 && found.offset == found.frame / 1152 * 400)
            #expect(packet * 1152 - found.frame < 1152 * 8)
        }
    }
}
