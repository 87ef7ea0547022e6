import Foundation
import HTTPServer
import Platform
import TestSupport
import Testing

@testable import OriginService

@Suite("Faults of the origin, as curl sees them")
struct FaultTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        try FileManager.default.createDirectory(atPath: folder["music"], withIntermediateDirectories: true)
        try Music(frames: 50_000).writeFLAC(to: folder["music/a.flac"])
    }

    private func start(_ faults: String, _ options: String...) throws -> RunningOrigin {
        try Data(faults.utf8).write(to: URL(fileURLWithPath: folder["faults"]))
        let more = options + ["--manifest", "bts"]
        return try RunningOrigin(
            folder["music"], state: folder["state"], "--faults", folder["faults"], more[0], more[1])
    }

    /// The exit code of curl, and the bytes of the track's file that it received.
    private func fetchFile(_ origin: RunningOrigin, _ options: String...) throws -> (exitCode: Int32, bytes: Data) {
        let info = try Fetched("\(origin.address)/v1/tracks/1/playbackinfo").manifest()
        let address = try #require(try JSONValue.parse(info)["urls"]?[0]?.string)
        let result = try TestProcess.run(
            "/usr/bin/curl", ["-sS", "--noproxy", "*", "-o", folder["got"]] + options + [address])
        return (result.code, (try? Data(contentsOf: URL(fileURLWithPath: folder["got"]))) ?? Data())
    }

    private var file: Data {
        get throws { try Data(contentsOf: URL(fileURLWithPath: folder["music/a.flac"])) }
    }

    @Test("A status by count, with its reason and Retry-After")
    func status() throws {
        let origin = try start(
            """
            [fault busy]
            path = /v1/tracks/*/playbackinfo
            skip = 1
            count = 2
            status = 503
            sub-status = 4005
            retry-after = 7
            """)
        let answers = try (0..<4).map { _ in try Fetched("\(origin.address)/v1/tracks/1/playbackinfo") }
        #expect(answers.map(\.status) == [200, 503, 503, 200])
        #expect(answers[1].headers["retry-after"] == "7")
        #expect(try answers[1].json()["subStatus"]?.integer == 4005)
        #expect(try Fetched("\(origin.address)/v1/tracks/1").status == 200)
    }

    @Test(
        "A body that ends too early: the bytes before are right, and curl says how it ended",
        arguments: [
            ("truncate-after = 5000", 18, 5000), ("reset-after = 5000", 56, 5000), ("truncate-after = 0", 18, 0),
            ("reset-after = 100000", 56, 100_000), ("length-difference = 10", 18, nil),
            ("length-difference = -10", 0, -10),
        ])
    func ends(fault: String, exitCode: Int32, count: Int?) throws {
        let origin = try start("[fault cut]\npath = /v1/content/*\ncount = 1\n\(fault)\n")
        let (code, bytes) = try fetchFile(origin)
        #expect(code == exitCode)
        let whole = try file
        let expected = count.map { $0 < 0 ? whole.count + $0 : $0 } ?? whole.count
        #expect(bytes == whole.prefix(expected) && whole.count > expected - 1)
        let again = try fetchFile(origin)
        #expect(again.exitCode == 0 && again.bytes == whole)
    }

    @Test(
        "A body that stalls, and one that is slow, do not arrive in time",
        arguments: [
            ("stall-after = 5000", true), ("bytes-per-second = 2000", false),
        ])
    func late(fault: String, isExact: Bool) throws {
        let origin = try start("[fault slow]\npath = *.flac\n\(fault)\n")
        let (code, bytes) = try fetchFile(origin, "--max-time", "2")
        #expect(code == 28)
        let whole = try file
        #expect(bytes.count < whole.count / 2 && bytes == whole.prefix(bytes.count))
        if isExact { #expect(bytes.count == 5000) }
    }

    @Test("Another manifest for the same track")
    func manifest() throws {
        let origin = try start("[fault other]\npath = *playbackinfo\nskip = 1\ncount = 1\nmanifest = hls\n")
        let answers = try (0..<3).map { _ in try Fetched("\(origin.address)/v1/tracks/1/playbackinfo").json() }
        let bts = "application/vnd.tidal.bts"
        #expect(answers.map { $0["manifestMimeType"]?.string } == [bts, "application/vnd.apple.mpegurl", bts])
        #expect(answers[0]["manifestHash"] != answers[1]["manifestHash"])
        #expect(answers[0]["manifestHash"] == answers[2]["manifestHash"])
    }

    @Test("A wrong clock")
    func clock() throws {
        let origin = try start("[fault clock]\npath = /v1/tracks/1\nclock-offset = -1000000\n")
        let wrong = try Fetched("\(origin.address)/v1/tracks/1")
        let right = try Fetched("\(origin.address)/v1/tracks")
        let dates = try [wrong, right].map {
            try #require($0.headers["date"].flatMap { HTTPDate.seconds(of: $0, now: 0) })
        }
        #expect((1_000_000...1_000_600).contains(dates[1] - dates[0]))
    }

    @Test("All mistakes of a file are named with their lines, and nothing is served")
    func mistakes() throws {
        try Data("[fault a]\npath = /\n[fault b]\nstatus = 200\nx = 1\n[other]\n".utf8)
            .write(to: URL(fileURLWithPath: folder["faults"]))
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let error = #expect(throws: Unexpected.self) {
            try run(
                "\(Folder.containing(tests))/tonearm-origin",
                ["serve", folder["music"], "--state", folder["state"], "--faults", folder["faults"]])
        }
        let text = try #require(error?.description)
        for line in ["faults:1: ", "faults:3: [fault b] needs `path`", "faults:4: ", "faults:5: ", "faults:6: "] {
            #expect(text.contains(line), "\(line) in \(text)")
        }
    }
}

@Suite("Rules of faults")
struct FaultRuleTests {
    @Test(
        "Paths",
        arguments: [
            ("/a/b", "/a/b", true), ("/a/b", "/a/bc", false), ("/a/*", "/a/", true), ("*", "", true),
            ("/a/*/c", "/a/b/x/c", true), ("*.mp4", "/1.mp4", true), ("*.mp4", "/1.mp4x", false),
            ("*ab*ab", "abab", true), ("*ab*ab", "xabyaabz", false), ("", "/", false), ("**", "/x", true),
        ])
    func paths(pattern: String, path: String, matches: Bool) throws {
        let text = "[fault a]\npath = \(pattern.isEmpty ? "?" : pattern)\nstatus = 500\n"
        var rule = try FaultPlan(parsing: Array(text.utf8)).rules[0]
        rule.path = pattern
        #expect(rule.matches(path) == matches)
    }

    @Test("Each rule counts all requests that it matches; the first that is due is applied")
    func counts() throws {
        let plan = try FaultPlan(
            parsing: Array(
                """
                [fault first]
                path = /a*
                skip = 1
                count = 1
                status = 500
                [fault second]
                path = *
                skip = 1
                count = 2
                status = 501
                """.utf8))
        let injection = FaultInjection(plan) { 0 }
        let statuses = ["/a", "/b", "/a", "/a"].map { path in
            injection.answer(to: HTTPRequest(path: path)) { _, _ in HTTPAnswer() }.status
        }
        #expect(statuses == [200, 501, 500, 200])
    }
}
