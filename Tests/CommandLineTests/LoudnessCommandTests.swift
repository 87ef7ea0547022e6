import Foundation
import Platform
import Player
import ProgramTestSupport
import TestSupport
import Testing

@testable import tonearm

@Suite("tonearm loudness", LoudFiles.needsFFmpeg)
struct LoudnessCommandTests {
    private let program: Program
    private let files: LoudFiles
    private var folder: ScratchFolder { program.folder }

    init() throws {
        program = try Program()
        files = LoudFiles(folder: program.folder)
    }

    private struct Lines {
        var files: [String: JSONValue] = [:]
        var errors: [String] = []
        var summary: JSONValue = .null

        init(_ result: Program.Result) throws {
            for line in try result.json() {
                switch line["event"]?.string {
                case "file": files[try #require(line["file"]?.string)] = line
                case "error": errors.append(try #require(line["file"]?.string))
                default: summary = line
                }
            }
        }

        func result(_ file: String) -> String? { files[file]?["result"]?.string }
        func gain(_ file: String, _ name: String = "trackGain") -> Double? { files[file]?[name]?.number }
    }

    private func measure(_ words: String..., expecting code: Int32 = 0) throws -> Lines {
        let result = try program.start(["loudness", "--json"] + words).finish()
        #expect(result.code == code, "\(result)")
        return try Lines(result)
    }

    private static let formats: [(name: String, rate: Int, channels: Int, options: [String])] = {
        var formats: [(name: String, rate: Int, channels: Int, options: [String])] = [
            ("16.flac", 44_100, 2, []), ("24.wav", 96_000, 2, ["-c:a", "pcm_s24le"]), ("mono.flac", 44_100, 1, []),
            ("lame.mp3", 44_100, 2, ["-c:a", "libmp3lame", "-b:a", "192k"]),
            ("vorbis.ogg", 44_100, 2, ["-c:a", "libvorbis"]), ("opus.opus", 48_000, 2, ["-c:a", "libopus"]),
            ("wavpack.wv", 48_000, 2, []), ("surround.flac", 48_000, 6, []),
        ]
        #if AAC
            // Each decoder makes its own noise where the encoder only names it (PNS).
            formats.append(("aac.m4a", 44_100, 2, ["-c:a", "aac", "-aac_pns", "0"]))
        #endif
        return formats
    }()

    @Test("Gains are within 0.1 LU of ffmpeg's, and peaks within 0.2 dB, for what each encoder writes")
    func reference() throws {
        for (name, rate, channels, options) in Self.formats {
            try files.make(name, rate: rate, channels: channels, options)
        }
        let lines = try measure(".")
        #expect(lines.summary["measured"]?.integer == Int64(Self.formats.count))
        for (name, _, _, _) in Self.formats {
            let reference = try files.reference(name)
            let gain = try #require(lines.gain("./\(name)"), "\(name)")
            #expect(abs(gain - (-18 - reference.loudness)) <= 0.1, "\(name): \(gain), \(reference)")
            let peak = try #require(lines.gain("./\(name)", "trackPeak"), "\(name)")
            #expect(abs(20 * log10(peak) - reference.peak) < 0.2, "\(name): \(peak), \(reference)")
        }
    }

    @Test("The files of a folder with the same album tag are one album, and so are those without a tag")
    func albums() throws {
        let names = ["a/1.flac", "a/2.flac", "a/3.flac", "a/4.flac", "b/5.flac"]
        for (index, name) in names.enumerated() {
            let tags = index == 1 || index == 2 ? ["-metadata", "album=X"] : []
            try files.make(name, seconds: 1, level: Double(-3 * index), tags)
        }
        let lines = try measure("a", "b")
        let albums = names.map { lines.gain($0, "albumGain") }
        let tracks = names.compactMap { lines.gain($0) }
        try #require(tracks.count == 5 && !albums.contains(nil))
        #expect(albums[0] == albums[3] && albums[1] == albums[2] && albums[0] != albums[1])
        #expect(albums[4] == tracks[4])
        #expect(tracks[1] < albums[1]! && albums[1]! < tracks[2])
        #expect(lines.gain("a/2.flac", "albumPeak") == lines.gain("a/2.flac", "trackPeak"))
    }

    @Test("Silence, short files, tags and broken files are told apart")
    func kinds() throws {
        try files.make("short.flac", seconds: 0.3)
        try files.make("silent.wav", level: -.infinity)
        let tags = ["TRACK_GAIN=-3 dB", "TRACK_PEAK=1", "ALBUM_GAIN=-2 dB", "ALBUM_PEAK=1"]
        try files.make("tagged.flac", tags.flatMap { ["-metadata", "REPLAYGAIN_\($0)"] })
        try files.make("only track.flac", ["-metadata", "REPLAYGAIN_TRACK_GAIN=-3 dB"])
        try program.write(Array("no music".utf8), to: "broken.flac")
        try program.write(Array("broken.flac\n".utf8), to: "list.m3u")
        let first = try measure(".", expecting: 1)
        #expect(first.result("./short.flac") == "tooShort" && first.result("./silent.wav") == "silent")
        #expect(first.result("./tagged.flac") == "tagged" && first.result("./only track.flac") == "measured")
        #expect(first.errors == ["./broken.flac"] && first.summary["withoutLoudness"]?.integer == 2)
        #expect(first.gain("./tagged.flac") == nil)
        // Silence was measured, too. The file with tags is measured with --all only.
        let second = try measure("silent.wav", "short.flac", "tagged.flac", "list.m3u")
        #expect(["silent.wav", "short.flac", "tagged.flac"].map { second.result($0) } == ["known", "known", "tagged"])
        let all = try measure("--all", "silent.wav", "tagged.flac", "missing.flac", expecting: 1)
        #expect(all.result("silent.wav") == "silent" && all.gain("tagged.flac") != nil)
        #expect(all.errors == ["missing.flac"])
    }

    @Test("Without --json there is a line for each file and one with the totals; a terminal shows a bar")
    func text() throws {
        try files.make("1.flac")
        let result = try program.run("loudness", "1.flac")
        #expect(result.code == 0 && result.lines.count == 2)
        #expect(result.lines[0].hasPrefix("1.flac: track ") && result.lines[0].contains(" dB, peak 0."))
        #expect(result.lines[1] == "1 measured, 0 measured before, 0 with tags, 0 silent or too short, 0 failed")
        #expect(ProgressBar.line("12 of 80", percent: 15, columns: 80).hasPrefix("12 of 80 [#######   "))
        #expect(ProgressBar.line("12 of 80", percent: 15, columns: 12) == "12 of 80  15 %")
    }

    // MARK: What is measured again

    private final class RowsInMemory: LoudnessStore {
        var rows: [FileLoudness] = []

        func known(_ files: [MusicFileVersion]) throws(LoudnessFailure) -> [KnownLoudness?] {
            files.map { file in
                rows.last { $0.file.isSame(as: file) || file.content != 0 && $0.file.content == file.content }
                    .map { KnownLoudness(albumGain: $0.replayGain.albumGain) }
            }
        }
        func keep(_ results: [FileLoudness]) throws(LoudnessFailure) -> [String?] {
            rows += results
            return results.map { _ in nil }
        }
    }

    @Test("An unchanged file is not decoded again; a changed one is, with the rest of its album")
    func decodes() throws {
        // Each with a sound of its own.
        for (name, seconds) in [("a/1.flac", 0.5), ("a/2.flac", 0.55), ("b/3.flac", 0.6)] {
            try files.make(name, seconds: seconds)
        }
        let store = RowsInMemory()
        func openings(all: Bool = false) throws -> [String] {
            var search = MusicFolder(findsFilesAlone: true)
            for name in ["a", "b"] { try search.add(folder[name]) }
            var opened: [String] = []
            let cancellation = try Cancellation()
            let scan = LoudnessScan(store, measuresAll: all) { path throws(PlayerError) in
                opened.append(String(path.suffix(6)))
                return try LocalFiles().open(
                    MediaProduct(productType: .track, productId: path, referenceId: path), session: PlaybackSession(),
                    cancellation: cancellation, medium: MediumAccess())
            } report: { _, _ in
            }
            try scan.run(search.contents.files)
            return opened
        }
        // Once for the tags, and once to decode.
        let album = ["1.flac", "2.flac"]
        #expect(try openings() == album + album + ["3.flac", "3.flac"])
        #expect(try openings() == [] && store.rows.count == 3)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000)], ofItemAtPath: folder["a/2.flac"])
        // Only for its sound, which is the same.
        #expect(try openings() == album && store.rows.count == 3)
        try FileManager.default.moveItem(atPath: folder["a/1.flac"], toPath: folder["a/4.flac"])
        let renamed = ["2.flac", "4.flac"]
        #expect(try openings() == renamed)
        try files.make("a/2.flac", seconds: 0.65)
        #expect(try openings() == renamed + renamed)
        #expect(try openings() == [] && store.rows.count == 5)
        // The sound of another album: its gain is not that of this one.
        try FileManager.default.moveItem(atPath: folder["b/3.flac"], toPath: folder["a/3.flac"])
        #expect(try openings() == ["2.flac", "3.flac", "4.flac"] + ["2.flac", "3.flac", "4.flac"])
        #expect(try openings(all: true).count == 6)
    }

    // MARK: Playing

    /// The factor between the samples of two recordings, from the loudest one.
    private func factor(_ played: [UInt8], _ plain: [UInt8]) throws -> Double {
        func samples(_ bytes: [UInt8]) -> [Int16] {
            stride(from: 0, to: bytes.count - 1, by: 2).map {
                Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
            }
        }
        let (one, other) = (samples(played), samples(plain))
        try #require(one.count == other.count && !one.isEmpty)
        let loudest = try #require(other.indices.max { abs(Int(other[$0])) < abs(Int(other[$1])) })
        return Double(one[loudest]) / Double(other[loudest])
    }

    @Test("tonearm play uses the results")
    func play() throws {
        try files.make("1.flac", level: -20)
        let gain = try #require(try measure("1.flac").gain("1.flac"))
        for (mode, name) in [("off", "off.raw"), ("track", "track.raw"), ("album", "album.raw")] {
            let words = ["play", "--volume", "100", "--normalize", mode, "--pre-amp", "-6"]
            let result = try program.start(words + program.device(name) + ["1.flac"]).finish()
            #expect(result.code == 0, "\(result)")
        }
        let expected = 0.8 * pow(10, (gain - 6) / 20)
        for name in ["track.raw", "album.raw"] {
            let factor = try factor(try program.bytes(name), try program.bytes("off.raw"))
            #expect(abs(factor / expected - 1) < 0.01, "\(name): \(factor), \(expected)")
        }
    }

    @Test("With --daemon the running daemon stores the results, and has them at its next start")
    func daemon() throws {
        try files.make("a/1.flac")
        try files.make("a/2.flac", level: -6)
        let daemon = try RunningDaemon(in: program)
        func measure() throws -> Lines {
            try Lines(try daemon.run("loudness", "--daemon", "--json", "a"))
        }
        let first = try measure()
        #expect(first.summary["measured"]?.integer == 2 && first.errors.isEmpty)
        #expect(try measure().summary["known"]?.integer == 2)
        #expect(try daemon.end().code == 0)
        let next = try RunningDaemon(in: program)
        let again = try Lines(try next.run("loudness", "--daemon", "--json", "a"))
        #expect(again.summary["known"]?.integer == 2)
        #expect(try next.end().code == 0)
        // The daemon's results are not those of `tonearm play`.
        #expect(try self.measure("a").summary["measured"]?.integer == 2)
        let alone = try program.run("loudness", "--daemon", "--socket", next.socket, "a")
        #expect(alone.code == 4 && alone.errors.contains("the daemon is not running"))
    }
}
