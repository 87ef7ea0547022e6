import Foundation
import PCM
import Testing

@testable import Media

/// Codec × container × rate × channels × depth × tag, as real encoders write them, decoded whole.
///
/// Lossless files have the samples of the source. Lossy ones have its length, and the samples of ffmpeg's decoder
/// within one step of 16 bits. For Opus ffmpeg uses libopus.
@Suite("A corpus of real encoders", Tool.needsFFmpeg, Tool.needsFLAC)
struct CorpusTests {
    /// A file that an encoder makes.
    struct Row {
        var name: String
        var container: String
        var codec: String
        var options: [String] = []
        var tool = Tool.ffmpeg
        /// The depth of the file; nil: that of the source.
        var depth: Int?
        var depths = 4...32
        var channels = 1...8
        var rates = 8000...192_000
        var isLossy = false
        /// The rate to which it is decoded; nil: that of the source.
        var rate: Int?
        var hasTitle = true
        /// The data has a length of whole groups of so many bytes, and its size counts the zeros at the end.
        var grouping = 1

        /// Bits of a sample in the file, of integers and floats.
        var size: Int? { options.contains { $0.hasPrefix("pcm_f64") } ? 64 : depth }

        func fits(_ format: PCMFormat) -> Bool {
            tool.isInstalled && depths ~= format.bitDepth && channels ~= format.channelCount
                && rates ~= format.sampleRate && FormatTable.all.formats.contains { $0.container.rawValue == container }
        }
    }

    private static func pcm(_ name: String, _ container: String, _ codecs: [(String, Int)]) -> [Row] {
        codecs.map { codec, depth in
            let isFloat = codec.hasPrefix("pcm_f")
            return Row(
                name: name, container: container, codec: "pcm", options: ["-c:a", codec],
                depth: depth, depths: isFloat ? 4...(codec.contains("64") ? 32 : 24) : 4...depth,
                // Those of QuickTime are of another kind.
                hasTitle: name != "a.w64" && name != "a.mov", grouping: name == "a.w64" ? 8 : 1)
        }
    }

    static let rows: [Row] = {
        let integers = [("pcm_s16le", 16), ("pcm_s24le", 24), ("pcm_s32le", 32)]
        let big = [("pcm_s16be", 16), ("pcm_s24be", 24), ("pcm_s32be", 32)]
        let floats = [("pcm_f32le", 32), ("pcm_f64le", 32)]
        var rows = pcm("a.wav", "wav", [("pcm_u8", 8)] + integers + floats) + pcm("a.w64", "wav", integers + floats)
        rows += pcm("a.aiff", "aiff", [("pcm_s8", 8), ("pcm_s16le", 16), ("pcm_f32be", 32), ("pcm_f64be", 32)] + big)
        rows += pcm("a.mov", "mp4", integers + big + floats)
        for index in rows.indices where rows[index].name == "a.aiff" { rows[index].options += ["-write_id3v2", "1"] }
        rows.append(
            Row(
                name: "a.rf64.wav", container: "wav", codec: "pcm", options: ["-c:a", "pcm_s24le", "-rf64", "always"],
                depth: 24, depths: 4...24))
        // ffmpeg encodes 16 or 24 bits.
        for (depth, depths) in [(16, 4...16), (24, 17...24)] {
            for (name, container, options) in [
                ("a.flac", "flac", []), ("a.oga", "ogg", []), ("a.mp4", "mp4", ["-strict", "-2"]),
                ("f.mp4", "mp4", ["-strict", "-2", "-movflags", "frag_keyframe+empty_moov"]),
            ] as [(String, String, [String])] {
                rows.append(
                    Row(
                        name: name, container: container, codec: "flac", options: ["-c:a", "flac"] + options,
                        depth: depth, depths: depths, channels: 1...6))
            }
            rows.append(
                Row(
                    name: "a.m4a", container: "mp4", codec: "alac", options: ["-c:a", "alac"], depth: depth,
                    depths: depths, channels: 1...6))
            // Its WavPack has 16 or 32 bits; of 8 bits libwavpack itself finds the checksums wrong.
            rows.append(
                Row(
                    name: "a.wv", container: "wavpack", codec: "wavpack", options: ["-c:a", "wavpack"],
                    depth: depth > 16 ? 32 : depth, depths: max(9, depths.lowerBound)...depths.upperBound,
                    channels: 1...6))
        }
        for options in [["-0"], ["-8"], ["--ogg"], ["-l", "0", "-b", "4608"]] {
            rows.append(
                Row(
                    name: "b.flac", container: options == ["--ogg"] ? "ogg" : "flac", codec: "flac", options: options,
                    tool: .flac))
        }
        for (name, container) in [("b.wav", "wav"), ("b.aiff", "aiff"), ("b.w64", "wav")] {
            rows.append(Row(name: name, container: container, codec: "pcm", tool: .sox, hasTitle: false))
        }
        return rows + lossy
    }()

    private static let lossy: [Row] = {
        var rows = [
            Row(
                name: "a.mp3", container: "mp3", codec: "mp3", options: ["-V", "3"], tool: .lame, channels: 1...2,
                rates: 8000...48_000, isLossy: true),
            Row(
                name: "b.mp3", container: "mp3", codec: "mp3", options: ["-b", "64"], tool: .lame, channels: 1...2,
                rates: 16_000...48_000, isLossy: true),
            Row(
                name: "c.mp3", container: "mp3", codec: "mp3", options: ["-c:a", "libmp3lame", "-id3v2_version", "4"],
                channels: 1...2, rates: 8000...48_000, isLossy: true),
            Row(
                name: "m.mp4", container: "mp4", codec: "mp3", options: ["-c:a", "libmp3lame"], channels: 1...2,
                rates: 16_000...48_000, isLossy: true),
            Row(
                name: "a.ogg", container: "ogg", codec: "vorbis", options: ["-q", "5"], tool: .oggenc,
                depths: 4...24, channels: 1...6, isLossy: true),
            Row(
                name: "b.ogg", container: "ogg", codec: "vorbis", options: ["-c:a", "libvorbis"], channels: 1...6,
                rates: 8000...48_000, isLossy: true),
            Row(
                name: "a.opus", container: "ogg", codec: "opus", tool: .opusenc, depths: 4...24,
                channels: 1...6, isLossy: true, rate: 48_000),
            Row(
                name: "b.opus", container: "ogg", codec: "opus", options: ["-c:a", "libopus"], channels: 1...6,
                rates: 48_000...48_000, isLossy: true),
            Row(
                name: "l.wav", container: "wav", codec: "alaw", options: ["-c:a", "pcm_alaw"], depth: 13,
                isLossy: true),
            Row(
                name: "u.aiff", container: "aiff", codec: "ulaw", options: ["-c:a", "pcm_mulaw", "-write_id3v2", "1"],
                depth: 14, isLossy: true),
        ]
        #if AAC
            rows.append(
                Row(
                    name: "aac.m4a", container: "mp4", codec: "aac", options: AACReference.encoder, channels: 1...6,
                    rates: 8000...96_000, isLossy: true))
        #endif
        for index in rows.indices where rows[index].depth == nil { rows[index].depth = 24 }
        return rows
    }()

    // MARK: Encoding

    private static let title = "Corpus"

    /// The files of the rows, encoded in `folder`.
    private func encode(_ rows: [(name: String, row: Row)], _ signal: Signal, in folder: URL) throws {
        try Files.write(signal.extensibleWAV, "input.wav", folder)
        var outputs: [String] = []
        for (name, row) in rows {
            let rate = String(Double(signal.format.sampleRate) / 1000)
            switch row.tool {
            case .flac:
                try row.tool.run(
                    ["--totally-silent", "--lax", "--channel-map=none", "-T", "TITLE=\(Self.title)"] + row.options
                        + ["-o", name, "input.wav"], in: folder)
            case .lame:
                try row.tool.run(
                    ["--quiet", "--noreplaygain", "--resample", rate, "--tt", Self.title] + row.options
                        + ["input.wav", name], in: folder)
            case .oggenc:
                try row.tool.run(
                    ["--quiet", "-t", Self.title] + row.options + ["-o", name, "input.wav"], in: folder)
            case .opusenc:
                try row.tool.run(["--quiet", "--title", Self.title] + row.options + ["input.wav", name], in: folder)
            case .sox: try row.tool.run(["-D", "input.wav", name], in: folder)
            default:
                outputs += ["-map", "0:a"] + signal.monoFilter + row.options
                outputs += ["-metadata", "title=\(Self.title)", name]
            }
        }
        try Tool.ffmpeg.run(["-loglevel", "error", "-i", "input.wav"] + outputs, in: folder)
    }

    /// The samples that ffmpeg decodes from files, in one process.
    private func references(_ names: [(name: String, codec: String)], in folder: URL) throws -> [String: [Int32]] {
        var (inputs, outputs): ([String], [String]) = ([], [])
        for (number, file) in names.enumerated() {
            inputs +=
                (file.codec == "opus" ? ["-request_sample_fmt", "flt", "-c:a", "libopus"] : []) + ["-i", file.name]
            outputs += ["-map", "\(number):a", "-f", "s32le", "-c:a", "pcm_s32le", "\(file.name).raw"]
        }
        try Tool.ffmpeg.run(["-loglevel", "error"] + inputs + outputs, in: folder)
        var samples: [String: [Int32]] = [:]
        for file in names {
            samples[file.name] = try Data(contentsOf: folder.appendingPathComponent("\(file.name).raw"))
                .withUnsafeBytes { Array($0.bindMemory(to: Int32.self)) }
        }
        return samples
    }

    // MARK: Decoding

    static let formats = [
        PCMFormat(sampleRate: 44_100, channelCount: 2, bitDepth: 16),
        PCMFormat(sampleRate: 48_000, channelCount: 1, bitDepth: 24),
        PCMFormat(sampleRate: 96_000, channelCount: 2, bitDepth: 24),
        PCMFormat(sampleRate: 48_000, channelCount: 6, bitDepth: 16),
        PCMFormat(sampleRate: 48_000, channelCount: 8, bitDepth: 24),
        PCMFormat(sampleRate: 22_050, channelCount: 2, bitDepth: 8),
        PCMFormat(sampleRate: 8000, channelCount: 1, bitDepth: 16),
        PCMFormat(sampleRate: 192_000, channelCount: 2, bitDepth: 32),
    ]

    @Test("Every file decodes to its source, or to what ffmpeg decodes", arguments: formats)
    func everyFile(format: PCMFormat) throws {
        // 0.3 s, and an odd number of frames.
        let frames = format.sampleRate * 3 / 10 | 1
        let signal = Signal(
            frames: frames, rate: format.sampleRate, channels: format.channelCount, depth: format.bitDepth)
        let rows = Self.rows.enumerated().filter { $0.element.fits(format) }.map { (name: "\($0).\($1.name)", row: $1) }
        try withTemporaryFolder { folder in
            try encode(rows, signal, in: folder)
            let references = try references(
                rows.filter { $0.row.isLossy }.map { ($0.name, $0.row.codec) }, in: folder)
            for (name, row) in rows {
                let comment: Comment = "\(name) \(row.options)"
                let decoder = try AudioFile.open(MemorySource(Files.read(name, folder)))
                let properties = decoder.properties
                #expect(
                    properties.container.rawValue == row.container && properties.codec.rawValue == row.codec, comment)
                let rate = row.rate ?? format.sampleRate
                #expect(
                    properties.format
                        == PCMFormat(
                            sampleRate: rate, channelCount: format.channelCount,
                            bitDepth: row.depth ?? format.bitDepth), comment)
                // Opus has no other rate, and a part of a frame counts.
                var count = (frames * rate + format.sampleRate - 1) / format.sampleRate
                if let bits = row.size, row.grouping > 1 {
                    let size = bits / 8 * format.channelCount
                    count = (count * size + row.grouping - 1) / row.grouping * row.grouping / size
                }
                let isFragmented = row.options.contains { $0.contains("frag") }
                #expect(properties.frameCount == (isFragmented ? nil : Int64(count)), comment)
                if row.tool == .flac { #expect(properties.sampleDigest != nil, comment) }
                #expect(decoder.metadata.title == (row.hasTitle ? Self.title : nil), comment)
                let decoded = decoder.decodeAll()
                #expect(decoded.error == nil && decoder.damage.isEmpty, comment)
                guard let reference = references[name] else {
                    let zeros = [Int32](repeating: 0, count: (count - frames) * format.channelCount)
                    #expect(difference(decoded.samples, signal.samples + zeros) == nil, comment)
                    continue
                }
                #expect(decoded.samples.count == count * format.channelCount, comment)
                // In some containers ffmpeg plays the frames that the encoder added after the end.
                let expected = Array(reference.prefix(decoded.samples.count))
                #expect(AACReference.difference(decoded.samples, expected) == nil, comment)
            }
        }
    }

    #if AAC
        @Test("AAC: a signal cut at odd frames is as long as in one file, and has no step at the joint")
        func gapless() throws {
            let signal = Signal.music(frames: 60_001, rate: 44_100)
            func decoded(_ frames: Range<Int>) throws -> [Int32] {
                let part = Signal(signal.slice(frames), signal.format)
                return try decode(part.ffmpeg(AACReference.encoder + ["-b:a", "192k"], to: "file.m4a")).decoded.samples
            }
            func largestError(_ samples: [Int32], _ frames: Range<Int>) -> Int64 {
                (2 * frames.lowerBound..<2 * frames.upperBound).reduce(0) {
                    max($0, abs(Int64(samples[$1]) - Int64(signal.samples[$1])))
                }
            }
            let elsewhere = largestError(try decoded(0..<60_001), 1000..<59_000)
            for cut in [20_001, 40_003] {
                let (first, second) = (try decoded(0..<cut), try decoded(cut..<60_001))
                #expect(first.count == 2 * cut && second.count == 2 * (60_001 - cut))
                #expect(largestError(first + second, (cut - 300)..<(cut + 300)) <= elsewhere * 3 / 2, "\(cut)")
            }
        }
    #endif
}
