import Crypto
import Foundation
import Platform
import ProgramTestSupport
import TestSupport
import Testing

/// The daemon and its command line on one side, the origin on the other, as a person uses them
/// (docs/playback.md, 16).
@Suite("Downloading an album of the origin", .serialized)
struct AlbumDownloadTests {
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

    /// - Parameter address: of the origin. The next daemon needs the same, although no server answers there any more.
    /// - Parameter usesToken: false: a user logs in.
    /// - Parameter more: further sections of the configuration.
    private func daemon(_ address: String, usesToken: Bool = true, more: String = "") throws -> RunningDaemon {
        try RunningDaemon(
            device: "file:FILE=\(program.folder["out"]),FORMAT=raw",
            settings: """
                [service]
                url = \(address)
                \(usesToken ? "token-file = \(program.folder["token"])" : "")
                [offline]
                free-space = 0
                [log]
                level = debug
                \(more)
                """, in: program)
    }

    private func origin(_ options: [String]) throws -> RunningOrigin {
        try RunningOrigin(folder["music"], state: folder["state"], options: options)
    }

    /// Adds all three downloads, and waits until they are complete.
    private func keep(_ daemon: RunningDaemon) throws {
        let answer = try daemon.run(["offline", "add"] + products)
        #expect(answer.code == 0, "\(answer.errors)")
        let watch = try daemon.run("offline", "status", "--watch", "--json")
        #expect(try watch.json().last?["kept"]?.integer == 3, "\(watch.output) \(watch.errors)")
    }

    /// Plays some to their end.
    private func play(_ daemon: RunningDaemon, _ products: [String]? = nil) throws {
        let watch = try daemon.watch()
        let answer = try daemon.run(["queue", "set", "--play"] + (products ?? self.products))
        #expect(answer.code == 0, "\(answer.errors)")
        try watch.line { $0["event"]?.string == "state" && $0["state"]?.string == "playing" }
        try watch.line { $0["event"]?.string == "state" && $0["state"]?.string == "stopped" }
        watch.send(SIGTERM)
        _ = try watch.finish()
    }

    /// Options of the origin: DASH, encrypted, and HLS. The long part `kept-albums` has all kinds of manifest. The
    /// suites of the modules prove how each is read.
    private static let kinds: [[String]] = {
        let encrypted = ["--encrypt", "cbcs", "--manifest"]
        let short = [encrypted + ["dash"], ["--manifest", "hls"]]
        guard ProcessInfo.processInfo.environment["TONEARM_ALL_MANIFESTS"] != nil else { return short }
        return short + ["dash", "emu", "bts"].map { ["--manifest", $0] } + ["hls", "bts"].map { encrypted + [$0] }
    }()

    @Test("It plays without the service and after a restart, bit for bit and without a gap", arguments: kinds)
    func plays(_ options: [String]) throws {
        let origin = try origin(options)
        let first = try daemon(origin.address)
        try keep(first)
        let list = try first.run("offline", "list", "--json").json()
        let entries = try #require(list.last?["entries"]?.elements)
        #expect(entries.map { $0["product"]?.string } == products)
        #expect(entries.allSatisfy { $0["state"]?.string == "kept" })
        #expect(try first.end().code == 0)
        try origin.end()
        let second = try daemon(origin.address)
        let verified = try second.run(["offline", "verify"] + products)
        #expect(verified.code == 0, "\(verified.errors)")
        // A device that is opened several times.
        #expect(mkfifo(program.folder["out"], 0o600) == 0)
        let end = open(program.folder["out"], O_RDWR)
        let reader = try TestProcess(
            "/usr/bin/dd", ["status=none", "if=\(program.folder["out"])", "of=\(program.folder["played"])"])
        try play(second)
        #expect(try second.end().code == 0)
        close(end)
        try reader.waitUntilExit()
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

    @Test("Its cover comes from the service, and of an offline copy without it")
    func cover() throws {
        let picture = Data([0xFF, 0xD8, 0xFF, 0xE0] + [UInt8](repeating: 7, count: 50_000))
        try picture.write(to: URL(fileURLWithPath: folder["music/cover.jpg"]))
        let origin = try origin(["--token", Self.token])
        let port = Loopback.freePorts(1)[0]
        let daemon = try daemon(
            origin.address, more: "[web]\naddress = 127.0.0.1\nport = \(port)\nfolder = \(program.folder.path)")
        func cover(_ product: String) throws -> Fetched {
            try Fetched("http://127.0.0.1:\(port)/api/cover?uri=tonearm:\(product)")
        }
        let album = try cover("album/1")
        #expect(album.status == 200 && album.body == Array(picture), "\(album.text)")
        #expect(album.headers["content-type"] == "image/jpeg")
        #expect(try cover("track/99").status == 404)
        #expect(try daemon.run("offline", "add", products[0]).code == 0)
        let watch = try daemon.run("offline", "status", "--watch", "--json")
        #expect(try watch.json().last?["kept"]?.integer == 1, "\(watch.output) \(watch.errors)")
        try origin.end()
        let copy = try cover("track/1")
        #expect(copy.status == 200 && copy.body == Array(picture), "\(copy.text)")
        let other = try cover("track/2")
        #expect(other.status == 503 && other.headers["retry-after"] == "5", "\(other.text)")
        #expect(try daemon.run("offline", "remove", products[0]).code == 0)
        #expect(try cover("track/1").status == 503)
        #expect(try daemon.end().code == 0)
    }

    @Test("A damaged device key: each answer and the status say what failed and the way out")
    func damagedKey() throws {
        let origin = try origin([])
        try FileManager.default.createDirectory(atPath: program.folder["daemon"], withIntermediateDirectories: true)
        try program.write(Array("x".utf8), to: "daemon/device.key")
        let daemon = try daemon(origin.address)
        for words in [["offline", "list"], ["offline", "status"], ["offline", "add"] + products] {
            let answer = try daemon.run(words)
            #expect(answer.code == 1 && answer.output.isEmpty, "\(answer.output)")
            #expect(answer.errors.contains("device.key") && answer.errors.contains("remove it"), "\(answer.errors)")
            #expect(!answer.errors.contains("no content service"), "\(answer.errors)")
        }
        let status = try #require(try daemon.run("status", "--json").json().first)
        #expect(hasProblem(status, "device.key"), "\(status)")
        #expect(try daemon.end().code == 0)
    }

    @Test("A lost device key is a problem that clients see, and the list says that nothing of it plays")
    func lostKey() throws {
        let origin = try origin([])
        let first = try daemon(origin.address)
        try keep(first)
        #expect(try first.end().code == 0)
        try origin.end()
        try program.remove("daemon/device.key")
        let second = try daemon(origin.address)
        let watch = try program.start(["status", "--watch", "--json", "--socket", second.socket])
        try watch.line { hasProblem($0, "3 offline copies cannot be read") }
        watch.send(SIGTERM)
        _ = try watch.finish()
        let entries = try second.run("offline", "list", "--json").json().last?["entries"]?.elements ?? []
        #expect(entries.map { $0["state"]?.string } == ["damaged", "damaged", "damaged"])
        #expect(try second.end().code == 0)
    }

    /// - Parameter status: or an event.
    private func hasProblem(_ status: JSONValue, _ part: String) -> Bool {
        (status["problems"]?.elements ?? []).contains {
            $0["subject"]?.string == "offline" && $0["message"]?.string?.contains(part) == true
        }
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
        let keys = try contentKeys(origin, products.count, token: Self.token)
        try expectNothing(of: [Array(Self.token.utf8), try deviceKey] + keys, in: told)
    }

    @Test("A session of everything: no secret is told or in a file, also after a failed download and after the logout")
    func tokens() throws {
        let faults = "[fault gone]\npath = /v1/content/3/*\nstatus = 403\n"
        try Data(faults.utf8).write(to: URL(fileURLWithPath: folder["faults"]))
        let origin = try origin(["--encrypt", "cbcs", "--require-login", "--faults", folder["faults"]])
        let daemon = try daemon(origin.address, usesToken: false)
        var told = [try logIn()]
        // Two are streamed, into the cache.
        try play(daemon, Array(products[..<2]))
        #expect(FileKind(at: program.folder["daemon/cache"]) == .folder)
        told.append(try daemon.run(["offline", "add"] + products))
        told.append(try daemon.run("offline", "status", "--watch", "--json"))
        let list = try daemon.run("offline", "list", "--json")
        let states = try list.json().flatMap { $0["entries"]?.elements ?? [] }.map { $0["state"]?.string }
        #expect(states == ["failed", "kept", "kept"], "\(list.output)")
        for command in ["offline list", "offline status", "status", "config show", "offline verify"] {
            let words = command.split(separator: " ").map(String.init)
            told.append(try daemon.run(words))
            told.append(try daemon.run(words + ["--json"]))
        }
        told.append(try daemon.end())
        #expect(told.allSatisfy { $0.code == 0 }, "\(told.map { $0.errors })")
        let login = try loginTokens()
        let keys = try contentKeys(origin, 2, token: login[0])
        let secrets = login.map { Array($0.utf8) } + [try deviceKey] + keys
        try expectNothing(of: secrets, in: told)
        // The state as it is after the end, with the journals of its databases.
        let logout = try program.start(["logout", "--config", "tonearm.conf"]).finish()
        try expectNothing(of: secrets, in: [logout])
    }

    /// - Returns: the output of `tonearm login`.
    private func logIn() throws -> Program.Result {
        let login = try program.start(["login", "--config", "tonearm.conf", "--json"])
        let prompt = try JSONValue.parse(try #require(try login.nextLine()))
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let code = try #require(prompt["code"]?.string)
        try run("\(Folder.containing(tests))/tonearm-origin", ["approve", code, "--state", folder["state"]])
        return try login.finish()
    }

    /// The access token and the refresh token that the daemon has.
    private func loginTokens() throws -> [String] {
        let state = program.folder["daemon"]
        let sealed = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(state)/login.sealed")))
        let key = try DeviceKey.load(folder: state)
        let json = try JSONValue.parse(try key.open(sealed, context: Array("tonearm.login".utf8)))
        return [try #require(json["access"]?.string), try #require(json["refresh"]?.string)]
    }

    private var deviceKey: [UInt8] {
        get throws { [UInt8](try Data(contentsOf: URL(fileURLWithPath: program.folder["daemon/device.key"]))) }
    }

    /// Neither these nor a signature is in an output or in a file; only their owner can read the files.
    private func expectNothing(of plain: [[UInt8]], in told: [Program.Result]) throws {
        let secrets = plain.flatMap { forms($0) }
        for result in told {
            let text = Array((result.output + result.errors).utf8)
            for secret in secrets { #expect(!contains(text, secret), "\(result.output)") }
            #expect(!hasSignature(text), "\(result.output) \(result.errors)")
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
            #expect(!hasSignature(bytes), "\(name)")
        }
        #expect(count > 3)
    }

    /// The keys of the content of the first tracks, as the license server hands them out.
    private func contentKeys(_ origin: RunningOrigin, _ count: Int, token: String) throws -> [[UInt8]] {
        try (1...count).map { number in
            let quality = "audioquality=LOSSLESS&manifest=dash"
            let info = try Fetched(
                "\(origin.address)/v1/tracks/\(number)/playbackinfo?\(quality)", "-H",
                "Authorization: Bearer \(token)")
            // The test searches for the key that the origin gives.
            let signature = try #require(try info.json()["licenseSecurityToken"]?.string)
            #expect(hasSignature(Array(signature.utf8)), "\(signature)")
            let (address, request) = try info.licenseRequest()
            return try Fetched(address, "-d", request).contentKey()
        }
    }

    /// The raw secret, and its forms in text.
    private func forms(_ secret: [UInt8]) -> [[UInt8]] {
        let base64 = Data(secret).base64EncodedString().filter { $0 != "=" }
        return [secret, Array(hexadecimal(secret).utf8), Array(base64.utf8)]
    }

    /// Whether there is a signature of the origin, as addresses and `licenseSecurityToken` have it:
    /// `token=EXPIRY~CODE`. Each answer has another one.
    private func hasSignature(_ bytes: [UInt8]) -> Bool {
        let data = Data(bytes)
        var start = data.startIndex
        while let found = data.range(of: Data("token=".utf8), in: start..<data.endIndex) {
            let digits = data[found.upperBound...].prefix { (48...57).contains($0) }
            if !digits.isEmpty, data[digits.endIndex...].first == UInt8(ascii: "~") { return true }
            start = found.upperBound
        }
        return false
    }

    private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        Data(bytes).range(of: Data(part)) != nil
    }
}
