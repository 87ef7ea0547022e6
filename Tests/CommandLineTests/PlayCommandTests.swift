import Foundation
import Media
import Platform
import TestSupport
import Testing
import ProgramTestSupport

@Suite("tonearm play")
struct PlayCommandTests {
    private let program: Program

    init() throws { program = try Program() }

    // MARK: Success

    @Test("two movements of one signal come out as that signal, from a folder, in the order of their numbers")
    func gapless() throws {
        let signal = Recording(frames: 90_007)
        try FileManager.default.createDirectory(atPath: program.folder["album"], withIntermediateDirectories: true)
        try signal.part(0..<40_009).encode(to: program.folder["album/2 first.flac"])
        try signal.part(40_009..<90_007).encode(to: program.folder["album/10 second.flac"])
        let result = try program.start(["play"] + program.device("out.raw") + ["album"]).finish()
        #expect(result.code == 0)
        #expect(result.output == "")
        #expect(result.errors == "")
        #expect(try program.bytes("out.raw") == signal.bytes)
    }

    @Test("--start begins in the first file, to the frame")
    func start() throws {
        let signal = Recording(frames: 88_200)
        try signal.part(0..<66_150).encode(to: program.folder["a.flac"])
        try signal.part(66_150..<88_200).encode(to: program.folder["b.flac"])
        let result = try program.start(
            ["play", "--start", "0.5"] + program.device("out.raw") + ["a.flac", "b.flac"]
        ).finish()
        #expect(result.code == 0)
        #expect(try program.bytes("out.raw") == signal.part(22_050..<88_200).bytes)
    }

    @Test("the volume is remembered, how loudness was normalized is not")
    func remembers() throws {
        let signal = Recording(frames: 5_000)
        try signal.encode(
            to: program.folder["a.flac"], tags: ["REPLAYGAIN_TRACK_GAIN=-9.00 dB", "REPLAYGAIN_TRACK_PEAK=0.9"])
        func played(_ options: String...) throws -> (bytes: [UInt8], errors: String) {
            let result = try program.start(["play"] + options + program.device("out.raw") + ["a.flac"]).finish()
            #expect(result.code == 0)
            return (try program.bytes("out.raw"), result.errors)
        }
        let normalized = try played("--normalize", "track", "--pre-amp", "0")
        #expect(normalized.bytes != signal.bytes && normalized.bytes.count == signal.bytes.count)
        #expect(try played().bytes == signal.bytes)
        let silence = [UInt8](repeating: 0, count: signal.bytes.count)
        _ = try played("--volume", "0")
        let silent = try played()
        #expect(silent.bytes == silence)
        #expect(silent.errors == "tonearm: warning: the volume is 0 %, nothing will be heard; raise it with --volume\n")
        #expect(try played("--volume", "100").bytes == signal.bytes)
        #expect(try played().bytes == signal.bytes)
    }

    @Test("a state folder that cannot be made costs the memory, not the music")
    func noStateFolder() throws {
        let signal = Recording(frames: 5_000)
        try signal.encode(to: program.folder["a.flac"])
        try program.write([], to: "state")
        let result = try program.start(["play"] + program.device("out.raw") + ["a.flac"]).finish()
        #expect(result.code == 0)
        #expect(result.errors.hasPrefix("tonearm: warning: the volume will not be remembered: "))
        #expect(try program.bytes("out.raw") == signal.bytes)
    }

    // MARK: JSON

    @Test("--json prints the events, one object a line")
    func json() throws {
        try Recording(frames: 44_100).encode(to: program.folder["a.flac"], tags: ["TITLE=One", "ARTIST=Somebody"])
        try Recording(frames: 22_050).encode(to: program.folder["b.flac"])
        let result = try program.run("play", "--json", "--device", "null", "a.flac", "b.flac")
        #expect(result.code == 0)
        #expect(result.errors == "")
        // A device that takes everything at once may run dry any time, which is a separate state.
        let lines = try result.json().filter { $0["event"] == "transition" || $0["event"] == "state" }
        let dry: [String?] = ["playing", "stalled"]
        let told = lines.map { ($0["state"] ?? $0["file"])?.string }
        #expect(told.filter { !dry.contains($0) } == ["notPlaying", "a.flac", "b.flac", nil, "idle"])
        let transition = try #require(lines.first { $0["event"] == "transition" })
        #expect(
            transition.members?.map(\.name)
                == ["event", "previous", "file", "title", "artist", "album", "duration", "format", "device", "path"])
        #expect(transition["title"] == "One" && transition["artist"] == "Somebody" && transition["duration"] == 1.0)
        #expect(transition["format"]?["sampleRate"] == 44100 && transition["format"]?["bitDepth"] == 16)
        let playing = try #require(lines.first { $0["state"] == "playing" })
        #expect(playing["device"]?["name"] == "null" && playing["device"]?["sampleFormat"] == "S32_LE")
    }

    @Test("a reader that goes away ends it")
    func abandoned() throws {
        try Recording(frames: 441_000).encode(to: program.folder["a.flac"])
        let device = try PacedDevice(program.folder["pipe"])
        // The code of the player comes out of the pipeline on descriptor 3.
        let shell = try TestProcess(
            "/bin/sh",
            [
                "-c",
                "{ '\(try Program.path())' play --json --device file:FILE=pipe,FORMAT=raw a.flac; echo $? >code; } "
                    + "| head -n 1 >line",
            ], environment: program.environment, in: program.folder.path)
        device.playAll()
        try shell.waitUntilExit()
        _ = device.end()
        #expect(try program.bytes("code") == Array("141\n".utf8))
        #expect(try program.bytes("line").last == UInt8(ascii: "\n"))
    }

    // MARK: Errors

    @Test("a file that cannot be played is reported, and the others play")
    func proceeds() throws {
        let signal = Recording(frames: 30_000)
        try signal.encode(to: program.folder["good.flac"])
        try program.write([0xFF, 0xD8, 0xFF, 0xE0] + Array("..JFIF".utf8), to: "holiday.flac")
        try program.write([], to: "nothing.flac")
        try FileManager.default.createDirectory(atPath: program.folder["bare"], withIntermediateDirectories: true)
        let result = try program.start(
            ["play", "--json"] + program.device("out.raw")
                + ["missing.flac", "bare", "holiday.flac", "nothing.flac", "good.flac"]
        ).finish()
        #expect(result.code == 1)
        let errors = [
            "missing.flac: No such file or directory",
            "bare: no music in this folder. Supported: \(AudioFormats.supported).",
            "holiday.flac: not audio (looks like JPEG). Supported: \(AudioFormats.supported).",
            "nothing.flac: the file is empty.",
        ]
        #expect(result.errorLines == errors.map { "tonearm: \($0)" })
        let reported = try result.json().filter { $0["event"] == "error" }
        #expect(reported.map { $0["message"]?.string } == errors)
        #expect(reported.map { $0["file"]?.string } == ["missing.flac", "bare", "holiday.flac", "nothing.flac"])
        #expect(reported.map { $0["code"]?.string } == ["s2", "c1", "m1", "m4"])
        #expect(try program.bytes("out.raw") == signal.bytes)
    }

    @Test("a file that is cut off plays as far as it goes")
    func truncated() throws {
        let signal = Recording(frames: 100_000)
        try signal.encode(to: program.folder["whole.flac"])
        let encoded = try program.bytes("whole.flac")
        try program.write(Array(encoded[..<(encoded.count / 2)]), to: "cut.flac")
        let result = try program.start(["play"] + program.device("out.raw") + ["cut.flac"]).finish()
        #expect(result.errorLines == ["tonearm: warning: cut.flac: the file is cut off: its end is missing"])
        let played = try program.bytes("out.raw")
        #expect(played.count > signal.bytes.count / 4 && played.count < signal.bytes.count)
        #expect(played.elementsEqual(signal.bytes[..<played.count]))
    }

    @Test("a file that vanishes while it plays is heard to its end; one that is missing at its turn is skipped")
    func vanishes() throws {
        let signals = (0..<4).map { Recording(frames: 44_100, seed: UInt32($0 + 7)) }
        for (index, signal) in signals.enumerated() { try signal.encode(to: program.folder["\(index).flac"]) }
        let device = try PacedDevice(program.folder["pipe"])
        let running = try program.start(
            ["play", "--json"] + program.device("pipe") + ["0.flac", "1.flac", "2.flac", "3.flac"])
        device.play(seconds: 0.1)
        try running.line { $0["event"] == "transition" && $0["file"] == "0.flac" }
        try program.remove("0.flac")
        try program.remove("2.flac")
        device.playAll()
        let result = try running.finish()
        #expect(result.code == 1)
        #expect(result.errors == "tonearm: 2.flac: No such file or directory\n")
        let transitions = try result.json().filter { $0["event"] == "transition" }.map { $0["file"]?.string }
        #expect(transitions == ["0.flac", "1.flac", "3.flac", nil])
        #expect(device.end() == signals[0].bytes + signals[1].bytes + signals[3].bytes)
    }

    @Test("nothing that could be played: no device is looked for", arguments: ["missing.flac", "bare"])
    func nothingToPlay(path: String) throws {
        try FileManager.default.createDirectory(atPath: program.folder["bare"], withIntermediateDirectories: true)
        let result = try program.run("play", "--device", "hw:CARD=nowhere", path)
        #expect(result.code == 1)
        #expect(result.errorLines.count == 1 && result.errors.hasPrefix("tonearm: \(path): "))
    }

    @Test("a name without a file is reported, the rest of the folder plays, and a name that is not UTF-8 works")
    func noFiles() throws {
        let signal = Recording(frames: 3_000)
        for folder in ["album", "album/sub"] {
            try FileManager.default.createDirectory(atPath: program.folder[folder], withIntermediateDirectories: true)
        }
        try signal.encode(to: program.folder["album/good.flac"])
        symlink("nowhere", program.folder["album/gone.flac"])
        symlink("loop", program.folder["loop"])
        mkfifo(program.folder["pipe.flac"], 0o600)
        try signal.encode(to: program.folder["album/b.flac"])
        let name = Array(program.folder["album/caf"].utf8CString.dropLast()) + [-23, 46, 119, 97, 118, 0]
        #expect(rename(program.folder["album/b.flac"], name) == 0)
        let broken = Array(program.folder["album/a"].utf8CString.dropLast()) + [-1, 46, 119, 97, 118, 0]
        close(creat(broken, 0o600))
        let result = try program.start(
            ["play"] + program.device("out.raw") + ["pipe.flac", "loop", "caf\u{FFFD}", "album"]
        ).finish()
        #expect(result.code == 1)
        #expect(
            Set(result.errorLines) == [
                "tonearm: loop: Too many levels of symbolic links",
                "tonearm: caf\u{FFFD}: No such file or directory",
                "tonearm: album/gone.flac: No such file or directory",
                "tonearm: album/a\\xff.wav: the file is empty.",
                "tonearm: pipe.flac: not audio (looks like a device, a pipe or a socket). "
                    + "Supported: \(AudioFormats.supported).",
            ])
        #expect(try program.bytes("out.raw") == signal.bytes + signal.bytes)
    }

    // MARK: The device

    @Test("a device that cannot be used is named, before anything is loaded")
    func device() throws {
        try Recording(frames: 1_000).encode(to: program.folder["a.flac"])
        for device in ["hw:CARD=nowhere", "no such thing"] {
            let result = try program.run("play", "--json", "--device", device, "a.flac")
            #expect(result.code == 3)
            #expect(result.output == "")
            #expect(result.errorLines.count == 1 && result.errors.hasPrefix("tonearm: \(device): no such device."))
            #expect(result.errors.contains("`tonearm devices`"))
        }
        let unwritable = try program.run("play", "--device", "file:FILE=no/where.raw,FORMAT=raw", "a.flac")
        #expect(unwritable.code == 3)
        #expect(
            unwritable.errors
                == "tonearm: file:FILE=no/where.raw,FORMAT=raw: cannot write no/where.raw: No such file or directory\n")
    }

    // Samples that fit into the buffer are written when the last file has ended. The error of the longer file is
    // noticed in the middle.
    @Test(
        "a full output file ends it: the next tracks would only leave gaps",
        arguments: [(2_000, ["a.flac"]), (200_000, ["a.flac", "b.flac"])])
    func fullDisk(frames: Int, names: [String]) throws {
        for name in names { try Recording(frames: frames).encode(to: program.folder[name]) }
        let result = try program.start(["play", "--json", "--device", "file:FILE=/dev/full,FORMAT=raw"] + names)
            .finish()
        #expect(result.code == 3)
        let message = "file:FILE=/dev/full,FORMAT=raw: No space left on device (-28)."
        #expect(result.errors == "tonearm: a.flac: \(message)\n")
        let errors = try result.json().filter { $0["event"] == "error" }
        #expect(
            errors.map { [$0["file"]?.string, $0["code"]?.string, $0["message"]?.string] } == [
                ["a.flac", "d7", message]
            ])
    }

    @Test("a folder is no file to write to")
    func folderAsFile() throws {
        try Recording(frames: 1_000).encode(to: program.folder["a.flac"])
        let result = try program.run("play", "--device", "file:FILE=.,FORMAT=raw", "a.flac")
        #expect(result.code == 3)
        #expect(result.errors == "tonearm: file:FILE=.,FORMAT=raw: cannot write .: it is a folder\n")
    }

    @Test("when stdin, stdout and stderr are closed, no file gets their numbers; a closed reader ends it")
    func closedDescriptors() throws {
        try Recording(frames: 200_000).encode(to: program.folder["a.flac"])
        mkfifo(program.folder["pipe"], 0o600)
        let command = "exec '\(try Program.path())' play --device file:FILE=pipe,FORMAT=raw a.flac <&- >&- 2>&-"
        let shell = try TestProcess(
            "/bin/sh", ["-c", command], environment: program.environment, in: program.folder.path)
        // More is played than the pipe takes: the program waits.
        let reader = try openForReading(namedPipe: program.folder["pipe"], "the player's first bytes")
        let places = try (0...2).map { number in
            try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(shell.identifier)/fd/\(number)")
        }
        #expect(places == ["/dev/null", "/dev/null", "/dev/null"])
        close(reader)
        #expect(try shell.waitUntilExit() == 3)
    }

    // MARK: Signals

    @Test(
        "signals stop it cleanly, and the shell sees which",
        arguments: [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)] as [(Int32, Int32)])
    func signals(signal: Int32, code: Int32) throws {
        let recording = Recording(frames: 220_500)
        try recording.encode(to: program.folder["a.flac"])
        let device = try PacedDevice(program.folder["pipe"])
        let running = try program.start(["play", "--json"] + program.device("pipe") + ["a.flac"])
        device.play(seconds: 1)
        try running.line { $0["state"] == "playing" }
        running.send(signal)
        try running.line { $0["state"] == "idle" }
        device.playAll()
        let result = try running.finish()
        #expect(result.code == code)
        #expect(result.errors == "")
        let played = device.end()
        #expect(played.count < recording.bytes.count && played.elementsEqual(recording.bytes[..<played.count]))
    }

    @Test("a signal ends it although the device's open blocks, and so does a second one", arguments: [false, true])
    func blockedDevice(twice: Bool) throws {
        try Recording(frames: 44_100).encode(to: program.folder["a.flac"])
        // No process reads the pipe: opening it for writing never returns.
        mkfifo(program.folder["pipe"], 0o600)
        let running = try program.start(["play", "--json"] + program.device("pipe") + ["a.flac"])
        // The device should have started a second ago.
        try running.line { $0["state"] == "stalled" }
        running.send(SIGTERM)
        if twice {
            try running.line { $0["state"] == "idle" }
            running.send(SIGINT)
        }
        // The time limit of the first one ends it as the first one.
        #expect(try running.finish().code == 128 + (twice ? SIGINT : SIGTERM))
    }
}
