import PCM
import Testing

@testable import Media

@Suite("MP4 as ffmpeg writes it", Tool.needsFFmpeg)
struct MP4Tests {
    static let flac = ["-c:a", "flac", "-strict", "-2"]

    /// The ways in which the samples can lie in the file.
    static let layouts: [[String]] = [
        [], ["-movflags", "faststart"],
        ["-movflags", "frag_keyframe+empty_moov", "-frag_duration", "500000"],
        ["-movflags", "frag_keyframe", "-frag_duration", "500000"],
        ["-movflags", "frag_keyframe+empty_moov+default_base_moof", "-frag_duration", "300000"],
        ["-movflags", "frag_keyframe+delay_moov+omit_tfhd_offset", "-frag_duration", "300000"],
        ["-movflags", "frag_every_frame+empty_moov"],
        ["-movflags", "dash+global_sidx+frag_keyframe", "-frag_duration", "500000"],
        ["-movflags", "cmaf+frag_keyframe", "-frag_duration", "500000"],
        ["-movflags", "empty_moov+separate_moof+frag_keyframe", "-frag_size", "20000"],
        ["-movflags", "frag_keyframe+negative_cts_offsets+skip_trailer", "-frag_duration", "700000"],
        ["-movflags", "frag_discont+frag_keyframe+empty_moov", "-frag_duration", "500000"],
    ]

    static let signals = [
        Signal(frames: 100_000), Signal(frames: 50_001, rate: 96_000, channels: 2, depth: 24, seed: 2),
        Signal(frames: 30_000, rate: 8000, channels: 1, depth: 16, seed: 3),
        Signal(frames: 20_000, rate: 48_000, channels: 6, depth: 24, seed: 4),
        Signal(frames: 10_000, rate: 192_000, channels: 2, depth: 24, seed: 5), Signal(frames: 1, seed: 6),
    ]

    @Test("FLAC in every layout decodes to the source, whole and from any frame", arguments: layouts)
    func everyLayout(options: [String]) throws {
        for signal in Self.signals {
            let bytes = try signal.ffmpeg(Self.flac + options, to: "file.mp4")
            let decoder = try AudioFile.open(MemorySource(bytes))
            #expect(decoder.properties.format == signal.format)
            #expect(decoder.properties.container == .mp4 && decoder.properties.codec == .flac)
            #expect(difference(decoder.decodeAll().samples, signal.samples) == nil)
            #expect(decoder.damage.isEmpty)
            let last = signal.frameCount - 1
            for frame in [
                last, 0, signal.frameCount / 2, 4607, 4608, 4609, 1, last + 1, signal.frameCount / 3, 1 << 40,
            ] {
                try decoder.seek(toFrame: Int64(frame))
                let expected = signal.slice(min(frame, last + 1)..<min(frame + 5000, last + 1))
                #expect(try difference(decoder.decode(frames: 5000), expected) == nil, "frame \(frame)")
            }
            #expect(decoder.damage.isEmpty)
        }
    }

    @Test("The length is known where the file says it", arguments: [0, 1, 7])
    func length(layout: Int) throws {
        for signal in Self.signals {
            let decoder = try AudioFile.open(
                MemorySource(try signal.ffmpeg(Self.flac + Self.layouts[layout], to: "file.mp4")))
            #expect(decoder.properties.frameCount == Int64(signal.frameCount))
            #expect((decoder.properties.bitRate ?? 0) > 1000)
        }
    }

    @Test("The sound of a file with pictures before it is found")
    func severalTracks() throws {
        let signal = Signal(frames: 60_000)
        for layout in [0, 1, 3, 4] {
            let pictures = ["-f", "lavfi", "-i", "testsrc=size=64x64:rate=10:duration=1", "-map", "1:v", "-map", "0:a"]
            let bytes = try signal.ffmpeg(
                pictures + Self.flac + ["-c:v", "mpeg4"] + Self.layouts[layout], to: "file.mp4")
            let decoder = try AudioFile.open(MemorySource(bytes))
            #expect(difference(decoder.decodeAll().samples, signal.samples) == nil)
            try decoder.seek(toFrame: 50_000)
            #expect(try difference(decoder.decode(frames: 500), signal.slice(50_000..<50_500)) == nil)
        }
    }

    @Test("Tags", arguments: [0, 1, 4])
    func tags(layout: Int) throws {
        let tags = [
            "-metadata", "title=Tïtle", "-metadata", "artist=Artist", "-metadata", "album=Album", "-metadata",
            "track=3/12", "-metadata", "disc=2",
        ]
        let bytes = try Signal(frames: 5000).ffmpeg(Self.flac + tags + Self.layouts[layout], to: "file.mp4")
        let metadata = try AudioFile.open(MemorySource(bytes)).metadata
        #expect(metadata.title == "Tïtle" && metadata.artist == "Artist" && metadata.album == "Album")
        #expect(metadata.trackNumber == 3 && metadata.discNumber == 2)
    }

    @Test("All artists of one item are listed")
    func artists() throws {
        var bytes = try Signal(frames: 5000).ffmpeg(Self.flac + ["-metadata", "artist=First"], to: "file.mp4")
        func place(_ type: [UInt8]) throws -> Int {
            try #require((0..<bytes.count - 4).last { Array(bytes[$0..<$0 + 4]) == type })
        }
        let value = Array("Second".utf8)
        let data: [UInt8] =
            [0, 0, 0, UInt8(16 + value.count)] + Array("data".utf8) + [0, 0, 0, 1, 0, 0, 0, 0] + value
        let item = try place([0xA9] + Array("ART".utf8)) - 4
        let boxes = try [item] + ["ilst", "meta", "udta", "moov"].map { try place(Array($0.utf8)) - 4 }
        func size(_ box: Int) -> Int { bytes[box..<box + 4].reduce(0) { $0 << 8 | Int($1) } }
        bytes.insert(contentsOf: data, at: item + size(item))
        for box in boxes {
            let grown = size(box) + data.count
            for byte in 0..<4 { bytes[box + byte] = UInt8(truncatingIfNeeded: grown >> (24 - 8 * byte)) }
        }
        #expect(try AudioFile.open(MemorySource(bytes)).metadata.artist == "First, Second")
    }

    @Test("A codec that is not supported is named")
    func otherCodecs() throws {
        let cases = [
            (["-c:a", "ac3"], "file.mp4", "MP4 with AC-3"),
            (["-c:a", "adpcm_ima_qt"], "file.mov", "MP4 with IMA ADPCM"),
        ]
        for (options, name, message) in cases {
            let bytes = try Signal(frames: 5000).ffmpeg(options, to: name)
            #expect(throws: MediaError.unsupported(what: message)) { try AudioFile.open(MemorySource(bytes)) }
        }
        let silentFilm = try Signal(frames: 5000).ffmpeg(
            ["-f", "lavfi", "-i", "testsrc=size=64x64:rate=10:duration=1", "-map", "1:v", "-c:v", "mpeg4"],
            to: "file.mp4")
        #expect(throws: MediaError.unsupported(what: "MP4 without sound")) {
            try AudioFile.open(MemorySource(silentFilm))
        }
    }

    @Test("An empty edit is silence, and an edit that begins later leaves the sound before it out")
    func edits() throws {
        let signal = Signal(frames: 60_000)
        // The muxer writes the delay of the first packet as an empty edit.
        let delayed = try AudioFile.open(
            MemorySource(
                try signal.ffmpeg(["-itsoffset", "0.25", "-i", "input.wav", "-map", "1:a"] + Self.flac, to: "file.mp4"))
        )
        let silence = [Int32](repeating: 0, count: 2 * 11_025)
        #expect(difference(delayed.decodeAll().samples, silence + signal.samples) == nil)
        #expect(delayed.properties.frameCount == 71_025)
        for frame in [0, 11_000, 11_025, 11_026, 50_000, 71_024, 71_025] {
            try delayed.seek(toFrame: Int64(frame))
            let expected = Array((silence + signal.samples)[(2 * frame)...].prefix(2000))
            #expect(try difference(delayed.decode(frames: 1000), expected) == nil, "frame \(frame)")
        }
    }

    @Test("Cut off files play up to the cut, and say so")
    func truncated() throws {
        let signal = Signal(frames: 100_000)
        for layout in [1, 7] {
            let bytes = try signal.ffmpeg(Self.flac + Self.layouts[layout], to: "file.mp4")
            let (decoded, damage) = try decode(Array(bytes.prefix(bytes.count / 2)))
            #expect(decoded.error == nil && damage.truncated)
            let count = decoded.samples.count
            #expect(count > 2 * 30_000 && decoded.samples.elementsEqual(signal.samples.prefix(count)))
        }
        let progressive = try signal.ffmpeg(Self.flac, to: "file.mp4")
        #expect(throws: MediaError.damaged(what: "MP4 without a movie box (moov): cut off, or not finished")) {
            try AudioFile.open(MemorySource(Array(progressive.prefix(progressive.count / 2))))
        }
        #expect(throws: MediaError.damaged(what: "MP4 cut off in its movie box (moov)")) {
            try AudioFile.open(MemorySource(Array(progressive.dropLast(300))))
        }
    }
}
