import Foundation
import Platform
import ProgramTestSupport
import TestSupport
import Testing

/// The program without a content service.
@Suite("Files on web servers")
struct WebFileTests {
    private let signal = Recording(frames: 60_000)
    private let program: Program
    private let server: FileServer

    init() throws {
        program = try Program()
        try signal.part(0..<20_000).encode(to: program.folder["1.flac"])
        try signal.part(20_000..<45_000).encode(to: program.folder["2.flac"])
        try signal.part(45_000..<60_000).encode(to: program.folder["3.flac"])
        server = FileServer(["/1.flac": try program.bytes("1.flac"), "/3.flac": try program.bytes("3.flac")])
    }

    /// Samples for a device with 32 bits.
    private var wide: [UInt8] {
        signal.bytes.indices.reduce(into: []) { wide, index in
            if index % 2 == 0 { wide += [0, 0] }
            wide.append(signal.bytes[index])
        }
    }

    private func writeList() throws {
        let lines = ["#EXTM3U", "#EXTINF:1,One", server.url("/1.flac"), "2.flac", server.url("/gone.flac")]
        try program.write(Array((lines + [server.url("/3.flac")]).joined(separator: "\n").utf8), to: "list.m3u")
    }

    @Test("tonearm play takes addresses and playlists of them; what fails is reported, and the rest is gapless")
    func play() throws {
        try writeList()
        let device = try PacedDevice(program.folder["pipe"])
        let running = try program.start(["play", "--json"] + program.device("pipe") + ["list.m3u"])
        device.playAll()
        let result = try running.finish()
        #expect(result.code == 1)
        let gone = server.url("/gone.flac")
        let message = "\(gone): the server has no such file (status 404). Check the address."
        #expect(result.errorLines == ["tonearm: \(message)"])
        let errors = try result.json().filter { $0["event"] == "error" }
        #expect(errors.map { $0["code"]?.string } == ["h404"] && errors.map { $0["file"]?.string } == [gone])
        #expect(device.end() == signal.bytes)

        let one = try program.start(["play"] + program.device("out.raw") + [server.url("/1.flac")]).finish()
        #expect(one.code == 0 && one.errors == "")
        #expect(try program.bytes("out.raw") == signal.part(0..<20_000).bytes)
    }

    @Test("The daemon adds them to its queue, plays them, and names its problems without a password")
    func daemon() throws {
        try writeList()
        let device = try PacedDevice(program.folder["pipe"])
        device.playAll()
        let daemon = try RunningDaemon(device: "file:FILE=\(program.folder["pipe"]),FORMAT=raw", in: program)
        let files = [server.url("/1.flac"), program.folder["2.flac"], server.url("/gone.flac"), server.url("/3.flac")]
        #expect(try daemon.run("queue", "add", "list.m3u").code == 0)
        let listed = try daemon.run("queue", "--json").json()[0]["entries"]?.elements ?? []
        #expect(listed.map { $0["file"]?.string } == files)
        let watch = try daemon.watch()
        #expect(try daemon.run("play").code == 0)
        var failed: [String?] = []
        try watch.line { line in
            if line["event"] == "failed" { failed += [line["file"]?.string, line["code"]?.string] }
            return line["event"] == "state" && line["state"] == "stopped"
        }
        #expect(failed == [files[2], "h404"])

        let secret = "http://me:secret@127.0.0.1:1/a.flac"
        let refused = try daemon.run("queue", "add", secret)
        #expect(refused.code == 1 && refused.errors.hasPrefix("tonearm: http://127.0.0.1:1/a.flac: an address with a"))
        let list = try daemon.run("queue", "add", server.url("/list.m3u"))
        #expect(list.code == 1 && list.errors.contains("/list.m3u: a playlist or cue sheet on a server is not read."))
        let kept = try daemon.run("offline", "add", files[0])
        #expect(kept.code == 2 && kept.errors.contains("\(files[0]): must be tonearm:track/ID"))
        let log = try daemon.end()
        #expect(log.code == 0 && !log.errors.contains("secret"))
        #expect(device.end() == wide)
    }

    @Test("Offline mode: nothing is requested, and the entry says why")
    func offline() throws {
        let daemon = try RunningDaemon(settings: "[offline]\nonly = yes", in: program)
        let watch = try daemon.watch()
        #expect(try daemon.run("queue", "set", "--play", server.url("/1.flac")).code == 0)
        let failed = try watch.line { $0["event"] == "failed" }
        #expect(failed["code"] == "a3")
        #expect(
            failed["message"]?.string?.contains("comes over the network, and the player is in offline mode") == true)
        #expect(server.connectionCount == 0)
        #expect(try daemon.end().code == 0)
    }
}
