import Foundation
import PCM
import Testing

@testable import Media

@Suite("Pictures are found and not loaded", Tool.needsFLAC, Tool.needsFFmpeg)
struct PictureTests {
    private static let signal = Signal(frames: 3000)

    /// A file that `tool` makes of the signal and two pictures.
    private func file(
        _ tool: Tool, _ arguments: [String], _ cover: [UInt8], _ back: [UInt8], to name: String
    ) throws -> [UInt8] {
        try withTemporaryFolder { folder in
            try Files.write(Self.signal.extensibleWAV, "input.wav", folder)
            try Files.write(cover, "cover.jpg", folder)
            try Files.write(back, "back.png", folder)
            try tool.run(arguments, in: folder)
            return try Files.read(name, folder)
        }
    }

    private func expect(
        _ file: [UInt8], _ pictures: [(kind: TagPicture.Kind, mediaType: String?, bytes: [UInt8])],
        _ comment: Comment? = nil
    ) throws {
        let found = try AudioFile.open(MemorySource(file)).metadata.pictures
        #expect(found.map(\.kind) == pictures.map(\.kind), comment)
        #expect(found.map(\.mediaType) == pictures.map(\.mediaType), comment)
        for (picture, expected) in zip(found, pictures) {
            #expect(picture.bytes(in: file) == expected.bytes, "\(comment ?? ""), \(picture)")
        }
    }

    private static let pictureOptions = [
        "--picture", "3|image/jpeg|A cover|2x2x24|cover.jpg", "--picture", "4|image/png||2x2x24|back.png",
    ]

    @Test("Attachments of Matroska: covers by their names, other pictures, and no other files", Tool.needsMKVToolNix)
    func attachments() throws {
        let (cover, back) = (Covers.jpeg(70_000), Covers.png(5001))
        let bytes = try withTemporaryFolder { folder in
            try Files.write(Self.signal.extensibleWAV, "input.wav", folder)
            try Files.write(back, "small_cover.png", folder)
            try Files.write(cover, "Cover.jpg", folder)
            try Files.write(back, "other", folder)
            try Files.write(Array("text".utf8), "cover.txt", folder)
            func attached(_ name: String, _ type: String) -> [String] {
                ["--attachment-mime-type", type, "--attach-file", name]
            }
            try Tool.mkvmerge.run(
                ["--quiet", "-o", "out.mka"] + attached("small_cover.png", "image/png")
                    + attached("cover.txt", "text/plain") + attached("Cover.jpg", "image/jpeg")
                    + attached("other", "application/octet-stream") + ["input.wav"], in: folder)
            return try Files.read("out.mka", folder)
        }
        let pictures: [(kind: TagPicture.Kind, mediaType: String?, bytes: [UInt8])] = [
            (.icon, "image/png", back), (.frontCover, "image/jpeg", cover), (.other, "image/png", back),
        ]
        try expect(bytes, pictures)
        #expect(try AudioFile.open(MemorySource(bytes)).metadata.picture?.kind == .frontCover)
        let tag = MP3FileTests.id3v2(MP3FileTests.frame("TIT2", [0, 0x61]))
        try expect(tag + bytes, pictures, "behind a tag")
    }

    @Test("COVERART comments, in FLAC and over several pages of Ogg", arguments: [601, 80_000])
    func coverArt(size: Int) throws {
        let (cover, back) = (Covers.jpeg(size), Covers.png(size + 1))
        for options in [[], ["--ogg"]] {
            let bytes = try withTemporaryFolder { folder in
                try Files.write(Self.signal.extensibleWAV, "input.wav", folder)
                // One argument of a program has 128 KiB at most.
                let comments = [
                    "COVERART=" + Data(cover).base64EncodedString(), "CoverArt=" + Data(back).base64EncodedString(),
                ]
                let texts = ["COVERARTMIME=image/jpeg", "COVERART=no picture", "COVERART="] + comments
                try Tool.flac.run(
                    ["-s", "-f"] + options + texts.flatMap { ["-T", $0] } + ["-o", "out", "input.wav"], in: folder)
                return try Files.read("out", folder)
            }
            try expect(bytes, [(.other, "image/jpeg", cover), (.other, "image/png", back)], "\(options)")
        }
    }

    @Test("PICTURE blocks of FLAC, alone, behind an ID3 tag, and in Ogg", arguments: [5000, 200_000])
    func flac(size: Int) throws {
        let (cover, back) = (Covers.jpeg(size), Covers.png(size + 1))
        for options in [[], ["--ogg"]] {
            let bytes = try file(
                .flac, ["-s", "-f"] + options + Self.pictureOptions + ["-o", "out", "input.wav"], cover, back,
                to: "out")
            let tag = MP3FileTests.id3v2(MP3FileTests.frame("TIT2", [0, 0x61]))
            for front in [[], tag, [UInt8](repeating: 0x20, count: 500)] {
                try expect(
                    front + bytes, [(.frontCover, "image/jpeg", cover), (.backCover, "image/png", back)],
                    "\(options), \(front.count) bytes in front")
            }
        }
    }

    @Test("Pictures in base64 in comments of Opus, in one page and in many", Tool.needsOpusTools)
    func opus() throws {
        for size in [5000, 5001, 5002, 200_000, 200_001] {
            let (cover, back) = (Covers.jpeg(size), Covers.png(700))
            let bytes = try file(
                .opusenc, ["--quiet"] + Self.pictureOptions + ["--title", "T", "input.wav", "out"], cover, back,
                to: "out")
            try expect(bytes, [(.frontCover, "image/jpeg", cover), (.backCover, "image/png", back)], "\(size)")
            let source = try #require(AudioFile.open(MemorySource(bytes)).metadata.picture)
            #expect((source.page != nil) == (size > 100_000) && source.isFront)
        }
    }

    @Test("Pictures in base64 in comments of FLAC, as some programs write them")
    func comment() throws {
        for size in [900, 901, 902] {
            let cover = Covers.jpeg(size)
            let block =
                Chunks.big(3, 4) + Chunks.big(10, 4) + Array("image/jpeg".utf8) + Chunks.big(0, 4)
                + [UInt8](repeating: 0, count: 16) + Chunks.big(size, 4) + cover
            let text = Data(block).base64EncodedString()
            try expect(
                Self.signal.flac(["-T", "TITLE=a", "-T", "metadata_block_picture=\(text)"]),
                [(.frontCover, "image/jpeg", cover)])
        }
    }

    @Test("As ffmpeg writes them: ID3v2.3 and 2.4 in MP3 and AIFF, and MP4", arguments: ["3", "4"])
    func id3(version: String) throws {
        // ffmpeg copies pictures only after it has looked inside.
        let bytes = try withTemporaryFolder { folder in
            try Files.write(Self.signal.extensibleWAV, "input.wav", folder)
            try Tool.ffmpeg.run(
                [
                    "-loglevel", "error", "-f", "lavfi", "-i", "testsrc=size=64x64:rate=1:duration=1", "-frames:v",
                    "1", "cover.jpg", "-frames:v", "1", "back.png",
                ], in: folder)
            let covers = (try Files.read("cover.jpg", folder), try Files.read("back.png", folder))
            var files: [[UInt8]] = []
            for (name, codec) in [("out.mp3", "libmp3lame"), ("out.aiff", "pcm_s16be"), ("out.m4a", "alac")] {
                try Tool.ffmpeg.run(
                    [
                        "-loglevel", "error", "-i", "input.wav", "-i", "cover.jpg", "-i", "back.png", "-map", "0",
                        "-map", "1", "-map", "2", "-c:v", "copy", "-c:a", codec, "-id3v2_version", version,
                        "-write_id3v2", "1", "-metadata:s:v:0", "comment=Cover (front)", "-metadata:s:v:1",
                        "comment=Cover (back)", "-disposition:v", "attached_pic", name,
                    ], in: folder)
                files.append(try Files.read(name, folder))
            }
            return (files, covers)
        }
        for file in bytes.0 {
            let isMP4 = file.starts(with: [0, 0, 0])
            try expect(
                file,
                [
                    (.frontCover, "image/jpeg", bytes.1.0),
                    (isMP4 ? .other : .backCover, "image/png", bytes.1.1),
                ])
        }
    }

    @Test("ID3v2 of each version, plain and unsynchronised", arguments: [2, 3, 4])
    func unsynchronised(version: Int) throws {
        let writer = ID3v2Tests()
        let cover = Covers.jpeg(3000)
        let wide: [UInt8] = [0xFF, 0xFE, 0x61, 0, 0, 0]
        func coded(_ bytes: [UInt8]) -> [UInt8] { bytes.flatMap { $0 == 0xFF ? [0xFF, 0] : [$0] } }
        for (encoding, description) in [(UInt8(0), [UInt8](arrayLiteral: 0)), (1, wide)] {
            let head = version == 2 ? Array("JPG".utf8) : Array("image/jpg".utf8) + [0]
            let content = [encoding] + head + [3] + description + cover
            let name = version == 2 ? "PIC" : "APIC"
            let title = writer.frame(version == 2 ? "TT2" : "TIT2", [0, 0x61], version: version)
            let plain = writer.tag(writer.frame(name, content, version: version) + title, version: version)
            let other =
                version == 4
                ? writer.tag(writer.frame(name, coded(content), version: 4, flags: 2) + title, version: 4)
                : writer.tag(
                    coded(writer.frame(name, content, version: version) + title), version: version, flags: 0x80)
            for (number, tag) in [plain, other].enumerated() {
                let file = tag + (try Self.signal.flac())
                try expect(file, [(.frontCover, "image/jpeg", cover)], "\(number), \(encoding)")
                let metadata = try AudioFile.open(MemorySource(file)).metadata
                #expect(metadata.title == "a")
                #expect(metadata.pictures[0].encoding == (number == 0 ? .plain : .unsynchronised))
            }
        }
    }

    @Test("Items of APE, with the name of a file in front")
    func ape() throws {
        let (cover, back) = (Covers.jpeg(3000), Covers.png(3001))
        let tag = MP3FileTests.ape([
            ("Cover Art (Front)", Array("a.jpg\0".utf8) + cover, 2), ("Title", [0x61], 0),
            ("COVER ART (BACK)", Array("\0".utf8) + back, 2), ("Cover Art (Media)", Array("c\0".utf8) + [1, 2], 2),
        ])
        let mp3 = try Self.signal.ffmpeg(["-c:a", "libmp3lame", "-write_id3v1", "0"], to: "file.mp3")
        for front in [[], [UInt8](repeating: 0, count: 300)] {
            try expect(
                front + mp3 + tag,
                [(.frontCover, "image/jpeg", cover), (.backCover, "image/png", back), (.other, nil, [1, 2])])
        }
    }

    @Test("Addresses, lengths that lie, and empty pictures are no pictures")
    func nonsense() throws {
        func block(_ mediaType: String, _ length: Int, _ description: Int = 0) -> [UInt8] {
            Chunks.big(3, 4) + Chunks.big(mediaType.utf8.count, 4) + Array(mediaType.utf8) + Chunks.big(description, 4)
                + [UInt8](repeating: 0, count: 16) + Chunks.big(length, 4) + [1, 2, 3]
        }
        for content in [
            block("-->", 3), block("image/png", 0), block("image/png", 3, 5000), block("image/png", 3, -1),
            Array(block("image/png", 3).dropLast(3)), Array(block("image/png", 3).dropLast(4)), [],
        ] {
            #expect(TagPicture(blockHead: content, size: Int64(content.count)) == nil)
        }
        let cut = block("image/png", 0x7FFF_FFFF)
        #expect(TagPicture(blockHead: cut, size: Int64(cut.count))?.length == 3)
        #expect(TagPicture(base64: Array("!!!!".utf8)[...], in: 0..<4) == nil)
        let text = Array(Data(block("image/png", 3)).base64EncodedString().utf8)
        #expect(TagPicture(base64: Array(text.prefix(20) + [0x0A] + text.dropFirst(20))[...], in: 0..<500) == nil)
        let link = MP3FileTests.frame("APIC", [0] + Array("-->".utf8) + [0, 3, 0] + Array("http://x".utf8))
        let bytes = MP3FileTests.id3v2(link)
        #expect(try ID3v2.read(from: MemorySource(bytes), at: 0).pictures.isEmpty)
    }

    @Test("Of a tag with hundreds of pictures the first ones are kept")
    func many() throws {
        let frames = (0..<200).flatMap { _ in
            MP3FileTests.frame("APIC", [0] + Array("image/png".utf8) + [0, 3, 0, 1, 2, 3])
        }
        let metadata = try ID3v2.read(from: MemorySource(MP3FileTests.id3v2(frames)), at: 0)
        #expect(metadata.pictures.count == TagPicture.most)
    }

    /// The formats in which a cover of megabytes is tested.
    enum Place: CaseIterable, Sendable { case flac, id3, ape, mp4, opus }

    @Test("A cover of 20 MB: its place is known, and few of its bytes are asked for", arguments: Place.allCases)
    func large(place: Place) throws {
        var size = 20_000_000
        var limit = 100_000
        let bytes: [UInt8]
        let head = [0] + Array("image/jpeg".utf8) + [0, 3, 0] as [UInt8]
        switch place {
        case .flac:
            // A block has no room for more.
            size = 16_700_000
            bytes = try file(
                .flac, ["-s", "--picture", "3|image/jpeg||2x2x24|cover.jpg", "-o", "out", "input.wav"],
                Covers.jpeg(size), [], to: "out")
        case .id3:
            bytes = MP3FileTests.id3v2(MP3FileTests.frame("APIC", head + Covers.jpeg(size))) + (try Self.signal.flac())
        case .ape:
            let mp3 = try Self.signal.ffmpeg(["-c:a", "libmp3lame"], to: "file.mp3")
            bytes = mp3 + MP3FileTests.ape([("Cover Art (Front)", [0] + Covers.jpeg(size), 2), ("Title", [0x61], 0)])
        case .mp4:
            let data = Boxes.full("data", flags: 13, [0, 0, 0, 0] + Covers.jpeg(size))
            let list = Boxes.box("ilst", Boxes.box("covr", data))
            let handler = Boxes.full("hdlr", Boxes.big(0, 4) + Array("mdirappl".utf8) + Boxes.big(0, 9))
            var movie = try HandmadeMP4(FrameMap(Self.signal.flac(["-b", "1000"])), blockSize: 1000, total: 3000)
            movie.userData = Boxes.box("udta", Boxes.full("meta", handler + list))
            bytes = movie.bytes
        case .opus:
            guard Tool.opusenc.isInstalled else { return }
            // The headers of 400 pages, each of which is believed when another one follows.
            limit = 250_000
            bytes = try file(
                .opusenc, ["--quiet", "--picture", "3|image/jpeg||2x2x24|cover.jpg", "input.wav", "out"],
                Covers.jpeg(size), [], to: "out")
        }
        let source = MemorySource(bytes)
        let decoder = try AudioFile.open(source)
        let picture = try #require(decoder.metadata.picture)
        #expect(picture.isFront && picture.mediaType == "image/jpeg")
        #expect(source.bytesRead < limit, "\(source.bytesRead) bytes")
        #expect(source.largestRequest <= 65_536)
        #expect(picture.length >= size && picture.length <= size / 3 * 4 + 8)
        #expect(decoder.decodeAll().samples.count >= 2 * 3000)
    }
}
