import Foundation
import HTTPServer
import Library
import Platform
import TestSupport
import Testing

@testable import OriginService

/// The qualities LOW and HIGH, and encrypted content: `tonearm play` or ffmpeg on one side, the origin on the other.
@Suite("The origin's AAC and its encryption")
struct EncodedTests {
    private let folder: ScratchFolder
    private let music = Music(frames: 300_001, seed: 4)

    init() throws {
        folder = try ScratchFolder()
        try FileManager.default.createDirectory(atPath: folder["music"], withIntermediateDirectories: true)
        try music.writeFLAC(to: folder["music/1.flac"])
    }

    private func start(_ options: [String]) throws -> RunningOrigin {
        try RunningOrigin(folder["music"], state: folder["state"], options: options)
    }

    private func info(_ origin: RunningOrigin, _ quality: String, _ manifest: String = "dash") throws -> Fetched {
        try Fetched("\(origin.address)/v1/tracks/1/playbackinfo?audioquality=\(quality)&manifest=\(manifest)")
    }

    /// The samples that `tonearm play` writes to a device of 16 bits.
    private func played(_ arguments: [String]) throws -> [UInt8] {
        let result = try TestProcess.run(
            TestProcess.path(of: "tonearm"),
            ["play", "--device", "file:FILE=\(folder["out"]),FORMAT=raw", "--format", "S16_LE"] + arguments,
            environment: Sanitizer.environment.merging(["XDG_STATE_HOME": folder["home"]]) { $1 }, output: .null)
        #expect(result.code == 0, "\(result.errors)")
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder["out"])))
    }

    /// All of it in one file, as a player puts it together.
    private func joined(_ info: Fetched) throws -> [UInt8] {
        let template = try info.manifest()
        func attribute(_ name: String) throws -> String {
            let start = try #require(template.range(of: " \(name)=\"")).upperBound
            return String(template[start...].prefix { $0 != "\"" })
        }
        var bytes = try Fetched(try attribute("initialization")).body
        let media = try attribute("media")
        var number = 1
        while true {
            let answer = try Fetched(media.replacing("$Number$", with: "\(number)"))
            if answer.status == 404 { return bytes }
            bytes += answer.body
            number += 1
        }
    }

    private func values(_ bytes: [UInt8]) -> [Double] {
        stride(from: 0, to: bytes.count - 1, by: 2).map {
            Double(Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8))
        }
    }

    /// The energy of the difference, as a part of the signal's.
    private func difference(_ one: [UInt8], _ other: [UInt8]) -> Double {
        let (one, other) = (values(one), values(other))
        let wrong = zip(one, other).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
        return wrong / other.reduce(1) { $0 + $1 * $1 }
    }

    @Test(
        "LOW and HIGH are AAC, and what is heard is as long as the original and in its place",
        arguments: ["LOW", "HIGH"])
    func aac(quality: String) throws {
        let origin = try start([])
        let info = try info(origin, quality)
        let json = try info.json()
        #expect(json["audioQuality"]?.string == quality)
        #expect(json["sampleRate"]?.integer == 44_100)
        #expect(try info.manifest().contains("codecs=\"mp4a.40.2\""))
        let file = try joined(info)
        let size = quality == "LOW" ? 96_000 / 8 : 320_000 / 8
        #expect(file.count < size * 8, "the length is 6.8 s")
        try Data(file).write(to: URL(fileURLWithPath: folder["joined.mp4"]))
        let heard = try played([folder["joined.mp4"]])
        #expect(heard.count == music.samples().count, "to the frame")
        // Frames at another position would differ by twice the energy.
        #expect(difference(heard, music.samples()) < 0.5)
        // Encoded once: the same bytes.
        #expect(try joined(try self.info(origin, quality)) == file)
        try origin.end()
        let again = try start(["--ffmpeg", "/usr/bin/ffmpeg"])
        #expect(try joined(try self.info(again, quality)) == file)
    }

    @Test("Without ffmpeg, and for more than two channels, LOW is answered with LOSSLESS")
    func lossless() throws {
        let origin = try start(["--ffmpeg", "none"])
        #expect(try info(origin, "LOW").json()["audioQuality"]?.string == "LOSSLESS")
        try Music(frames: 10_000, rate: 48_000, channels: 6).writeFLAC(
            to: folder["music/1.flac"], ["--channel-map=none"])
        let other = try RunningOrigin(folder["music"], state: folder["other"])
        #expect(try info(other, "LOW").json()["audioQuality"]?.string == "LOSSLESS")
        let broken = try RunningOrigin(folder["music"], state: folder["third"], "--ffmpeg", "/bin/false")
        #expect(try info(broken, "HIGH").json()["audioQuality"]?.string == "LOSSLESS")
        // No file remains of an attempt.
        try write(ffmpeg: "for file; do :; done; echo half > \"$file\"; exit 1")
        let failing = try RunningOrigin(folder["music"], state: folder["fourth"], "--ffmpeg", folder["ffmpeg"])
        #expect(try info(failing, "HIGH").json()["audioQuality"]?.string == "LOSSLESS")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder["fourth/encoded"]).isEmpty)
    }

    /// Installs a program that replaces ffmpeg.
    private func write(ffmpeg lines: String) throws {
        let script = "#!/bin/sh\n\(lines)\nexec /usr/bin/ffmpeg \"$@\"\n"
        try script.write(toFile: folder["ffmpeg"], atomically: true, encoding: .utf8)
        chmod(folder["ffmpeg"], 0o755)
    }

    @Test("While one track is encoded, those that are encoded are served")
    func meanwhile() throws {
        // Once these pipes exist, it reports through one that it runs, and continues when the other allows it.
        let (gate, news) = (folder["gate"], folder["news"])
        try write(ffmpeg: "if [ -p '\(gate)' ]; then echo > '\(news)'; read -r line < '\(gate)'; fi")
        try Music(frames: 100_000, seed: 5).writeFLAC(to: folder["music/2.flac"])
        let origin = try start(["--ffmpeg", folder["ffmpeg"]])
        let first = try info(origin, "LOW")
        #expect(try first.json()["audioQuality"]?.string == "LOW")
        let track = try joined(first)

        try #require(mkfifo(news, 0o600) == 0 && mkfifo(gate, 0o600) == 0)
        let second = try TestProcess(
            "/usr/bin/curl",
            [
                "-sS", "--noproxy", "*", "-o", folder["second"],
                "\(origin.address)/v1/tracks/2/playbackinfo?audioquality=LOW",
            ])
        func letGo() throws {
            // For reading too: that does not wait for a reader.
            let pipe = try #require(FileHandle(forUpdatingAtPath: gate))
            try pipe.write(contentsOf: Data("\n".utf8))
            try second.waitUntilExit()
        }
        close(try openForReading(namedPipe: news, "the encoder"))
        let address = "\(origin.address)/v1/tracks/1/playbackinfo?audioquality=LOW"
        // The limit is for an origin that does wait.
        let answer = Result { try Fetched(address, "--max-time", "60") }
        #expect(second.isRunning, "it is still encoded")
        if case .success(let info) = answer { #expect(try joined(info) == track) }
        try letGo()
        #expect(try answer.get().json()["audioQuality"]?.string == "LOW")
        let other = try JSONValue.parse(try String(contentsOfFile: folder["second"], encoding: .utf8))
        #expect(other["audioQuality"]?.string == "LOW")
    }

    @Test("Clients that request one track at once get one encoding of it")
    func once() throws {
        try write(ffmpeg: "echo start >> '\(folder["log"])'")
        let origin = try start(["--ffmpeg", folder["ffmpeg"]])
        var arguments = ["-sS", "--noproxy", "*", "--parallel", "--parallel-immediate"]
        for index in 0..<8 {
            arguments += [
                "-o", folder["\(index)"], "\(origin.address)/v1/tracks/1/playbackinfo?audioquality=HIGH",
            ]
        }
        try run("/usr/bin/curl", arguments)
        for index in 0..<8 {
            let answer = try String(contentsOfFile: folder["\(index)"], encoding: .utf8)
            #expect(try JSONValue.parse(answer)["audioQuality"]?.string == "HIGH")
        }
        #expect(try String(contentsOfFile: folder["log"], encoding: .utf8) == "start\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder["state/encoded"]).count == 1)
    }

    @Test("A manifest and the first segments need no more of the encoder than they have")
    func progressive() throws {
        // 70 s, of which the encoder has given ten when it stops until it is let.
        let gate = folder["gate"]
        try write(
            ffmpeg: """
                mkfifo '\(gate)'
                /usr/bin/ffmpeg "$@" >'\(folder["whole"])'
                size=$(stat -c %s '\(folder["whole"])')
                head -c $((size / 7)) '\(folder["whole"])'
                read -r line < '\(gate)'
                tail -c +$((size / 7 + 1)) '\(folder["whole"])'
                exit
                """)
        try Music(frames: 44_100 * 70, seed: 9).writeFLAC(to: folder["music/1.flac"])
        let origin = try start(["--ffmpeg", folder["ffmpeg"]])
        let first = try info(origin, "HIGH")
        let manifest = try first.manifest()
        #expect(try first.json()["audioQuality"]?.string == "HIGH")
        #expect(manifest.contains("mediaPresentationDuration=\"PT70.000S\""))
        let start = try #require(manifest.range(of: " media=\"")).upperBound
        let media = String(manifest[start...].prefix { $0 != "\"" })
        let segments = try (1...2).map { try Fetched(media.replacing("$Number$", with: "\($0)")).body }
        #expect(segments.allSatisfy { $0.count > 100_000 })
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder["state/encoded"])[0].hasSuffix(".new"))
        let pipe = try #require(FileHandle(forUpdatingAtPath: gate))
        try pipe.write(contentsOf: Data("\n".utf8))
        let all = try joined(first)
        #expect(all.count > 70 * 320_000 / 8 * 9 / 10)
        #expect(try info(origin, "HIGH").manifest().contains("PT70.000S"), "the same after it is encoded")
    }

    @Test("FLAC in MP4 with its tables behind the music is encoded")
    func tablesAtTheEnd() throws {
        try FileManager.default.removeItem(atPath: folder["music/1.flac"])
        // Longer than the part of a pipe that ffmpeg holds.
        try Music(frames: 600_000, seed: 6).write(
            to: folder["music/1.m4a"], ["-c:a", "flac", "-strict", "experimental", "-f", "mp4"])
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder["music/1.m4a"]))
        let (tables, content) = (bytes.range(of: Data("moov".utf8)), bytes.range(of: Data("mdat".utf8)))
        #expect(try #require(tables).lowerBound > (try #require(content).lowerBound))
        let origin = try start([])
        let info = try info(origin, "LOW")
        #expect(try info.json()["audioQuality"]?.string == "LOW")
        #expect(try joined(info).count > 96_000 / 8 * 8)
    }

    @Test("A track that could not be encoded is not tried again for each request")
    func failure() throws {
        try write(ffmpeg: "echo start >> '\(folder["log"])'; exit 1")
        let origin = try start(["--ffmpeg", folder["ffmpeg"]])
        for _ in 0..<3 { #expect(try info(origin, "LOW").json()["audioQuality"]?.string == "LOSSLESS") }
        #expect(try String(contentsOfFile: folder["log"], encoding: .utf8) == "start\n")
    }

    @Test("A failed encoding is tried again after an hour, and forgotten then, also of a file that has changed")
    func failureEnds() throws {
        try write(ffmpeg: "echo start >> '\(folder["log"])'; exit 1")
        let clock = ManualClock()
        let encoded = try EncodedTracks(
            program: folder["ffmpeg"], folder: folder["encoded"], limit: 1 << 20, clock: clock)
        let origin = try ContentOrigin(musicFolder: folder["music"], stateFolder: folder["state"])
        let index = try MusicIndex(in: folder["state"])
        func attempts(_ quality: EncodedQuality) throws -> Int {
            _ = try origin.scan()
            let track = try #require(try index.track(1))
            #expect(encoded.track(track, quality, from: try OpenedFile(track.path), nil) == nil)
            return try String(contentsOfFile: folder["log"], encoding: .utf8).split(separator: "\n").count
        }
        #expect(try attempts(.low) == 1)
        #expect(try attempts(.low) == 1)
        #expect(try attempts(.high) == 2)
        try Music(frames: 5000, seed: 5).writeFLAC(to: folder["music/1.flac"])
        clock.advance(by: 1)
        #expect(try attempts(.high) == 3)
        #expect(encoded.failureCount == 3)
        clock.advance(by: 3_600_000_000_000 - 1)
        #expect(try attempts(.high) == 3)
        #expect(encoded.failureCount == 1, "those of the file as it was are forgotten")
        clock.advance(by: 1)
        #expect(try attempts(.high) == 4)
        #expect(encoded.failureCount == 1)
    }

    @Test("Encoded tracks stay below their limit")
    func limit() throws {
        let origin = try start(["--encoded-limit", "0"])
        #expect(try info(origin, "LOW").status == 200)
        #expect(try info(origin, "HIGH").status == 200)
        let kept = try FileManager.default.contentsOfDirectory(atPath: folder["state/encoded"])
        #expect(kept.count == 1 && kept[0].hasSuffix("-high.aac"), "the one in use alone")
    }

    @Test("Encrypted FLAC plays bit by bit, by each kind of manifest", arguments: ["dash", "hls", "emu", "bts"])
    func encrypted(manifest: String) throws {
        let origin = try start(["--encrypt", "cbcs", "--manifest", manifest])
        #expect(try played(["--service", origin.address, "tonearm:track/1"]) == music.samples())
    }

    @Test(
        "The license server gives the key to who has the playbackinfo, and ffmpeg decrypts with it",
        arguments: ["LOSSLESS", "HIGH"])
    func license(quality: String) throws {
        let origin = try start(["--encrypt", "cbcs"])
        let info = try info(origin, quality)
        let json = try info.json()
        #expect(json["licenseSecurityToken"]?.string != nil)
        let manifest = try info.manifest()
        let (address, request) = try info.licenseRequest()
        let key = try Fetched(address, "-d", request).contentKey()
        #expect(key.count == 16)

        let file = try joined(info)
        try Data(file).write(to: URL(fileURLWithPath: folder["joined.mp4"]))
        let options = ["-loglevel", "error", "-y", "-decryption_key", hexadecimal(key), "-i", folder["joined.mp4"]]
        try run("/usr/bin/ffmpeg", options + ["-f", "s16le", folder["decoded"]])
        let decoded = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder["decoded"])))
        if quality == "LOSSLESS" {
            #expect(decoded == music.samples())
        } else {
            // In fragments, ffmpeg does not follow the edit list: the encoder's first frame is heard.
            #expect(difference(Array(decoded.dropFirst(1024 * 4)), music.samples()) < 0.5)
        }

        #expect(try Fetched(address.replacing("token=", with: "token=1"), "-d", request).status == 403)
        #expect(try Fetched(address).status == 405)
        #expect(try Fetched(address, "-d", "{}").status == 400)
        #expect(try Fetched(address, "-d", "{\"kids\":[\"AAAA\"]}").json()["keys"]?.elements?.count == 0)
        // The same content is not served in the clear.
        let first = try #require(manifest.range(of: "initialization=\"")).upperBound
        let initialization = String(manifest[first...].prefix { $0 != "\"" })
        let prefix = quality == "HIGH" ? "high-cbcs-init.mp4" : "cbcs-init.mp4"
        for name in ["init.mp4", "high-init.mp4", "file.flac"] {
            #expect(try Fetched(initialization.replacing(prefix, with: name)).status == 404)
        }
    }
}
