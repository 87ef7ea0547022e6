import CLinux
import Foundation
import Glibc
import Media
import Platform
import Testing
import ProgramTestSupport

@testable import tonearm

@Suite("Commands to the daemon")
struct ClientCommandTests {
    @Test("Queue, modes, volume, status")
    func conversation() throws {
        let daemon = try RunningDaemon()
        for name in ["a", "b", "c"] {
            try Recording(frames: 441_000).encode(
                to: daemon.program.folder["\(name).flac"], tags: ["TITLE=Title of \(name)"])
        }
        func says(_ words: String..., output: String, code: Int32 = 0, errors: String = "") throws {
            let result = try daemon.program.start(words + ["--socket", daemon.socket]).finish()
            #expect(result.output == output && result.code == code && result.errors == errors, "\(words): \(result)")
        }
        let folder = daemon.program.folder.path
        try says("queue", output: "The queue is empty.\n")
        try says("play", output: "", code: 1, errors: "tonearm: nothing to play: the queue is empty\n")
        try says(
            "resume", output: "", code: 1,
            errors: "tonearm: note: `tonearm resume` is deprecated. Use `tonearm play`.\n"
                + "tonearm: nothing to play: the queue is empty\n")
        try says("queue", "set", "a.flac", "b.flac", output: "")
        try says("queue", "insert", "c.flac", output: "")
        try says("queue", output: "* 1  \(folder)/a.flac\n  2  \(folder)/c.flac\n  3  \(folder)/b.flac\n")
        try says("queue", "move", "3", "1", output: "")
        try says("queue", "remove", "3", output: "")
        try says("queue", "list", output: "  1  \(folder)/b.flac\n* 2  \(folder)/a.flac\n")
        try says("queue", "move", "9", "1", output: "", code: 1, errors: "tonearm: no entry at place 9: there are 2.\n")
        try says(
            "queue", "add", "missing.flac", output: "", code: 1,
            errors: "tonearm: missing.flac: No such file or directory\n")
        try says(
            "queue", "add", "tonearm.conf", output: "", code: 1,
            errors: "tonearm: \(folder)/tonearm.conf: not audio (looks like text). "
                + "Supported: \(AudioFormats.supported).\n")
        try says("volume", "40", output: "40 %\n")
        try says("volume", "-10%", output: "30 %\n")
        try says("mute", output: "30 %, muted\n")
        try says("volume", "+5", output: "35 %\n")
        try says("volume-down", output: "31 %\n")
        try says("volume-up", output: "35 %\n")
        try says("shuffle", output: "on\n")
        try says("shuffle", output: "off\n")
        try says("shuffle", "on", output: "")
        try says("shuffle", "off", output: "")
        try says("repeat", "all", output: "")
        try says("repeat", output: "all\n")
        try says("seek", "0:02.5", output: "")
        let status = try daemon.run("status")
        #expect(status.lines.contains("state     paused") && status.lines.contains("queue     2 of 2, repeat all"))
        #expect(status.lines.contains { $0.hasPrefix("position  0:02") } && status.lines.contains("volume    35 %"))
        let value = try #require(try daemon.run("status", "--json").json().first)
        #expect(value["state"] == "paused" && value["index"] == 1 && value["volume"] == 35)
        try says("focus", "none", output: "")
        #expect(try daemon.run("status").lines.contains("focus     none"))
        try says("config", "get", "audio.device", output: "null\n")
        try says("config", "set", "audio.maximum-volume", "50 %", output: "")
        try says("config", "get", "audio.maximum-volume", output: "50 %\n")
        try says(
            "config", "set", "audio.buffer", "100 ms", output: "audio.buffer takes effect at the daemon's next start.\n"
        )
        try says("config", "unset", "audio.maximum-volume", output: "")
        try says("queue", "clear", output: "")
        #expect(try daemon.run("status").lines.contains("queue     empty"))
        #expect(try daemon.end().code == 0)
    }

    @Test(
        "A place that is not there is an error and nothing is changed",
        arguments: [
            (["remove", "1", "9999"], "no entry at place 9999: there are 4."),
            (["remove", "1-99"], "no entry at place 99: there are 4."),
            (["remove", "1-\(Int.max - 1)"], "no entry at place \(Int.max - 1): there are 4."),
            (["remove", "\(Int.max)"], "no entry at place \(Int.max): there are 4."),
            (["move", "1", "99"], "no entry at place 99: there are 4."),
            (["move", "5", "1"], "no entry at place 5: there are 4."),
            (
                ["insert", "--at", "99999", "a.flac"],
                "no place 99999 to insert at: there are 4 entries, the last place is 5."
            ),
            (["insert", "--at", "6", "a.flac"], "no place 6 to insert at: there are 4 entries, the last place is 5."),
        ])
    func places(words: [String], message: String) throws {
        let daemon = try RunningDaemon()
        try Recording(frames: 100).encode(to: daemon.program.folder["a.flac"])
        #expect(try daemon.run("queue", "set", "a.flac", "a.flac", "a.flac", "a.flac").code == 0)
        let before = try daemon.run("queue", "--json").output
        let result = try daemon.program.start(["queue"] + words + ["--socket", daemon.socket]).finish()
        #expect(result.code == 1 && result.output == "" && result.errors == "tonearm: \(message)\n")
        #expect(try daemon.run("queue", "--json").output == before)
        #expect(try daemon.end().code == 0)
    }

    @Test("The last places are there")
    func lastPlaces() throws {
        let daemon = try RunningDaemon()
        for name in ["a", "b", "c"] { try Recording(frames: 100).encode(to: daemon.program.folder["\(name).flac"]) }
        #expect(try daemon.run("queue", "set", "a.flac", "b.flac").code == 0)
        #expect(try daemon.run("queue", "insert", "--at", "3", "c.flac").code == 0)
        #expect(try daemon.run("queue", "move", "1", "3").code == 0)
        #expect(try daemon.run("queue", "remove", "2-3").code == 0)
        #expect(try daemon.run("queue").output == "  1  \(daemon.program.folder["b.flac"])\n")
        #expect(try daemon.end().code == 0)
    }

    @Test(
        "A failed write of the daemon's answer is an error",
        arguments: [
            ["status"], ["status", "--json"], ["status", "--watch"], ["queue"], ["config", "get"], ["volume"],
        ])
    func fullOutput(words: [String]) throws {
        let daemon = try RunningDaemon()
        let full = FileHandle(forWritingAtPath: "/dev/full")
        let result = try daemon.program.start(words + ["--socket", daemon.socket], output: full).finish()
        #expect(
            result.code == 1 && result.errors == "tonearm: the output cannot be written: No space left on device\n",
            "\(result)")
        #expect(try daemon.end().code == 0)
    }

    @Test("Unreadable entries of a folder are counted in a warning, and the rest is added")
    func skipped() throws {
        let daemon = try RunningDaemon()
        let folder = daemon.program.folder
        try FileManager.default.createDirectory(atPath: folder["album"], withIntermediateDirectories: true)
        try Recording(frames: 100).encode(to: folder["album/a.flac"])
        for (name, warning) in [
            ("b", "warning: 1 entry could not be read; the daemon's log names it"),
            ("c", "warning: 2 entries could not be read; the daemon's log names them"),
        ] {
            try FileManager.default.createSymbolicLink(
                atPath: folder["album/\(name).flac"], withDestinationPath: "nowhere")
            let result = try daemon.run("queue", "set", "album")
            #expect(result.code == 0 && result.errors == "tonearm: \(warning)\n")
        }
        #expect(try daemon.end().code == 0)
    }

    @Test("play --daemon passes the files on; status --watch shows changes until the daemon ends")
    func watching() throws {
        let daemon = try RunningDaemon()
        try Recording(frames: 44_100).encode(to: daemon.program.folder["a.flac"], tags: ["TITLE=One"])
        let watch = try daemon.program.start(["status", "--watch", "--socket", daemon.socket])
        try watch.line { $0["ok"] == true && $0["state"] == "stopped" }
        #expect(try daemon.run("play", "--daemon", "a.flac").code == 0)
        try watch.line { $0["event"] == "track" && $0["title"] == "One" }
        try watch.line { $0["event"] == "state" && $0["state"] == "stopped" }
        #expect(try daemon.end().code == 0)
        let result = try watch.finish()
        #expect(result.code == ExitCode.daemon)
        #expect(result.errors == "tonearm: the daemon has closed the connection.\n")
    }

    @Test("On a terminal, status --watch is one line that follows")
    func liveLine() throws {
        let daemon = try RunningDaemon()
        try Recording(frames: 441_000).encode(to: daemon.program.folder["a.flac"], tags: ["TITLE=One"])
        let terminal = try PseudoTerminal(daemon.program, ["status", "--watch", "--socket", daemon.socket])
        try terminal.waitForText { $0.contains("stopped: the queue is empty") }
        #expect(try daemon.run("queue", "set", "a.flac").code == 0)
        try terminal.waitForText { $0.contains("One  0:00/0:10 paused") }
        #expect(try daemon.run("volume", "40").code == 0)
        try terminal.waitForText { $0.contains("vol 40%") }
        #expect(try daemon.end().code == 0)
        try terminal.waitForText { $0.contains("the daemon has closed the connection") }
    }

    @Test("On a terminal, status --watch says why it does not play")
    func reason() throws {
        let daemon = try RunningDaemon(device: "hw:CARD=nowhere")
        try Recording(frames: 441_000).encode(to: daemon.program.folder["a.flac"], tags: ["TITLE=One"])
        let terminal = try PseudoTerminal(
            daemon.program, columns: 60, ["status", "--watch", "--socket", daemon.socket])
        try terminal.waitForText { $0.contains("stopped: the queue is empty; hw:CARD=nowhere: ") }
        #expect(try daemon.run("play", "--daemon", "a.flac").code == 0)
        try terminal.waitForText { $0.contains("One  0:00/0:10 waiting: hw:CARD=nowhere: no such dev") }
        #expect(DisplayText.columns(terminal.shownLine) < 60)
        #expect(try daemon.run("focus", "none").code == 0)
        #expect(try daemon.end().code == 0)
        try terminal.waitForText { $0.contains("the daemon has closed the connection") }
    }

    @Test("Held focus ends with the command")
    func heldFocus() throws {
        let daemon = try RunningDaemon()
        let watch = try daemon.program.start(["status", "--watch", "--socket", daemon.socket])
        try watch.line { $0["ok"] == true && $0["focus"] == "full" }
        let holder = try daemon.program.start(["focus", "none", "--hold", "--socket", daemon.socket])
        try watch.line { $0["focus"] == "none" }
        // As in a crash: it sends nothing more.
        holder.send(SIGKILL)
        #expect(try holder.finish().code == 137)
        try watch.line { $0["focus"] == "full" }
        #expect(try daemon.end().code == 0)
        _ = try watch.finish()
    }

    @Test("More files than fit into one request come whole and in order")
    func manyFiles() throws {
        let daemon = try RunningDaemon()
        let names = (0..<1500).map { "\(1000 + $0)-\(String(repeating: "x", count: 60)).flac" }
        try Recording(frames: 100).encode(to: daemon.program.folder["a.flac"])
        for name in names {
            try FileManager.default.linkItem(
                atPath: daemon.program.folder["a.flac"], toPath: daemon.program.folder[name])
        }
        #expect(try daemon.program.start(["queue", "set"] + names + ["--socket", daemon.socket]).finish().code == 0)
        let listed = try daemon.run("queue", "list", "--json").json().flatMap { $0["entries"]?.elements ?? [] }
        #expect(listed.map { $0["file"]?.string } == names.map { daemon.program.folder[$0] })
        // All or nothing: for a missing file, and for a file that only the daemon rejects.
        for (wrong, message) in [
            ("nosuch.flac", "nosuch.flac: No such file"), ("tonearm.conf", "not audio (looks like text)"),
        ] {
            for action in [["set"], ["add"], ["insert", "--at", "1"]] {
                let words = ["queue"] + action + names.dropFirst() + [wrong, "--socket", daemon.socket]
                let result = try daemon.program.start(words).finish()
                #expect(result.code == 1 && result.errors.contains(message), "\(result)")
            }
        }
        let places = try daemon.program.start(["queue", "insert", "--at", "2"] + names + ["--socket", daemon.socket])
            .finish()
        #expect(places.code == 0)
        let inserted = try daemon.run("queue", "list", "--json").json().flatMap { $0["entries"]?.elements ?? [] }
        #expect(
            inserted.map { $0["file"]?.string }
                == ([names[0]] + names + names.dropFirst()).map { daemon.program.folder[$0] })
        #expect(try daemon.end().code == 0)
    }

    @Test(
        "Missing paths are reported before the daemon is asked",
        arguments: [
            ("nosuch.flac", "No such file or directory"), ("file/a.flac", "Not a directory"),
            ("loop", "Too many levels of symbolic links"),
        ])
    func wrongPaths(path: String, reason: String) throws {
        let program = try Program()
        try program.write([], to: "file")
        try FileManager.default.createSymbolicLink(atPath: program.folder["loop"], withDestinationPath: "loop")
        let result = try program.run("queue", "add", "file", path, "nosuch-either", "--socket", "nowhere")
        #expect(result.code == 1 && result.errors == "tonearm: \(path): \(reason)\n", "\(result)")
    }

    @Test("Without a daemon, and without permission, the message says what to do")
    func noDaemon() throws {
        let program = try Program()
        let result = try program.run("pause", "--socket", "nowhere")
        #expect(result.code == 4)
        #expect(
            result.errors == "tonearm: the daemon is not running (no socket at nowhere). "
                + "Start it with `systemctl start tonearm` or `tonearm run`.\n")
        #expect(DaemonFailure.notAllowed(socket: "/run/s").message.contains("sudo adduser $USER tonearm"))
    }

    @Test(
        "The message for wrong arguments says what to write",
        arguments: [
            (["pause", "now"], "pause takes no now. See `tonearm pause --help`."),
            (
                ["seek"],
                "seek needs a time: SECONDS, M:SS, or +SECONDS and -SECONDS from here. See `tonearm seek --help`."
            ),
            (
                ["seek", "1:75"],
                "seek 1:75: must be SECONDS, M:SS or H:MM:SS, with + or - from here. See `tonearm seek --help`."
            ),
            (
                ["volume", "loud"],
                "volume loud: must be percent from 0 to 100, or +PERCENT and -PERCENT from what it is. "
                    + "See `tonearm volume --help`."
            ),
            (["mute", "yes"], "mute yes: must be on or off. See `tonearm mute --help`."),
            (["repeat", "two"], "repeat two: must be off, all or one. See `tonearm repeat --help`."),
            (
                ["queue", "lits"],
                "queue lits: must be one of list, add, insert, set, move, remove, clear. Did you mean list? "
                    + "See `tonearm queue --help`."
            ),
            (
                ["queue", "remove", "1-3", "2"],
                "queue remove: the same place is named twice. See `tonearm queue --help`."
            ),
            (
                ["queue", "move", "0", "1"],
                "0: must be a place in the queue, from 1 on, as `tonearm queue` lists them. See `tonearm queue --help`."
            ),
            (
                ["queue", "remove", "1-"],
                "1-: must be a place, from 1 on, or a range like 5-7. See `tonearm queue --help`."
            ),
            (
                ["queue", "remove", "5-3"],
                "5-3: must be a place, from 1 on, or a range like 5-7. See `tonearm queue --help`."
            ),
            (
                ["queue", "remove", "1-2-3"],
                "1-2-3: must be a place, from 1 on, or a range like 5-7. See `tonearm queue --help`."
            ),
            (
                ["queue", "remove", ""],
                "\"\": must be a place in the queue, from 1 on, as `tonearm queue` lists them. "
                    + "See `tonearm queue --help`."
            ),
            (["focus", "loud"], "focus needs one of none, background, limited, full. See `tonearm focus --help`."),
            (
                ["config", "set", "a"],
                "config set: the form is `tonearm config set KEY VALUE`. See `tonearm config --help`."
            ),
            (
                ["play", "--daemon", "--device", "x", "a"],
                "--device does not go with --daemon, which has its own configuration. See `tonearm play --help`."
            ),
        ])
    func usage(words: [String], message: String) throws {
        let program = try Program()
        let result = try program.start(words).finish()
        #expect(result.code == 2 && result.errors == "tonearm: \(message)\n", "\(result)")
    }

    @Test("config check, show and example need no daemon")
    func configurationFile() throws {
        let program = try Program()
        try program.write(Array("[audio]\nbuffer = 100 ms\n[contol]\nmode = 8\n".utf8), to: "bad.conf")
        try program.write(Array("[audio]\nbuffer = 100 ms\n".utf8), to: "good.conf")
        let bad = try program.run("config", "check", "--config", "bad.conf")
        #expect(
            bad.code == 78 && bad.output == ""
                && bad.errorLines[0].hasPrefix("tonearm: bad.conf:3: unknown section [contol]"))
        let good = try program.run("config", "check", "--config", "good.conf")
        #expect(good.code == 0 && good.output == "" && good.errors == "")
        let shown = try program.run("config", "show", "--config", "good.conf")
        #expect(
            shown.code == 0 && shown.lines.contains { $0.hasPrefix("buffer = 100 ms") && $0.hasSuffix("# good.conf:2") }
        )
        #expect(try program.run("config", "check", "--config", "missing.conf").code == 78)
        try program.write(Array("[board]\nprofile = /nowhere/board.conf\n".utf8), to: "no-profile.conf")
        let profile = try program.run("config", "check", "--config", "no-profile.conf")
        #expect(profile.code == 78 && profile.errors == "tonearm: /nowhere/board.conf: No such file or directory\n")
        let example = try program.run("config", "example")
        try program.write(Array(example.output.utf8), to: "example.conf")
        #expect(try program.run("config", "check", "--config", "example.conf").code == 0)
    }

    @Test(
        "Help fits a terminal",
        arguments: [
            HelpText.status, HelpText.transport, HelpText.queue, HelpText.offline, HelpText.focus, HelpText.wifi,
            HelpText.config,
            HelpText.run,
        ])
    func helpWidth(text: String) {
        #expect(text.split(separator: "\n").allSatisfy { DisplayText.columns(String($0)) <= 120 })
    }

    @Test("A daemon that does not accept connections is an error after the time limit, which says what to do")
    func deafDaemon() throws {
        let program = try Program()
        let listener = try StreamSocket(listeningAt: program.folder["control"], mode: 0o600)
        var waiting: [StreamSocket] = []
        #expect(throws: SystemError.self) {
            while waiting.count < 5000 {
                waiting.append(try StreamSocket(connectingTo: program.folder["control"], seconds: 1))
            }
        }
        let result = try program.run("status", "--socket", program.folder["control"])
        #expect(result.code == 4 && result.errors.hasPrefix("tonearm: the daemon has not answered for 5 seconds."))
        _ = listener
    }
}
