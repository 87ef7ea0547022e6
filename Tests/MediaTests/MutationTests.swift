import Foundation
import Testing

@testable import Manifests
@testable import Media

@Suite("Broken files neither crash, hang, nor ask for much", Tool.needsFLAC, Tool.needsFFmpeg)
struct MutationTests {
    /// Small real files of every kind, some with tags.
    private static func seeds() throws -> [[UInt8]] {
        let signal = Signal(frames: 600, depth: 16)
        let tags = ["-T", "TITLE=Title", "-T", "R128_TRACK_GAIN=-12", "-T", "TRACKNUMBER=1/2"]
        let title = Array("TIT2".utf8) + [0, 0, 0, 3, 0, 0, 0, 0x61, 0x62]
        let id3 = Array("ID3".utf8) + [3, 0, 0x80, 0, 0, 0, UInt8(title.count)] + title
        let info = Chunks.riff("LIST", Array("INFO".utf8) + Chunks.riff("INAM", Array("Name".utf8)))
        let samples = signal.raw(byteCount: 2)
        let format = Chunks.format(of: signal, bits: 16, byteCount: 2)
        let sizes = Chunks.riff("ds64", Chunks.little(0, 8) + Chunks.little(samples.count, 8) + Chunks.little(0, 12))
        return [
            try signal.flac(["-b64", "--no-padding"] + tags),
            try signal.flac(["-b100", "--no-padding", "-S0.1s"]),
            try signal.flac(["-b192", "--no-padding"], fromPipe: true),
            try Signal(frames: 200, channels: 8, depth: 32).flac(["--no-padding"]),
            id3 + (try signal.flac(["-b64", "--no-padding"])),
            try signal.flac(["--no-padding"]) + Signal(frames: 300, channels: 1, depth: 8).flac(["--no-padding"]),
            signal.extensibleWAV,
            Chunks.wav(format + info + Chunks.riff("id3 ", id3) + Chunks.riff("data", samples)),
            Chunks.wav(sizes + format + Chunks.riff("data", samples, size: 0xFFFF_FFFF), size: -1, name: "RF64"),
            Chunks.aiff(
                AIFFTests.common(signal, type: "sowt") + Chunks.iff("NAME", [0x61]) + Chunks.iff("ID3 ", id3)
                    + AIFFTests.sound(samples), type: "AIFC"),
            try signal.ffmpeg(MP4Tests.flac + ["-metadata", "title=Title"], to: "file.mp4"),
            try signal.ffmpeg(MP4Tests.flac + ["-frame_size", "64"] + MP4Tests.layouts[7], to: "file.mp4"),
            try signal.ffmpeg(MP4Tests.flac + ["-frame_size", "64"] + MP4Tests.layouts[3], to: "file.mp4"),
            try signal.ffmpeg(ALACTests.encoder, to: "file.m4a"),
            try Signal(frames: 3000, rate: 48_000).ffmpeg(["-c:a", "libopus"], to: "file.mp4"),
            try signal.ffmpeg(["-c:a", "pcm_s24be"], to: "file.mov"),
            ALACWriter(frameCount: 100, isTwice: true, shiftedBits: 8, hasOtherElements: true).file(signal).bytes,
            Wave64Tests.file(Wave64Tests.format + Wave64Tests.chunk("data", samples)),
            FloatSampleTests.wav(samples, bits: 64, codec: 3), FloatSampleTests.wav(samples, bits: 8, codec: 6),
            DSDSignal(randomBytes: 1000, channels: 1).dsf(tag: DSDTests.title),
            DSDSignal(randomBytes: 1000, channels: 2).dff(tag: DSDTests.title),
        ] + aac + mp3 + ogg + wavPack + matroska + pictures
    }

    /// Files with pictures and many fields in each kind of tag.
    private static let pictures: [[UInt8]] = {
        let signal = Signal(frames: 600)
        let ape = MP3FileTests.ape([
            ("Cover Art (Front)", Array("a.jpg\0".utf8) + Covers.jpeg(64), 2), ("Year", Array("20040531".utf8), 0),
            ("Genre", Array("17\0(4)Own".utf8), 0),
        ])
        let writer = ID3v2Tests()
        let head = [0] + Array("image/png".utf8) + [0, 3, 0] as [UInt8]
        let tags = (3...4).map { version in
            writer.tag(
                writer.frame("APIC", head + Covers.png(64).filter { $0 < 0xFF }, version: version)
                    + writer.frame("TCON", [0] + Array("(17)Own".utf8), version: version)
                    + writer.frame("TYER", [0] + Array("2004".utf8), version: version)
                    + writer.frame("TDAT", [0] + Array("3105".utf8), version: version), version: version,
                flags: version == 3 ? 0x80 : 0)
        }
        let data = Boxes.full("data", flags: 13, [0, 0, 0, 0] + Covers.jpeg(64))
        let handler = Boxes.full("hdlr", Boxes.big(0, 4) + Array("mdirappl".utf8) + Boxes.big(0, 9))
        var files: [[UInt8]] = []
        if let flac = try? signal.flac(["-b200", "--no-padding"]), let map = try? FrameMap(flac) {
            var movie = HandmadeMP4(map, blockSize: 200, total: 600)
            let list = Boxes.box("ilst", Boxes.box("covr", data + data))
            movie.userData = Boxes.box("udta", Boxes.full("meta", handler + list))
            files += [movie.bytes] + tags.map { $0 + flac }
        }
        if let mp3 = try? Signal(frames: 3000).ffmpeg(["-c:a", "libmp3lame"], to: "file.mp3") {
            files.append(mp3 + ape)
        }
        return files
            + [[], ["--ogg"]].compactMap { options in
                try? withTemporaryFolder { folder in
                    try Files.write(signal.extensibleWAV, "input.wav", folder)
                    try Files.write(Covers.jpeg(64), "cover.jpg", folder)
                    let block =
                        Chunks.big(3, 4) + Chunks.big(10, 4) + Array("image/jpeg".utf8) + Chunks.big(0, 4)
                        + [UInt8](repeating: 0, count: 16) + Chunks.big(64, 4) + Covers.jpeg(64)
                    try Tool.flac.run(
                        options + [
                            "-s", "-b200", "--no-padding", "--picture", "3|image/jpeg||2x2x24|cover.jpg", "-T",
                            "METADATA_BLOCK_PICTURE=" + Data(block).base64EncodedString(), "-o", "out", "input.wav",
                        ], in: folder)
                    return try Files.read("out", folder)
                }
            }
    }()

    /// Made by ffmpeg's libmp3lame, with a header and without; free format cannot be made so.
    private static let mp3 =
        [["-b:a", "64k"], ["-q:a", "5", "-write_xing", "0"], ["-ar", "22050", "-ac", "1"]]
        .compactMap {
            try? Signal(frames: 3000).ffmpeg(["-c:a", "libmp3lame", "-metadata", "title=Title"] + $0, to: "file.mp3")
        } + [try? Signal(frames: 3000).ffmpeg(["-c:a", "libmp3lame"], to: "file.mp4")].compactMap(\.self)

    /// Made by ffmpeg; a chain of the first two is one more.
    private static let ogg: [[UInt8]] = {
        let files = [["-c:a", "libvorbis"], ["-c:a", "libopus", "-ar", "48000"], ["-c:a", "flac"]].compactMap {
            try? Signal(frames: 3000).ffmpeg($0 + ["-metadata", "title=Title"], to: "file.ogg")
        }
        return files.count == 3 ? files + [files[1] + files[2]] : files
    }()

    /// Made by wavpack: with a tag, of several channels, of floats, and hybrid.
    private static let wavPack: [[UInt8]] = [
        try? Signal(frames: 3000).wavpack(["--blocksize=500", "-w", "Title=Title"]),
        try? Signal(frames: 1200, channels: 6, depth: 24).wavpack(["--blocksize=300"]),
        try? WavPackTests.floats(Signal(frames: 3000)).wavpack(["--blocksize=700"]),
        try? Signal(frames: 3000, channels: 1).wavpack(["--blocksize=600", "-b4"]),
        try? Signal(frames: 3000).ffmpeg(["-c:a", "wavpack"], to: "file.wv"),
    ].compactMap(\.self)

    /// Made by ffmpeg, in several clusters, the last one as a stream; and one with lacing.
    private static let matroska: [[UInt8]] = {
        let options = ["-metadata", "title=Title", "-cluster_time_limit", "30"]
        let files = [
            ["-c:a", "libvorbis"], ["-c:a", "libopus", "-ar", "48000"], ["-c:a", "flac", "-frame_size", "256"],
            ["-c:a", "pcm_s24le", "-live", "1"],
        ].compactMap { try? Signal(frames: 3000).ffmpeg($0 + options, to: "file.mkv") }
        guard let flac = try? Signal(frames: 3000).flac(["-b256", "--no-padding"]),
            let laced = try? Remuxing.mkvmerge(flac, "file.flac", ["--disable-track-statistics-tags"])
        else { return files }
        return files + [laced]
    }()

    #if AAC
        private static let aac = ["file.m4a", "file.aac"].compactMap {
            try? Signal(frames: 3000).ffmpeg(AACReference.encoder, to: $0)
        }
    #else
        private static let aac: [[UInt8]] = []
    #endif

    @Test("The seeds themselves are good")
    func seedsAreGood() throws {
        for seed in try Self.seeds() {
            var exercise = DecoderExercise()
            exercise.run(seed)
            #expect(exercise.error == nil)
            #expect(exercise.framesRead >= 200)
        }
    }

    @Test("Thousands of mutations")
    func mutations() throws {
        let seeds = try Self.seeds()
        var generator = SeededGenerator(seed: 2026)
        var framesRead = 0
        var errors = 0
        for round in 0..<4000 {
            let mutation = Self.mutated(seeds[round % seeds.count], using: &generator)
            var exercise = DecoderExercise(frameLimit: 4000)
            exercise.run(mutation, knowsLength: round % 3 != 0)
            framesRead += exercise.framesRead
            if exercise.error != nil { errors += 1 }
        }
        // Neither so wild that nothing is decoded nor so tame that nothing breaks.
        #expect(framesRead > 1_000_000)
        #expect(errors > 200)
    }

    @Test("Mutations of cue sheets and playlists")
    func lists() throws {
        let sheet = (0..<9).map { "TRACK \($0) AUDIO\nTITLE \"T\"\nINDEX 00 \($0):00:00\nINDEX 01 \($0):02:00\n" }
        let track = "<track><location>file:///x/%C3%A4.flac</location></track>"
        let seeds = [
            "PERFORMER \"Band\"\nREM DATE 1998\nFILE \"a.wav\" WAVE\n" + sheet.joined(),
            "[playlist]\n" + (1..<20).map { "File\($0)=C:\\x\\\($0).flac\nTitle\($0)=T\n" }.joined(),
            "<playlist xmlns=\"http://xspf.org/ns/0/\"><trackList>"
                + String(repeating: track, count: 5) + "</trackList></playlist>",
            "#EXTM3U\n" + (0..<20).map { "#EXTINF:1,T\n../\($0)/%20.flac\n" }.joined(),
        ].map { Array($0.utf8) }
        var generator = SeededGenerator(seed: 2026)
        var (tracks, entries) = (0, 0)
        for round in 0..<4000 {
            let bytes = Self.mutated(seeds[round % seeds.count], using: &generator)
            let sheet = CueSheet(parsing: bytes)
            tracks += sheet.tracks.count
            #expect(sheet.tracks.allSatisfy { sheet.files.indices.contains($0.place?.file ?? 0) || $0.place == nil })
            _ = CueSheet(block: bytes)
            guard let list = try? PlaylistFile(recognising: bytes, in: "/m") else { continue }
            entries += list.entries.count
            // A path that is written is read as it was.
            guard let path = list.paths.last, let line = PlaylistLine.bytes(of: path, in: "/m/lists") else { continue }
            var read: [String?] = []
            PlaylistFile.eachLine(of: Array("#EXTM3U\n".utf8) + line, in: "/m/lists") {
                read.append($0.entry(in: "/m/lists")?.path)
            }
            #expect(read == [path])
        }
        #expect(tracks > 5000 && entries > 20_000)
    }

    private static func mutated(_ seed: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        var bytes = seed
        // The headers are a small part of a file and the most sensitive one.
        func place() -> Int {
            Bool.random(using: &generator)
                ? .random(in: 0..<min(120, bytes.count), using: &generator)
                : .random(in: 0..<bytes.count, using: &generator)
        }
        for _ in 0..<Int.random(in: 1...4, using: &generator) where bytes.count > 200 {
            let start = place()
            let end = min(bytes.count, start + Int.random(in: 1...8, using: &generator))
            switch Int.random(in: 0..<7, using: &generator) {
            case 0, 1: bytes[start] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 2: for index in start..<end { bytes[index] = .random(in: 0...255, using: &generator) }
            case 3: for index in start..<end { bytes[index] = 0xFF }
            case 4: for index in start..<end { bytes[index] = 0 }
            case 5: bytes.removeSubrange(start..<min(bytes.count, start + Int.random(in: 1...200, using: &generator)))
            default: bytes.removeLast(Int.random(in: 0..<bytes.count / 2, using: &generator))
            }
        }
        return bytes
    }
}
