import Foundation
import Platform
import ProgramTestSupport
import TestSupport
import Testing

@testable import tonearm

@Suite("tonearm playlist")
struct PlaylistCommandTests {
    @Test("Playlists are made, shown, changed and played, with an index and without one")
    func commands() throws {
        let program = try Program()
        let paths = [program.folder["a.flac"], program.folder["b.flac"]]
        for path in paths { try Recording(frames: 1000).encode(to: path) }
        let daemon = try RunningDaemon(
            settings: "[library]\nfolders = none\nplaylists = \(program.folder["lists"])", in: program)
        func run(_ words: String...) throws -> Program.Result {
            let result = try daemon.run(["playlist"] + words)
            #expect(result.code == 0 && result.errors.isEmpty, "\(words): \(result.errors)")
            return result
        }
        #expect(try run("add", "Evening", paths[0], "https://h/b").output.isEmpty)
        _ = try run("add", "evening", paths[1])
        #expect(try run("show", "Evening").lines == ["1  \(paths[0])", "2  https://h/b", "3  \(paths[1])"])
        _ = try run("move", "Evening", "3", "1")
        _ = try run("remove", "Evening", "2-3")
        #expect(try run("show", "Evening", "--json").json().first?["entries"]?[0]?["path"]?.string == paths[1])
        _ = try run("play", "evening")
        #expect(try daemon.run("queue", "--json").json().first?["entries"]?[0]?["file"]?.string == paths[1])
        _ = try run("save", "Evening", "--replace")
        _ = try run("rename", "Evening", "Night")
        #expect(try run().output.hasSuffix("  Night\n") && run("list", "--json").json().first?["count"] == 1)
        let refused = try daemon.run("playlist", "remove", "Night", "2")
        #expect(refused.code == ExitCode.failed && refused.errors.contains("no entry at place 2"), "\(refused.errors)")
        let missing = try daemon.run("playlist", "show", "x")
        #expect(missing.code == ExitCode.failed && missing.errors.contains("x: no such playlist"), "\(missing.errors)")
        _ = try run("delete", "Night")
        #expect(try run("list").output.isEmpty)
        _ = try daemon.end()
    }

    @Test(
        "Mistakes",
        arguments: [
            (["lst"], "must be one of"), (["show"], "needs more"), (["show", "a", "b"], "takes no b"),
            (["add", "a"], "needs more"), (["move", "a", "0", "1"], "must be a place in the playlist"),
            (["remove", "a", "1-2", "2"], "named twice"), (["delete", "a", "--replace"], "goes with playlist save"),
        ])
    func mistakes(words: [String], message: String) throws {
        let result = try Program().start(["playlist"] + words).finish()
        #expect(result.code == ExitCode.usage && result.errors.contains(message), "\(result.errors)")
    }
}
