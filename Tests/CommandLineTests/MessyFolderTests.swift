import Foundation
import Media
import Platform
import ProgramTestSupport
import TestSupport
import Testing

/// A typical USB stick with music.
@Suite("A folder with everything in it")
struct MessyFolderTests {
    private let signal = Recording(frames: 120_000)
    /// Where the cue sheet divides its file: 60 and 100 sectors.
    private let parts = [0..<20_000, 20_000..<78_800, 78_800..<90_000, 90_000..<104_000, 104_000..<120_000]

    /// - Returns: the files in the order to play them, below `stick`; the broken ones among them.
    private func fill(_ folder: ScratchFolder) throws -> (files: [String], broken: [String]) {
        for name in ["Album", "Box/CD1", "Box/Disc 2", "a/b/c/d/e", "Nothing"] {
            try FileManager.default.createDirectory(atPath: folder["stick/\(name)"], withIntermediateDirectories: true)
        }
        func write(_ text: String, _ name: String) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: folder["stick/\(name)"]))
        }
        try signal.part(parts[0]).encode(to: folder["stick/2 first.flac"])
        try signal.part(20_000..<90_000).encode(to: folder["stick/Album/album.flac"])
        try signal.part(parts[3]).encode(to: folder["stick/Box/CD1/10.FLAC"])
        try signal.part(parts[4]).encode(to: folder["stick/Box/Disc 2/9.flac"])
        try Recording(frames: 5000, seed: 9).encode(to: folder["stick/a/b/c/d/e/deep.flac"])
        for name in [".hidden.flac", "Album/._album.flac"] {
            try signal.part(parts[0]).encode(to: folder["stick/\(name)"])
        }
        try write(
            "FILE \"album.wav\" WAVE\nTRACK 01 AUDIO\nTITLE \"One\"\nINDEX 01 00:00:00\nTRACK 02 AUDIO\nTITLE \"Two\"\n"
                + "INDEX 00 00:01:00\nINDEX 01 00:01:25\n", "Album/album.cue")
        try write("FILE \"long gone.wav\" WAVE\nTRACK 01 AUDIO\nINDEX 01 00:00:00\n", "old.cue")
        try write("2 first.flac\nnot here.flac\n", "favourites.m3u")
        try write("%PDF-1.7\n", "booklet.pdf")
        try write("RIFF....AVI ", "film.avi")
        try write("", "10 nothing.mp3")
        try write("this is a letter", "3 letter.flac")
        symlink("nowhere", folder["stick/lost.flac"])
        let files = [
            "2 first.flac", "3 letter.flac", "10 nothing.mp3", "Album/album.cue/track0001", "Album/album.cue/track0002",
            "Box/CD1/10.FLAC", "Box/Disc 2/9.flac", "a/b/c/d/e/deep.flac",
        ]
        // Folders are sorted without regard to case: `a` comes before `Album`.
        return (Array(files[..<3] + [files[7]] + files[3..<7]), ["3 letter.flac", "10 nothing.mp3"])
    }

    @Test("tonearm play plays everything that is music, in order and without gaps, and names each problem once")
    func play() throws {
        let program = try Program()
        _ = try fill(program.folder)
        // A pipe: the samples after an error do not overwrite those before it.
        let device = try PacedDevice(program.folder["pipe"])
        let running = try program.start(["play"] + program.device("pipe") + ["stick"])
        device.playAll()
        let result = try running.finish()
        #expect(result.code == 1)
        #expect(
            Set(result.errorLines) == [
                "tonearm: stick/old.cue: its music file \"long gone.wav\" does not exist.",
                "tonearm: stick/lost.flac: No such file or directory",
                "tonearm: stick/3 letter.flac: not audio (looks like text). Supported: \(AudioFormats.supported).",
                "tonearm: stick/10 nothing.mp3: the file is empty.",
            ])
        #expect(result.errorLines.count == 4)
        #expect(device.end() == heard)
    }

    /// All music of the stick.
    private var heard: [UInt8] {
        let deep = Recording(frames: 5000, seed: 9)
        return signal.part(parts[0]).bytes + deep.bytes + signal.part(20_000..<120_000).bytes
    }

    /// The samples for a device with 32 bits.
    private func wide(_ bytes: [UInt8]) -> [UInt8] {
        bytes.indices.reduce(into: []) { wide, index in
            if index % 2 == 0 { wide += [0, 0] }
            wide.append(bytes[index])
        }
    }

    @Test(
        "tonearm queue add brings the same to the daemon, which plays it to its end and reports each broken file once")
    func daemon() throws {
        let program = try Program()
        let device = try PacedDevice(program.folder["pipe"])
        device.playAll()
        let daemon = try RunningDaemon(device: "file:FILE=\(program.folder["pipe"]),FORMAT=raw", in: program)
        let (files, broken) = try fill(program.folder)
        let stick = daemon.program.folder["stick"] + "/"
        let added = try daemon.run("queue", "add", "stick")
        #expect(added.code == 0)
        #expect(added.errors == "tonearm: warning: 2 entries could not be read; the daemon's log names them\n")
        let listed = try daemon.run("queue", "--json").json()[0]["entries"]?.elements ?? []
        #expect(listed.map { $0["file"]?.string } == files.map { stick + $0 })
        let watch = try daemon.watch()
        #expect(try daemon.run("play").code == 0)
        var failed: [String?] = []
        try watch.line { line in
            if line["event"] == "failed" { failed.append(line["file"]?.string) }
            return failed.count == broken.count && line["event"] == "state" && line["state"] == "stopped"
        }
        #expect(failed == broken.map { stick + $0 })
        let log = try daemon.end()
        #expect(log.code == 0)
        #expect(device.end() == wide(heard))
        for text in ["old.cue: its music file \"long gone.wav\" does not exist.", "lost.flac: No such file"] {
            #expect(log.errorLines.count { $0.contains(text) } == 1, "\(text)")
        }
    }

    @Test("A cue sheet, its tracks, and a playlist as arguments of play, probe and queue add")
    func arguments() throws {
        let daemon = try RunningDaemon()
        let (program, folder) = (daemon.program, daemon.program.folder)
        _ = try fill(folder)
        let tracks = try program.run("probe", "--json", "stick/Album/album.cue").json()
        #expect(tracks.map { $0["title"]?.string } == ["One", "Two"] && tracks.map { $0["track"] } == [1, 2])
        #expect(tracks.map { $0["frames"] } == [58_800, 11_200])
        #expect(try program.run("probe", "stick/Album/album.cue/track0002").output.contains("11200 frames"))
        let played = try program.start(
            ["play"] + program.device("out.raw") + ["stick/Album/album.cue/track0002", "stick/favourites.m3u"]
        ).finish()
        #expect(played.errors == "tonearm: stick/favourites.m3u: its entry \"not here.flac\" does not exist.\n")
        #expect(try program.bytes("out.raw") == signal.part(parts[2]).bytes + signal.part(parts[0]).bytes)
        for path in ["stick/Album/album.cue", "stick/../stick/Album/album.cue/track0002", "stick/favourites.m3u"] {
            #expect(try daemon.run("queue", "add", path).code == 0)
        }
        let album = folder["stick/Album/album.cue"]
        let listed = try daemon.run("queue", "--json").json()[0]["entries"]?.elements ?? []
        #expect(
            listed.map { $0["file"]?.string } == [
                "\(album)/track0001", "\(album)/track0002", "\(album)/track0002", folder["stick/2 first.flac"],
            ])
        let wrong = try daemon.run("queue", "add", "stick/Album/album.cue/track0003")
        #expect(wrong.code == 1)
        #expect(wrong.errors == "tonearm: \(album): no track 3: its cue sheet has 2.\n")
        #expect(try daemon.end().code == 0)
    }
}
