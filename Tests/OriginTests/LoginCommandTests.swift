import Database
import Foundation
import Platform
import TestSupport
import Testing

@testable import OriginService

/// `tonearm login`, `search`, `queue add --search` and `play` on one side, the origin on the other.
@Suite("Logging in from the command line")
struct LoginCommandTests {
    private let folder: ScratchFolder
    private let album = [Music(frames: 30_001, seed: 1), Music(frames: 20_003, seed: 2)]

    init() throws {
        folder = try ScratchFolder()
        try FileManager.default.createDirectory(atPath: folder["music"], withIntermediateDirectories: true)
        // In the order of the album, and not of the names.
        for (index, music) in album.enumerated() {
            try music.writeFLAC(
                to: folder["music/\(9 - index).flac"],
                [
                    "--tag=TITLE=Song \(index + 1)", "--tag=ARTIST=Änna", "--tag=ALBUM=Works",
                    "--tag=TRACKNUMBER=\(index + 1)",
                ])
        }
    }

    private func start() throws -> RunningOrigin {
        try RunningOrigin(folder["music"], state: folder["state"], "--require-login")
    }

    /// A program of the build, with its own home folder.
    private func process(
        _ name: String, _ words: [String], errors: TestProcess.Stream = .kept
    ) throws -> TestProcess {
        try TestProcess(
            TestProcess.path(of: name), words,
            environment: Sanitizer.environment.merging(["XDG_STATE_HOME": folder["home"]]) { $1 }, errors: errors)
    }

    private struct Ending {
        var code: Int32
        var output: String
        var errors: String
    }

    private func tonearm(_ words: String...) throws -> Ending {
        let result = try process("tonearm", words).finish()
        return Ending(code: result.code, output: result.text, errors: result.errors)
    }

    private func owner(_ words: String...) throws {
        try run(TestProcess.path(of: "tonearm-origin"), words + ["--state", folder["state"]])
    }

    /// Logs in, with the owner's decision.
    private func logIn(_ access: [String], decision: String = "approve") throws -> Ending {
        let process = try process("tonearm", ["login", "--json"] + access)
        let prompt = try JSONValue.parse(try #require(try process.nextLine()))
        #expect(prompt["event"]?.string == "prompt")
        try owner(decision, try #require(prompt["code"]?.string))
        let end = try #require(try process.nextLine())
        let result = try process.finish()
        return Ending(code: result.code, output: end, errors: result.errors)
    }

    private func play(_ origin: RunningOrigin) throws -> (Ending, samples: [UInt8]) {
        try? FileManager.default.removeItem(atPath: folder["out"])
        let ending = try tonearm(
            "play", "--device", "file:FILE=\(folder["out"]),FORMAT=raw", "--format", "S16_LE", "--service",
            origin.address, "tonearm:track/1", "tonearm:track/2")
        return (ending, (try? Data(contentsOf: URL(fileURLWithPath: folder["out"]))).map { [UInt8]($0) } ?? [])
    }

    private var sealed: Data {
        get throws { try Data(contentsOf: URL(fileURLWithPath: folder["home/tonearm/login.sealed"])) }
    }

    @Test("Logged in, refreshed when the token has expired, ended by the owner, logged out")
    func life() throws {
        let origin = try start()
        let before = try play(origin)
        #expect(before.0.code == 1 && before.samples.isEmpty)
        #expect(before.0.errors.contains("tonearm login"))
        let login = try logIn(["--service", origin.address])
        #expect(login.code == 0 && login.output == "{\"event\":\"done\"}" && login.errors.isEmpty)
        // Numbers are in the order of the names of the files.
        let samples = album[1].samples() + album[0].samples()
        #expect(try play(origin).samples == samples)

        let first = try sealed
        try IssuedLogins(in: folder["state"]).transaction { (database) throws(DatabaseError) in
            try database.execute("UPDATE token SET expires = 1 WHERE NOT is_refresh")
        }
        let refreshed = try play(origin)
        #expect(refreshed.0.code == 0 && refreshed.0.errors.isEmpty && refreshed.samples == samples)
        #expect(try sealed != first)
        let second = try sealed
        #expect(try play(origin).samples == samples)
        #expect(try sealed == second)

        try owner("logout", "1")
        let refused = try play(origin)
        #expect(refused.0.code == 1 && refused.samples.isEmpty)
        #expect(refused.0.errors.contains("Log in again with `tonearm login`"))
        let logout = try tonearm("logout", "--service", origin.address)
        #expect(logout.code == 0 && logout.output == "Logged out.\n")
        #expect(try tonearm("logout", "--service", origin.address).output == "Nobody was logged in.\n")
        #expect(FileManager.default.fileExists(atPath: folder["home/tonearm/login.sealed"]) == false)
    }

    @Test(
        "The owner's commands create nothing: the service could not open what root has made",
        arguments: [["logins"], ["approve", "BCDF-GHJK"], ["deny", "BCDF-GHJK"], ["logout", "1"]])
    func nothingCreated(words: [String]) throws {
        try FileManager.default.createDirectory(atPath: folder["state"], withIntermediateDirectories: true)
        let result = try process("tonearm-origin", words + ["--state", folder["state"]]).finish()
        let text = result.errors
        #expect(result.output.isEmpty)
        #expect(result.code == (words == ["logins"] ? 0 : 1))
        #expect(text.isEmpty == (words == ["logins"]) && !text.contains("logins.db"), "\(text)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder["state"]).isEmpty)
    }

    @Test(
        "An address for players that would break a manifest is refused",
        arguments: ["nas", "ftp://nas", "https://", "https:///a", "https://nas/a?b", "https://nas/$1&", "http://n<"])
    func publicAddress(address: String) throws {
        let result = try process(
            "tonearm-origin", ["serve", folder["music"], "--state", folder["state"], "--public-url", address]
        ).finish()
        #expect(result.code == 2 && result.errors.contains("--public-url is an address"), "\(result.errors)")
    }

    @Test("Refused by the owner, and a service without a login")
    func refused() throws {
        let origin = try start()
        let login = try logIn(["--service", origin.address], decision: "deny")
        #expect(login.code == 1 && login.errors.contains("the owner has refused this player"))
        try origin.end()
        let open = try RunningOrigin(folder["music"], state: folder["state"])
        let none = try tonearm("login", "--service", open.address)
        #expect(none.code == 1 && none.errors.contains("it has no login"), "\(none)")
        try open.end()
        let gone = try tonearm("login", "--service", open.address)
        #expect(gone.code == 1 && gone.errors.contains("is not reached"), "\(gone)")
        #expect(try tonearm("login", "--service", "nas").code == 2)
        #expect(try tonearm("search", "--service", "http://nas").code == 2)
    }

    @Test("Logging out ends the login at the service, too")
    func logOut() throws {
        let origin = try start()
        _ = try logIn(["--service", origin.address])
        #expect(try DeviceLogins(stateFolder: folder["state"]).logins().count == 1)
        #expect(try tonearm("logout", "--service", origin.address).code == 0)
        #expect(try DeviceLogins(stateFolder: folder["state"]).logins().isEmpty)
    }

    @Test("Searching, as text and as JSON")
    func search() throws {
        let origin = try RunningOrigin(folder["music"], state: folder["state"])
        let found = try tonearm("search", "anna", "song", "2", "--service", origin.address)
        #expect(found.code == 0 && found.output == "tonearm:track/1  Song 2 - Änna - Works  0:00\n")
        let json = try tonearm("search", "works", "--json", "--service", origin.address)
        let lines = try json.output.split(separator: "\n").map { try JSONValue.parse(String($0)) }
        try #require(lines.count == 3)
        #expect(lines[0]["album"]?.string == "Works" && lines[0]["artist"]?.string == "Änna")
        #expect(lines[2]["product"]?.string == "tonearm:album/1" && lines[2]["tracks"]?.integer == 2)
        let album = try tonearm("search", "works", "--service", origin.address).output.split(separator: "\n").last
        #expect(album == "tonearm:album/1  Works - Änna  2 tracks")
        let none = try tonearm("search", "zzz", "--service", origin.address)
        #expect(none.code == 1 && none.errors == "tonearm: nothing found for: zzz\n")
    }

    @Test("A running daemon uses a login that comes later, and its queue takes what is found")
    func daemon() throws {
        let origin = try start()
        let configuration = """
            [audio]
            device = file:FILE=\(folder["out"]),FORMAT=raw
            sample-format = S16_LE
            normalization = off
            first-volume = 0 dB
            realtime-priority = 0
            [player]
            state = \(folder["daemon"])
            [control]
            socket = \(folder["control"])
            mode = 0600
            [service]
            url = \(origin.address)
            client = kitchen
            """
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: folder["tonearm.conf"]))
        let daemon = try process("tonearm", ["run", "--config", folder["tonearm.conf"]], errors: .pipe)
        try daemon.errorLine { $0.contains(" is ready") }
        let access = ["--config", folder["tonearm.conf"]]
        #expect(try logIn(access).code == 0)
        #expect(try DeviceLogins(stateFolder: folder["state"]).logins().map(\.client) == ["kitchen"])
        let watch = try process("tonearm", ["status", "--watch", "--socket", folder["control"]])
        #expect(try watch.nextLine() != nil)
        let added = try tonearm(
            "queue", "set", "--play", "--search", "works", "--config", folder["tonearm.conf"], "--socket",
            folder["control"])
        #expect(added.code == 0, "\(added)")
        // All of it, before there is more in the queue.
        for state in ["playing", "stopped"] { try watch.line(state) { $0.contains("\"state\":\"\(state)\"") } }
        try watch.terminate()
        let played = try Data(contentsOf: URL(fileURLWithPath: folder["out"]))
        // Not in the expectation: the difference of two long arrays takes minutes.
        let expected = album[0].samples() + album[1].samples()
        let isEqual = [UInt8](played) == expected
        #expect(isEqual, "\(played.count) bytes instead of \(expected.count)")
        let queue = try tonearm("queue", "--json", "--socket", folder["control"])
        let entries = try #require(try JSONValue.parse(queue.output)["entries"]?.elements)
        #expect(entries.map { $0["file"]?.string } == ["tonearm:track/2", "tonearm:track/1"])
        let addedAlbum = try tonearm(
            "queue", "add", "tonearm:track/1", "tonearm:album/1", "--config", folder["tonearm.conf"], "--socket",
            folder["control"])
        #expect(addedAlbum.code == 0, "\(addedAlbum)")
        let longer = try JSONValue.parse(try tonearm("queue", "--json", "--socket", folder["control"]).output)
        #expect(longer["entries"]?.elements?.dropFirst(2).map { $0["file"]?.string?.last } == ["1", "2", "1"])
        #expect(try tonearm("queue", "remove", "3-5", "--socket", folder["control"]).code == 0)
        let missing = try tonearm(
            "queue", "add", "tonearm:album/77", "--config", folder["tonearm.conf"], "--socket", folder["control"])
        #expect(missing.code == 1 && missing.errors.contains("tonearm:album/77"), "\(missing)")
        let none = try tonearm(
            "queue", "add", "--search", "zzz", "--config", folder["tonearm.conf"], "--socket", folder["control"])
        #expect(none.code == 1 && none.errors == "tonearm: nothing found for: zzz\n")
        try daemon.terminate()
    }
}
