import Foundation
import Platform
import ProgramTestSupport
import TestSupport
import Testing

/// The daemon and its command line on one side, the origin on the other, as a person uses them
/// (docs/playback.md, 16).
@Suite("Keeping an album of the origin", .serialized, .timeLimit(.minutes(10)))
struct KeptAlbumTests {
    private static let token = "the-token-of-a-person"

    private let folder: ScratchFolder
    private let program: Program
    private let album = [
        Music(frames: 90_001, seed: 1), Music(frames: 50_003, seed: 2), Music(frames: 44_100, seed: 3),
    ]
    private let products = ["tonearm:track/1", "tonearm:track/2", "tonearm:track/3"]

    init() throws {
        folder = try ScratchFolder()
        program = try Program()
        try FileManager.default.createDirectory(atPath: folder["music"], withIntermediateDirectories: true)
        for (index, music) in album.enumerated() {
            try music.writeFLAC(
                to: folder["music/\(index + 1).flac"], ["--tag=TITLE=Song \(index + 1)", "--tag=ALBUM=Works"])
        }
        try program.write(Array(Self.token.utf8), to: "token")
    }

    /// - Parameter address: of the origin; the next daemon needs the same, although nothing answers there any more.
    private func daemon(_ address: String) throws -> RunningDaemon {
        try RunningDaemon(
            device: "file:FILE=\(program.folder["out"]),FORMAT=raw",
            settings: """
                [service]
                url = \(address)
                token-file = \(program.folder["token"])
                [offline]
                free-space = 0
                [log]
                level = debug
                """, in: program)
    }

    private func origin(_ options: [String]) throws -> RunningOrigin {
        try RunningOrigin(folder["music"], state: folder["state"], options: options)
    }

    /// Keeps all three, and waits until they are kept.
    private func keep(_ daemon: RunningDaemon) throws {
        let answer = try daemon.run(["offline", "add"] + products)
        #expect(answer.code == 0, "\(answer.errors)")
        let watch = try daemon.run("offline", "status", "--watch", "--json")
        #expect(try watch.json().last?["kept"]?.integer == 3, "\(watch.output) \(watch.errors)")
    }

    /// Plays all three to their end.
    private func play(_ daemon: RunningDaemon) throws {
        let watch = try daemon.watch()
        let answer = try daemon.run(["queue", "set", "--play"] + products)
        #expect(answer.code == 0, "\(answer.errors)")
        try watch.line { $0["event"]?.string == "state" && $0["state"]?.string == "playing" }
        try watch.line { $0["event"]?.string == "state" && $0["state"]?.string == "stopped" }
        watch.send(SIGTERM)
        _ = try watch.finish()
    }

    @Test(
        "It plays without the service and after a restart, bit for bit and without a gap",
        arguments: [
            ["--manifest", "dash"], ["--manifest", "hls"], ["--manifest", "emu"], ["--manifest", "bts"],
            ["--encrypt", "cbcs", "--manifest", "dash"], ["--encrypt", "cbcs", "--manifest", "hls"],
            ["--encrypt", "cbcs", "--manifest", "bts"],
        ])
    func plays(_ options: [String]) throws {
        let origin = try origin(options)
        let first = try daemon(origin.address)
        try keep(first)
        let list = try first.run("offline", "list", "--json").json()
        let entries = try #require(list.last?["entries"]?.elements)
        #expect(entries.map { $0["product"]?.string } == products)
        #expect(entries.allSatisfy { $0["state"]?.string == "kept" })
        #expect(try first.end().code == 0)
        origin.end()
        let second = try daemon(origin.address)
        let verified = try second.run(["offline", "verify"] + products)
        #expect(verified.code == 0, "\(verified.errors)")
        // A device that is opened several times.
        #expect(mkfifo(program.folder["out"], 0o600) == 0)
        let end = open(program.folder["out"], O_RDWR)
        let reader = Process()
        reader.executableURL = URL(fileURLWithPath: "/usr/bin/dd")
        reader.arguments = ["status=none", "if=\(program.folder["out"])", "of=\(program.folder["played"])"]
        try reader.run()
        try play(second)
        #expect(try second.end().code == 0)
        close(end)
        reader.waitUntilExit()
        let played = try program.bytes("played")
        // Not in the expectation: the difference of two long arrays takes minutes.
        let isEqual = played == samples(like: played)
        #expect(isEqual, "\(played.count) bytes")
    }

    /// All samples, as wide as the device takes them.
    private func samples(like played: [UInt8]) -> [UInt8] {
        let samples = album.flatMap { $0.samples() }
        guard played.count == 2 * samples.count else { return samples }
        var wide: [UInt8] = []
        wide.reserveCapacity(played.count)
        for index in stride(from: 0, to: samples.count, by: 2) { wide += [0, 0, samples[index], samples[index + 1]] }
        return wide
    }

    @Test("Nothing secret is in a file that others can read, in the log, or in an answer")
    func secrets() throws {
        let origin = try origin(["--encrypt", "cbcs"])
        let daemon = try daemon(origin.address)
        try keep(daemon)
        var told: [Program.Result] = []
        for words in [
            ["offline", "list"], ["offline", "status"], ["status"], ["config", "show"], ["queue", "list"],
            ["offline", "verify"],
        ] {
            told.append(try daemon.run(words))
            told.append(try daemon.run(words + ["--json"]))
        }
        told.append(try daemon.end())
        #expect(told.allSatisfy { $0.code == 0 }, "\(told.map { $0.errors })")
        let key = [UInt8](try Data(contentsOf: URL(fileURLWithPath: program.folder["daemon/device.key"])))
        let secrets = ([Array(Self.token.utf8), key] + (try contentKeys(origin))).flatMap { forms($0) }
        for result in told {
            for secret in secrets {
                #expect(!contains(Array((result.output + result.errors).utf8), secret), "\(result.output)")
            }
        }
        var count = 0
        let state = program.folder["daemon"]
        for name in FileManager.default.enumerator(atPath: state)?.allObjects as? [String] ?? [] {
            let path = "\(state)/\(name)"
            guard FileKind(at: path) == .file else { continue }
            count += 1
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? 0
            #expect(mode & 0o077 == 0, "\(name) can be read by others")
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            for secret in secrets where name != "device.key" { #expect(!contains(bytes, secret), "\(name)") }
        }
        #expect(count > 3)
    }

    /// The keys of the content, as the license server hands them out.
    private func contentKeys(_ origin: RunningOrigin) throws -> [[UInt8]] {
        try products.indices.map { index in
            let quality = "audioquality=LOSSLESS&manifest=dash"
            let info = try Fetched("\(origin.address)/v1/tracks/\(index + 1)/playbackinfo?\(quality)")
            let (address, request) = try info.licenseRequest()
            return try Fetched(address, "-d", request).contentKey()
        }
    }

    /// A secret as it is, and as text would have it.
    private func forms(_ secret: [UInt8]) -> [[UInt8]] {
        let base64 = Data(secret).base64EncodedString().filter { $0 != "=" }
        return [secret, Array(hexadecimal(secret).utf8), Array(base64.utf8)]
    }

    private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        Data(bytes).range(of: Data(part)) != nil
    }
}
