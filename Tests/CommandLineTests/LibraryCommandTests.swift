import Foundation
import Platform
import ProgramTestSupport
import TestSupport
import Testing

@testable import tonearm

@Suite("tonearm library")
struct LibraryCommandTests {
    /// Writes a file of `flac` with tags: half a second of silence.
    private func add(_ name: String, _ tags: String..., to program: Program) throws {
        let path = program.folder["music/\(name)"]
        try FileManager.default.createDirectory(
            atPath: Folder.containing(path), withIntermediateDirectories: true)
        try Data(count: 22_050 * 4).write(to: URL(fileURLWithPath: program.folder["raw"]))
        let result = try TestProcess.run(
            "/usr/bin/flac",
            [
                "--totally-silent", "-f", "--force-raw-format", "--endian=little", "--sign=signed", "--channels=2",
                "--bps=16", "--sample-rate=44100", "-o", path,
            ] + tags.map { "--tag=\($0)" } + [program.folder["raw"]])
        guard result.code == 0 else { throw Unexpected("flac: \(result.errors)") }
    }

    private func start(_ program: Program) throws -> RunningDaemon {
        try RunningDaemon(settings: "[library]\nfolders = \(program.folder["music"])/", in: program)
    }

    @Test("Scan, status, search and lists, for people and programs")
    func commands() throws {
        let program = try Program()
        try add("1/a.flac", "TITLE=Jóga", "ARTIST=Björk", "ALBUM=Homogenic", "DATE=1997", "GENRE=Pop", to: program)
        try add("1/b.flac", "TITLE=Hunter", "ARTIST=Björk", "ALBUM=Homogenic", "DATE=1997", to: program)
        let daemon = try start(program)
        let status = try daemon.run("library", "scan")
        #expect(status.output.contains("tracks:    2\nalbums:    1\nartists:   1"), "\(status.output)")
        #expect(try daemon.run("library", "--json").json().first?["scanning"] == false)
        let path = program.folder["music/1/a.flac"]
        #expect(try daemon.run("library", "search", "JOG", "bjork").output == "Tracks:\n  \(path)  Björk - Jóga\n")
        #expect(try daemon.run("library", "search", "bjork").output.hasPrefix("Artists:\n  "))
        let list = try daemon.run("library", "list", "albums", "björk", "--json").json()
        #expect(list.first?["entries"]?[0]?["title"] == "Homogenic" && list.first?["count"] == 1)
        let albums = try daemon.run("library", "list", "recent").output
        #expect(albums.hasSuffix("  Björk - Homogenic (1997), 2 tracks\n"), "\(albums)")
        #expect(try daemon.run("library", "list", "tracks", "homogenic").output.split(separator: "\n").count == 2)
        #expect(try daemon.run("library", "list", "tracks", program.folder["music/1"]).output.contains("Hunter"))
        #expect(
            try daemon.run("library", "list", "folders", program.folder["music"]).output
                == program.folder["music/1"] + "\n")
        #expect(try daemon.run("library", "list", "genres").output.contains("Pop"))
        let wrong = try daemon.run("library", "list", "albums", "nobody")
        #expect(wrong.code == ExitCode.failed && wrong.errors.contains("no such artist"))
        // A change of the folder is an event.
        let connection = try DaemonConnection(daemon.socket)
        try connection.ask("subscribe", [.init("events", ["library"])])
        try add("2/c.flac", "TITLE=New", to: program)
        var event: JSONValue?
        while event?["tracks"] != 3 {
            try waitForDescriptor(connection.descriptor, "the event")
            try connection.receive()
            while let line = connection.takeLine() { event = try JSONValue.parse(line) }
        }
        #expect(event?["event"] == "library" && event?["scanning"] != nil)
        _ = try daemon.end()
    }

    @Test("Plays are counted, and the count outlives the index and a rename")
    func plays() throws {
        let program = try Program()
        try add("a.flac", "TITLE=Heard", to: program)
        var daemon = try start(program)
        _ = try daemon.run("library", "scan")
        _ = try daemon.run("queue", "set", "--play", program.folder["music/a.flac"])
        func played(_ daemon: RunningDaemon) throws -> JSONValue? {
            try daemon.run("library", "list", "played", "--json").json().first?["entries"]?[0]
        }
        try waitUntil("a play") { try played(daemon)?["plays"]?.integer ?? 0 > 0 }
        #expect(try played(daemon)?["title"] == "Heard")
        #expect(try daemon.run("library", "favourite", program.folder["music/a.flac"]).code == 0)
        _ = try daemon.end()
        for ending in ["", "-wal", "-shm"] { unlink(program.folder["daemon/library.db"] + ending) }
        try FileManager.default.moveItem(
            atPath: program.folder["music/a.flac"], toPath: program.folder["music/b.flac"])
        daemon = try start(program)
        _ = try daemon.run("library", "scan")
        #expect(try played(daemon)?["path"]?.string == program.folder["music/b.flac"])
        for list in ["history", "favourites"] {
            let entry = try daemon.run("library", "list", list, "--json").json().first?["entries"]?[0]
            #expect(entry?["path"]?.string == program.folder["music/b.flac"] && entry?["favourite"] == true)
            #expect((entry?["heard"] != nil) == (list == "history"))
        }
        #expect(try daemon.run("library", "search", "heard").output.hasSuffix("b.flac  Heard, favourite\n"))
        _ = try daemon.end()
    }

    @Test("Favourites: on, off and toggled, of the current entry and of products of a service; what is none is said")
    func favourites() throws {
        let program = try Program()
        try add("a.flac", "TITLE=A", to: program)
        try add("../outside.flac", to: program)
        let daemon = try start(program)
        _ = try daemon.run("library", "scan")
        func favourites() throws -> [String] { try daemon.run("library", "list", "favourites").lines }
        let none = try daemon.run("library", "favourite")
        #expect(none.code == ExitCode.failed && none.errors.contains("no entry is current"), "\(none.errors)")
        let path = program.folder["music/a.flac"]
        _ = try daemon.run("queue", "set", path)
        #expect(try daemon.run("library", "favourite", "--json").json().first?["favourite"] == true)
        #expect(try daemon.run("library", "favourite", "tonearm:track/7").code == 0)
        // Those of one second have no order.
        #expect(Set(try favourites()) == ["tonearm:track/7  favourite", "\(path)  A, favourite"])
        let connection = try DaemonConnection(daemon.socket)
        let toggled = try connection.ask("favourite", [.init("path", .string(path))])
        #expect(toggled.value["favourite"] == false)
        #expect(try daemon.run("library", "unfavourite", "tonearm:track/7").code == 0)
        #expect(try favourites().isEmpty)
        for (other, reason) in [
            (program.folder["outside.flac"], "not in the library"), ("http://me:x@h/a", "http://h/a"),
            ("tonearm:x", "not in the library"),
        ] {
            let refused = try daemon.run("library", "favourite", other)
            #expect(refused.code == ExitCode.failed && refused.errors.contains(reason), "\(refused.errors)")
        }
        _ = try daemon.end()
    }

    @Test("Music outside of the library is in the history, without a library, too")
    func otherHistory() throws {
        let program = try Program()
        try add("a.flac", to: program)
        let daemon = try RunningDaemon(settings: "[library]\nfolders = none", in: program)
        let path = program.folder["music/a.flac"]
        _ = try daemon.run("queue", "set", "--play", path)
        try waitUntil("a play") {
            try daemon.run("library", "list", "history", "--json").json().first?["count"]?.integer ?? 0 > 0
        }
        let list = try daemon.run("library", "list", "history").output
        #expect(list.hasPrefix("\(path)  heard 20"), "\(list)")
        #expect(try daemon.run("library", "list", "played").output.isEmpty)
        _ = try daemon.end()
    }

    @Test(
        "A damaged index is made anew, and without folders there is no library", arguments: [true, false])
    func index(isThere: Bool) throws {
        let program = try Program()
        try add("a.flac", to: program)
        try Folder.create(program.folder["daemon"])
        try Data(repeating: 7, count: 10_000).write(to: URL(fileURLWithPath: program.folder["daemon/library.db"]))
        let daemon =
            try isThere ? start(program) : RunningDaemon(settings: "[library]\nfolders = none", in: program)
        let status = try daemon.run("library", "scan")
        if isThere {
            #expect(status.output.contains("tracks:    1"), "\(status.errors)")
        } else {
            #expect(status.code == ExitCode.failed && status.errors.contains("[library] folders is none"))
        }
        _ = try daemon.end()
    }

    @Test(
        "Mistakes",
        arguments: [
            (["library", "serch"], "must be one of"), (["library", "search"], "needs words"),
            (["library", "list"], "must be one of"), (["library", "list", "artists", "x"], "takes no x"),
            (["library", "scan", "x"], "takes no x"), (["library", "favourite", "/a", "/b"], "takes no /b"),
            (["library", "list", "history", "x"], "takes no x"),
        ])
    func mistakes(words: [String], message: String) throws {
        let result = try Program().start(words).finish()
        #expect(result.code == ExitCode.usage && result.errors.contains(message), "\(result.errors)")
    }
}
