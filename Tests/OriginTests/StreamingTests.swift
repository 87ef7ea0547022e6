import Foundation
import Platform
import TestSupport
import Testing

/// `tonearm play` on one side, the origin on the other, TCP between them.
@Suite("Streaming from the origin")
struct StreamingTests {
    private let folder: ScratchFolder
    private let album = [
        Music(frames: 150_001, seed: 1), Music(frames: 100_003, seed: 2), Music(frames: 44_100, seed: 3),
    ]
    private var samples: [UInt8] { album.flatMap { $0.samples() } }

    init() throws {
        folder = try ScratchFolder()
        try FileManager.default.createDirectory(atPath: folder["music"], withIntermediateDirectories: true)
        for (index, music) in album.enumerated() { try music.writeFLAC(to: folder["music/\(index + 1).flac"]) }
    }

    private func start(_ manifest: String) throws -> RunningOrigin {
        try RunningOrigin(folder["music"], state: folder["state"], "--manifest", manifest)
    }

    private struct Ending {
        var code: Int32
        var errors: String
        var samples: [UInt8]
    }

    /// Plays products of the service at `address` to a file.
    private func play(_ address: String, _ options: [String] = [], _ products: [Int] = [1, 2, 3]) throws -> Ending {
        try? FileManager.default.removeItem(atPath: folder["out"])
        let result = try TestProcess.run(
            TestProcess.path(of: "tonearm"),
            ["play", "--device", "file:FILE=\(folder["out"]),FORMAT=raw", "--format", "S16_LE", "--service", address]
                + options + products.map { "tonearm:track/\($0)" },
            environment: Sanitizer.environment.merging(["XDG_STATE_HOME": folder["home"]]) { $1 }, output: .null)
        let samples = (try? Data(contentsOf: URL(fileURLWithPath: folder["out"]))).map { [UInt8]($0) } ?? []
        return Ending(code: result.code, errors: result.errors, samples: samples)
    }

    @Test(
        "An album comes out bit by bit and without gaps, by each kind of manifest",
        arguments: ["dash", "hls", "emu", "bts"])
    func album(manifest: String) throws {
        let origin = try start(manifest)
        let ending = try play(origin.address)
        #expect(ending.code == 0, "\(ending.errors)")
        #expect(ending.samples == samples)
    }

    @Test("Another device takes over: what was played stays, the reason is told, and nobody waits for a key")
    func takenOver() throws {
        try "[fault other]\npath = /v1/tracks/2/playbackinfo\nstatus = 403\nsub-status = 4006\n".write(
            toFile: folder["faults"], atomically: true, encoding: .utf8)
        let origin = try RunningOrigin(folder["music"], state: folder["state"], "--faults", folder["faults"])
        for options in [[], ["--json"]] {
            let ending = try play(origin.address, options)
            #expect(ending.code == 1)
            #expect(ending.errors == "tonearm: another device plays with the same subscription\n")
            #expect(ending.samples == album[0].samples())
        }
    }

    @Test("A line that breaks again and again costs no frame", arguments: ["dash", "bts"])
    func cuts(manifest: String) throws {
        let origin = try start(manifest)
        let port = try #require(origin.address.split(separator: ":").last.flatMap { Int($0) })
        let line = CutLine(to: port, pieces: [100, 5000, 70_000, 33_333, 150_000], refusals: 1)
        defer { line.end() }
        let ending = try play("http://127.0.0.1:\(line.port)")
        #expect(ending.code == 0, "\(ending.errors)")
        #expect(ending.samples == samples)
        #expect(line.cutCount == 5, "the content goes through the line")
    }

    @Test("TLS with a private authority and a token; without either the error says what to do")
    func authorities() throws {
        try run(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                folder["key"], "-out", folder["certificate"], "-days", "2", "-subj", "/CN=localhost", "-addext",
                "subjectAltName=DNS:localhost",
            ])
        try "secret\n".write(toFile: folder["token"], atomically: true, encoding: .utf8)
        try "wrong\n".write(toFile: folder["wrong"], atomically: true, encoding: .utf8)
        let origin = try RunningOrigin(
            folder["music"], state: folder["state"], "--tls-certificate", folder["certificate"], "--tls-key",
            folder["key"], "--token", "secret")
        let port = try #require(origin.address.split(separator: ":").last)
        let address = "https://localhost:\(port)"
        let trust = ["--ca-file", folder["certificate"]]
        let ending = try play(address, trust + ["--token-file", folder["token"]])
        #expect(ending.code == 0, "\(ending.errors)")
        #expect(ending.samples == samples)

        let failures: [(String, [String], [Int], String)] = [
            (address, ["--token-file", folder["token"]], [1], "no known authority"),
            ("https://127.0.0.1:\(port)", trust + ["--token-file", folder["token"]], [1], "another host"),
            (address, trust + ["--token-file", folder["wrong"]], [1], "token-file"),
            (address, trust, [1], "token-file"),
            (address, trust + ["--token-file", folder["token"]], [99], "no such product"),
            (address, trust + ["--token-file", folder["missing"]], [1], "No such file"),
            (address, ["--ca-file", folder["missing"]], [1], "No such file"),
            (address, ["--ca-file", folder["token"]], [1], "no certificate"),
        ]
        for (address, options, products, reason) in failures {
            let ending = try play(address, options, products)
            #expect(ending.code == 1)
            #expect(ending.errors.contains(reason), "\(options): \(ending.errors)")
            #expect(ending.samples.isEmpty)
            #expect(!ending.errors.contains("secret") && !ending.errors.contains("wrong\n"))
        }
    }

    @Test("FLAC in an .m4a file is served as it is, in one piece")
    func mp4() throws {
        try album[0].write(to: folder["music/4.m4a"], ["-c:a", "flac", "-strict", "experimental", "-f", "mp4"])
        let origin = try start("dash")
        let info = try Fetched("\(origin.address)/v1/tracks/4/playbackinfo")
        let manifest = try JSONValue.parse(try info.manifest())
        #expect(manifest["mimeType"]?.string == "audio/mp4" && manifest["codecs"]?.string == "flac")
        let ending = try play(origin.address, [], [4, 1])
        #expect(ending.code == 0, "\(ending.errors)")
        #expect(ending.samples == album[0].samples() + album[0].samples())
    }

    @Test("MP3 is listed, served as it is whatever is asked for, and streams gapless", arguments: ["dash", "bts"])
    func mp3(manifest kind: String) throws {
        let path = folder["music/4.mp3"]
        try album[0].write(to: path, ["-c:a", "libmp3lame", "-q:a", "2", "-metadata", "title=Lossy"])
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let origin = try start(kind)
        let entry = try Fetched("\(origin.address)/v1/tracks/4").json()
        #expect(entry["title"]?.string == "Lossy" && entry["audioQuality"]?.string == "HIGH")
        let info = try Fetched("\(origin.address)/v1/tracks/4/playbackinfo?audioquality=LOW")
        #expect(try info.json()["audioQuality"]?.string == "HIGH")
        let manifest = try JSONValue.parse(try info.manifest())
        #expect(manifest["mimeType"]?.string == "audio/mpeg" && manifest["codecs"]?.string == "mp3")
        #expect(try Fetched(try #require(manifest["urls"]?[0]?.string)).body == bytes)
        let ending = try play(origin.address, [], [4])
        #expect(ending.code == 0, "\(ending.errors)")
        #expect(ending.samples.count == album[0].samples().count, "to the frame")
        #expect(ending.samples.contains { $0 != 0 })
    }

    @Test(
        "Ogg is listed, served as it is, and streams gapless",
        arguments: [("ogg", "libvorbis", "vorbis"), ("opus", "libopus", "opus"), ("oga", "flac", "flac")])
    func ogg(ending name: String, encoder: String, codec: String) throws {
        let path = folder["music/4.\(name)"]
        try album[0].write(to: path, ["-c:a", encoder, "-metadata", "title=Ogg"])
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let origin = try start("bts")
        let entry = try Fetched("\(origin.address)/v1/tracks/4").json()
        #expect(entry["title"]?.string == "Ogg")
        #expect(entry["audioQuality"]?.string == (codec == "flac" ? "LOSSLESS" : "HIGH"))
        let info = try Fetched("\(origin.address)/v1/tracks/4/playbackinfo?audioquality=LOSSLESS")
        let manifest = try JSONValue.parse(try info.manifest())
        #expect(manifest["mimeType"]?.string == "audio/ogg" && manifest["codecs"]?.string == codec)
        #expect(try Fetched(try #require(manifest["urls"]?[0]?.string)).body == bytes)
        let ending = try play(origin.address, [], [4])
        #expect(ending.code == 0, "\(ending.errors)")
        let frames = album[0].samples().count / 4
        // Opus always plays at 48 kHz.
        #expect(ending.samples.count / 4 == (codec == "opus" ? (frames * 48_000 + 44_099) / 44_100 : frames))
        #expect(codec != "flac" || ending.samples == album[0].samples())
        #expect(ending.samples.contains { $0 != 0 })
    }

    #if AAC
        @Test(
            "AAC in an .m4a file is listed, and served as it is whatever is asked for",
            arguments: ["dash", "hls", "emu", "bts"])
        func aac(manifest kind: String) throws {
            let path = folder["music/4.m4a"]
            try album[0].write(to: path, ["-c:a", "aac", "-b:a", "192k", "-metadata", "title=Lossy"])
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            let origin = try start(kind)
            let entry = try Fetched("\(origin.address)/v1/tracks/4").json()
            #expect(entry["title"]?.string == "Lossy" && entry["audioQuality"]?.string == "HIGH")
            for quality in ["LOSSLESS", "HIGH", "LOW"] {
                let info = try Fetched("\(origin.address)/v1/tracks/4/playbackinfo?audioquality=\(quality)")
                let json = try info.json()
                #expect(json["audioQuality"]?.string == "HIGH")
                #expect(json["manifestMimeType"]?.string == "application/vnd.tidal.bts")
                let manifest = try JSONValue.parse(try info.manifest())
                #expect(manifest["mimeType"]?.string == "audio/mp4" && manifest["codecs"]?.string == "mp4a.40.2")
                #expect(try Fetched(try #require(manifest["urls"]?[0]?.string)).body == bytes)
            }
            let ending = try play(origin.address, [], [4])
            #expect(ending.code == 0, "\(ending.errors)")
            #expect(ending.samples.count == album[0].samples().count, "to the frame")
            #expect(ending.samples.contains { $0 != 0 })
        }
    #endif

    @Test("Texts that are no address of a service are refused")
    func wrongAddress() throws {
        let ending = try play("ftp://a")
        #expect(ending.code == 2 && ending.errors.contains("https://"))
    }
}
