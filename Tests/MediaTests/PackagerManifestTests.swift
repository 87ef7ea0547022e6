import Foundation
import Testing

@testable import Manifests
@testable import Media

@Suite("Manifests as packagers write them", Tool.needsFFmpeg, Tool.needsPackager)
struct PackagerManifestTests {
    static let signal = Signal(frames: 200_000)

    private func expectSource(_ manifest: Manifest, _ files: [String: [UInt8]]) throws {
        let representation = try PackagedSegments.first(manifest)
        let decoder = try AudioFile.open(try PackagedSegments(representation.segments, files))
        #expect(difference(decoder.decodeAll().samples, Self.signal.samples) == nil)
        for frame in [150_000, 0, 199_999, 50_000] {
            try decoder.seek(toFrame: Int64(frame))
            let expected = Self.signal.slice(frame..<min(200_000, frame + 10_000))
            #expect(try difference(decoder.decode(frames: 10_000), expected) == nil, "frame \(frame)")
        }
        #expect(decoder.damage.isEmpty)
    }

    @Test("Shaka Packager: DASH and HLS, one file and segments, by numbers, times and ranges")
    func shaka() throws {
        let source = try Self.signal.ffmpeg(MP4Tests.flac, to: "file.mp4")
        let outputs = [
            "output=out.mp4,playlist_name=audio.m3u8",
            "init_segment=init.mp4,segment_template=$Number$.m4s,playlist_name=audio.m3u8",
            "init_segment=init.mp4,segment_template=$Number%05d$.m4s,playlist_name=audio.m3u8",
            "init_segment=init.mp4,segment_template=$Time$.m4s,playlist_name=audio.m3u8",
        ]
        for (index, output) in outputs.enumerated() {
            var options = [
                "--segment_duration", "0.5", "--mpd_output", "out.mpd", "--hls_master_playlist_output", "master.m3u8",
            ]
            if index > 0 { options.append("--generate_static_live_mpd") }
            let files = try Packaged(source, output, options).files
            let dash = try Manifest(try #require(files["out.mpd"]), format: .dash, url: "https://h/out.mpd")
            let representation = try PackagedSegments.first(dash)
            #expect(representation.codecs == ["flac"] && representation.sampleRate == 44_100)
            #expect(representation.channelCount == 2 && !dash.isLive)
            try expectSource(dash, files)
            let hls = try Manifest(try #require(files["master.m3u8"]), format: .hls, url: "https://h/master.m3u8")
            #expect(try PackagedSegments.first(hls).codecs == ["flac"])
            try expectSource(hls, files)
        }
    }

    @Test("Shaka Packager: encrypted, with the key's name and the data of the key system")
    func encrypted() throws {
        let source = try Self.signal.ffmpeg(MP4Tests.flac, to: "file.mp4")
        let files = try Packaged(
            source, "output=out.mp4,playlist_name=audio.m3u8,drm_label=A",
            [
                "--clear_lead", "0", "--mpd_output", "out.mpd", "--hls_master_playlist_output", "master.m3u8",
                "--hls_key_uri", "skd://key",
            ]
                + Packaged.encryption("cbcs")
        ).files
        let dash = try PackagedSegments.first(
            try Manifest(try #require(files["out.mpd"]), format: .dash, url: "https://h/out.mpd"))
        let named = dash.contentProtections.first { $0.scheme == "urn:mpeg:dash:mp4protection:2011" }
        #expect(named?.value == "cbcs" && named?.defaultKeyID == (0...15).map { UInt8($0 * 0x11) })
        let system = dash.contentProtections.first { $0.initializationData != nil }
        #expect(system?.initializationData?[4..<8].elementsEqual("pssh".utf8) == true)
        let playlist = try MediaPlaylist(try #require(files["audio.m3u8"]), url: "https://h/audio.m3u8")
        #expect(playlist.segments.segments.contains { $0.protections.contains { $0.value == "SAMPLE-AES" } })
    }

    @Test("ffmpeg: DASH by time and by number, HLS with ranges of one file and with files")
    func ffmpeg() throws {
        let cases: [(String, [String])] = [
            ("out.mpd", ["-seg_duration", "0.5"]), ("out.mpd", ["-seg_duration", "0.5", "-use_timeline", "0"]),
            ("out.mpd", ["-seg_duration", "0.5", "-single_file", "1"]),
            ("out.m3u8", ["-hls_time", "0.5", "-hls_segment_type", "fmp4", "-hls_playlist_type", "vod"]),
            (
                "out.m3u8",
                [
                    "-hls_time", "0.5", "-hls_segment_type", "fmp4", "-hls_playlist_type", "vod", "-hls_flags",
                    "single_file",
                ]
            ),
        ]
        for (name, options) in cases {
            let files = try Self.signal.ffmpegFiles(MP4Tests.flac + options, to: name)
            let manifest = try Manifest(
                try #require(files[name]), format: name == "out.mpd" ? .dash : .hls, url: "https://h/\(name)")
            try expectSource(manifest, files)
        }
    }
}

extension Signal {
    /// All the files that ffmpeg makes.
    fileprivate func ffmpegFiles(_ options: [String], to name: String) throws -> [String: [UInt8]] {
        try withTemporaryFolder { folder in
            try Data(extensibleWAV).write(to: folder.appendingPathComponent("input.wav"))
            try Tool.ffmpeg.run(["-loglevel", "error", "-y", "-i", "input.wav"] + options + [name], in: folder)
            var files: [String: [UInt8]] = [:]
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                files[name] = Array(try Data(contentsOf: folder.appendingPathComponent(name)))
            }
            return files
        }
    }
}
