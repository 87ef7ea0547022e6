import Foundation
import Platform
import TestSupport
import Testing

/// The addresses and durations of a manifest with segments.
private struct SegmentList {
    var initialization: String
    var media: [String]
    /// Samples of all segments.
    var samples: Int

    /// - Parameter manifest: an MPD as the origin writes it.
    init(mpd: String) throws {
        func attribute(_ name: String, _ text: Substring) throws -> String {
            guard let start = text.range(of: " \(name)=\"")?.upperBound,
                let end = text[start...].firstIndex(of: "\"")
            else { throw Unexpected("no \(name) in: \(text)") }
            return String(text[start..<end])
        }
        guard let place = mpd.range(of: "<SegmentTemplate")?.lowerBound else {
            throw Unexpected("no template in: \(mpd)")
        }
        let template = mpd[place...]
        initialization = try attribute("initialization", template)
        let address = try attribute("media", template)
        samples = 0
        var count = 0
        for line in template.split(separator: "\n") where line.contains("<S ") {
            let runs = line.contains(" r=") ? try #require(Int(attribute("r", line))) + 1 : 1
            samples += runs * (try #require(Int(attribute("d", line))))
            count += runs
        }
        media = (1...count).map { address.replacing("$Number$", with: "\($0)") }
    }

    init(hls: String, rate: Int) throws {
        let lines = hls.split(separator: "\n")
        let map = try #require(lines.first { $0.hasPrefix("#EXT-X-MAP:URI=\"") })
        initialization = String(map.dropFirst("#EXT-X-MAP:URI=\"".count).dropLast())
        media = lines.filter { !$0.hasPrefix("#") }.map(String.init)
        let seconds = lines.filter { $0.hasPrefix("#EXTINF:") }.compactMap { Double($0.dropFirst(8).dropLast()) }
        samples = Int((seconds.reduce(0, +) * Double(rate)).rounded())
    }

    /// All of it, as a player puts it together.
    func joined() throws -> [UInt8] {
        try ([initialization] + media).flatMap { address in
            let answer = try Fetched(address)
            #expect(answer.status == 200 && answer.headers["content-type"] == "audio/mp4")
            #expect(answer.headers["etag"] != nil && answer.headers["last-modified"] != nil)
            return answer.body
        }
    }
}

@Suite("The origin's manifests lead to the source's samples")
struct ManifestTests {
    struct Source: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var music: Music
        var options: [String] = []
        var quality = "LOSSLESS"
        var name: String
    }

    static let sources = [
        Source(testDescription: "CD", music: Music(), name: "FLAC,44100,16"),
        Source(
            testDescription: "24 bits at 96 kHz", music: Music(rate: 96_000, depth: 24), quality: "HI_RES_LOSSLESS",
            name: "FLAC_HIRES,96000,24"),
        Source(
            testDescription: "16 bits at 192 kHz", music: Music(rate: 192_000), quality: "HI_RES_LOSSLESS",
            name: "FLAC_HIRES,192000,16"),
        Source(
            testDescription: "mono of 8 kHz in blocks of 192", music: Music(frames: 100_001, rate: 8000, channels: 1),
            options: ["-b192"], name: "FLAC,8000,16"),
        Source(
            testDescription: "six channels", music: Music(frames: 200_000, rate: 48_000, channels: 6),
            options: ["--channel-map=none"], name: "FLAC,48000,16"),
        Source(testDescription: "less than a block", music: Music(frames: 100), name: "FLAC,44100,16"),
    ]

    private func serve(_ source: Source, _ folder: ScratchFolder) throws -> RunningOrigin {
        try FileManager.default.createDirectory(atPath: folder["music"], withIntermediateDirectories: true)
        try source.music.writeFLAC(to: folder["music/track.flac"], source.options)
        return try RunningOrigin(folder["music"], state: folder["state"])
    }

    @Test("DASH", arguments: sources)
    func dash(source: Source) throws {
        let folder = try ScratchFolder()
        let origin = try serve(source, folder)
        let info = try Fetched("\(origin.address)/v1/tracks/1/playbackinfo?audioquality=HI_RES_LOSSLESS")
        #expect(try info.json()["manifestMimeType"]?.string == "application/dash+xml")
        #expect(try info.json()["audioQuality"]?.string == source.quality)
        #expect(try info.json()["sampleRate"]?.integer == Int64(source.music.rate))
        #expect(try info.json()["bitDepth"]?.integer == Int64(source.music.depth))
        let manifest = try info.manifest()
        #expect(manifest.contains("<Representation id=\"\(source.name)\" codecs=\"flac\""))
        let segments = try SegmentList(mpd: manifest)
        #expect(segments.samples == source.music.frames)
        let joined = try segments.joined()
        #expect(try source.music.decoded(joined, name: "joined.mp4") == source.music.samples())
        // The same bytes the next time, and after a restart.
        #expect(try segments.joined() == joined)
        try origin.end()
        let again = try RunningOrigin(folder["music"], state: folder["state"])
        let other = try SegmentList(mpd: try Fetched("\(again.address)/v1/tracks/1/playbackinfo").manifest())
        #expect(try other.joined() == joined)
    }

    @Test("HLS, in playbackinfo and behind an address", arguments: ["hls", "emu"])
    func hls(kind: String) throws {
        let (source, folder) = (Self.sources[0], try ScratchFolder())
        let origin = try serve(source, folder)
        let info = try Fetched("\(origin.address)/v1/tracks/1/playbackinfo?manifest=\(kind)")
        var playlist = try info.manifest()
        if kind == "emu" {
            #expect(try info.json()["manifestMimeType"]?.string == "application/vnd.tidal.emu")
            let manifest = try JSONValue.parse(playlist)
            #expect(manifest["mimeType"]?.string == "application/vnd.apple.mpegurl")
            let answer = try Fetched(try #require(manifest["urls"]?[0]?.string))
            #expect(answer.headers["content-type"] == "application/vnd.apple.mpegurl")
            #expect(answer.headers["cache-control"] == "no-store")
            playlist = answer.text
        } else {
            #expect(try info.json()["manifestMimeType"]?.string == "application/vnd.apple.mpegurl")
        }
        let segments = try SegmentList(hls: playlist, rate: source.music.rate)
        #expect(segments.samples == source.music.frames)
        #expect(try source.music.decoded(segments.joined(), name: "joined.mp4") == source.music.samples())
    }

    @Test("ffmpeg plays the playlist from the server")
    func playedByFFmpeg() throws {
        let (source, folder) = (Self.sources[0], try ScratchFolder())
        let origin = try serve(source, folder)
        let manifest = try Fetched("\(origin.address)/v1/tracks/1/playbackinfo?manifest=emu").manifest()
        let address = try #require(try JSONValue.parse(manifest)["urls"]?[0]?.string)
        try run("/usr/bin/ffmpeg", ["-loglevel", "error", "-i", address, "-f", "s16le", folder["decoded"]])
        #expect(Array(try Data(contentsOf: URL(fileURLWithPath: folder["decoded"]))) == source.music.samples())
    }

    @Test("BTS: the file as it is", arguments: ["flac", "wav", "aiff"])
    func bts(ending: String) throws {
        let folder = try ScratchFolder()
        let path = folder["track.\(ending)"]
        let music = Music(frames: 50_000)
        if ending == "flac" { try music.writeFLAC(to: path) } else { try music.write(to: path) }
        let origin = try RunningOrigin(folder.path, state: folder["state"], "--manifest", "bts")
        let manifest = try JSONValue.parse(try Fetched("\(origin.address)/v1/tracks/1/playbackinfo").manifest())
        #expect(manifest["encryptionType"]?.string == "NONE" && manifest["mimeType"]?.string == "audio/\(ending)")
        #expect(manifest["codecs"]?.string == (ending == "flac" ? "flac" : "pcm"))
        let address = try #require(manifest["urls"]?[0]?.string)
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        let whole = try Fetched(address)
        #expect(whole.body == bytes && whole.headers["accept-ranges"] == "bytes")
        let part = try Fetched(address, "-r", "1000-1999")
        #expect(part.status == 206 && part.body == Array(bytes[1000..<2000]))
        #expect(part.headers["content-range"] == "bytes 1000-1999/\(bytes.count)")
        let tag = try #require(whole.headers["etag"])
        #expect(try Fetched(address, "-H", "If-None-Match: \(tag)").status == 304)
        #expect(try Fetched(address, "-r", "5-", "-H", "If-Range: \"other\"").body == bytes)
        #expect(try Fetched(address, "-r", "\(bytes.count)-").status == 416)
    }

    @Test("WAV has no frames to put into segments: BTS whatever was asked", arguments: ["dash", "hls", "emu"])
    func withoutFrames(kind: String) throws {
        let folder = try ScratchFolder()
        try Music(frames: 1000).write(to: folder["track.wav"])
        let origin = try RunningOrigin(folder.path, state: folder["state"])
        let info = try Fetched("\(origin.address)/v1/tracks/1/playbackinfo?manifest=\(kind)")
        #expect(try info.json()["manifestMimeType"]?.string == "application/vnd.tidal.bts")
    }

    @Test("Damaged FLAC is served as it is")
    func damaged() throws {
        let folder = try ScratchFolder()
        try Music(frames: 50_000).writeFLAC(to: folder["track.flac"])
        var bytes = try Data(contentsOf: URL(fileURLWithPath: folder["track.flac"]))
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(fileURLWithPath: folder["track.flac"]))
        let origin = try RunningOrigin(folder.path, state: folder["state"])
        let info = try Fetched("\(origin.address)/v1/tracks/1/playbackinfo")
        #expect(try info.json()["manifestMimeType"]?.string == "application/vnd.tidal.bts")
        let address = try #require(try JSONValue.parse(try info.manifest())["urls"]?[0]?.string)
        #expect(try Fetched(address).body == Array(bytes))
        let segment = address.replacing("file.flac", with: "1.mp4")
        #expect(try Fetched(segment).status == 404)
    }
}
