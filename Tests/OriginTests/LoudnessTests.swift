import Foundation
import Platform
import TestSupport
import Testing

@Suite("Loudness that the origin tells")
struct LoudnessTests {
    private static let names = ["trackReplayGain", "trackPeakAmplitude", "albumReplayGain", "albumPeakAmplitude"]

    private func gains(_ origin: RunningOrigin, _ id: Int) throws -> [Double?] {
        let json = try Fetched("\(origin.address)/v1/tracks/\(id)/playbackinfo").json()
        return Self.names.map { json[$0]?.number }
    }

    /// Integrated loudness in LUFS and true peak in dBFS, as ffmpeg's `ebur128` measures them.
    private func reference(_ file: String) throws -> (loudness: Double, peak: Double) {
        let text = try run(
            "/usr/bin/ffmpeg", ["-nostats", "-i", file, "-af", "ebur128=peak=true:framelog=verbose", "-f", "null", "-"])
        func value(_ name: String) throws -> Double {
            let line = try #require(text.split(separator: "\n").last { $0.contains(name) })
            return try #require(line.split(separator: " ").compactMap { Double($0) }.first)
        }
        return (try value(" I:"), try value("Peak:"))
    }

    @Test("Without tags it is measured, for the track and the album")
    func measured() throws {
        let folder = try ScratchFolder()
        try FileManager.default.createDirectory(atPath: folder["music"], withIntermediateDirectories: true)
        // The second track is louder: 24 dB of headroom are not used.
        try Music(seed: 1).writeFLAC(to: folder["music/1.flac"], ["-T", "ALBUM=A"])
        try run(
            "/usr/bin/ffmpeg",
            ["-loglevel", "error", "-i", folder["music/1.flac"], "-af", "volume=6dB", folder["music/2.flac"]])
        let origin = try RunningOrigin(folder["music"], state: folder["state"])
        try origin.line { $0.contains("measured the loudness of 2 tracks") }
        let (first, second) = (try gains(origin, 1).compactMap { $0 }, try gains(origin, 2).compactMap { $0 })
        try #require(first.count == 4 && second.count == 4)
        for (file, gains) in [("1", first), ("2", second)] {
            let reference = try reference(folder["music/\(file).flac"])
            #expect(abs(gains[0] - (-18 - reference.loudness)) < 0.15)
            #expect(abs(20 * log10(gains[1]) - reference.peak) < 0.2)
        }
        #expect(abs(first[0] - second[0] - 6) < 0.15)
        #expect(first[2...] == second[2...] && first[3] == second[1])
        // Between the two, and nearer to the louder one.
        #expect(first[2] > second[0] && first[2] < (first[0] + second[0]) / 2)
    }

    @Test("Tags come first, field by field")
    func tagged() throws {
        let folder = try ScratchFolder()
        try Music(frames: 100_000).writeFLAC(
            to: folder["1.flac"],
            [
                "-T", "REPLAYGAIN_TRACK_GAIN=-9.8 dB", "-T", "REPLAYGAIN_TRACK_PEAK=0.999923", "-T",
                "REPLAYGAIN_ALBUM_GAIN=-7.5 dB", "-T", "REPLAYGAIN_ALBUM_PEAK=1.001905",
            ])
        try Music(frames: 100_000, seed: 2).writeFLAC(to: folder["2.flac"], ["-T", "REPLAYGAIN_TRACK_GAIN=-1.5 dB"])
        let origin = try RunningOrigin(folder.path, state: folder["state"])
        try origin.line { $0.contains("measured the loudness of 1 tracks") }
        #expect(try gains(origin, 1) == [-9.8, 0.999923, -7.5, 1.001905])
        let second = try gains(origin, 2)
        #expect(second[0] == -1.5 && second[1] != nil && second[2] != nil && second[1] == second[3])
    }

    #if AAC
        @Test("AAC is measured as it is heard")
        func aac() throws {
            let folder = try ScratchFolder()
            try Music(frames: 200_000).write(to: folder["1.m4a"], ["-c:a", "aac", "-b:a", "192k"])
            let origin = try RunningOrigin(folder.path, state: folder["state"])
            try origin.line { $0.contains("measured the loudness of 1 tracks") }
            let (gain, reference) = (try #require(try gains(origin, 1)[0]), try reference(folder["1.m4a"]))
            #expect(abs(gain - (-18 - reference.loudness)) < 0.15)
        }
    #endif

    @Test("Silence has no loudness")
    func silence() throws {
        let folder = try ScratchFolder()
        try run(
            "/usr/bin/ffmpeg",
            ["-loglevel", "error", "-f", "lavfi", "-i", "anullsrc", "-t", "2", folder["1.flac"]])
        let origin = try RunningOrigin(folder.path, state: folder["state"])
        try origin.line { $0.contains("measured the loudness of 1 tracks") }
        #expect(try gains(origin, 1) == [nil, nil, nil, nil])
    }
}
