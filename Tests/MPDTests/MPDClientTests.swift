import ApplianceTestSupport
import TestSupport
import Testing

@testable import Appliance
@testable import MPD

@Suite("MPD: mpc, a client of other authors (docs/mpd.md)")
struct MPDClientTests {
    private func mpc(_ fixture: MPDFixture, _ words: String) throws -> TestProcess.Result {
        try TestProcess.run(
            "/usr/bin/mpc", words.split(separator: " ").map { String($0) },
            environment: ["MPD_HOST": fixture.socket, "LC_ALL": "C.UTF-8"])
    }

    private func lines(_ result: TestProcess.Result) -> [String] {
        result.text.split(separator: "\n").map { String($0) }
    }

    @Test("mpc browses, queues, plays, and keeps playlists")
    func session() throws {
        let fixture = try MPDFixture { music in
            for (number, title) in ["One", "Two", "Three"].enumerated() {
                let tags = [
                    "TITLE=\(title)", "ARTIST=Band", "ALBUM=Record", "TRACKNUMBER=\(number + 1)", "GENRE=Rock",
                ]
                try TaggedFLAC.write(to: "\(music)/Record/\(number + 1).flac", tags, frames: 441_000)
            }
        }
        defer { fixture.end() }
        fixture.waitForSongs(3, try fixture.connect())
        /// Words for mpc, and lines of its output in their order.
        let steps: [(words: String, output: [String])] = [
            ("ls", ["Record"]),
            ("ls Record", ["Record/1.flac", "Record/2.flac", "Record/3.flac"]),
            ("list artist", ["Band"]),
            ("list album artist Band", ["Record"]),
            ("search title t", ["Record/2.flac", "Record/3.flac"]),
            ("find title Two", ["Record/2.flac"]),
            ("findadd album Record", []),
            ("-f %title% playlist", ["One", "Two", "Three"]),
            ("move 3 1", []),
            ("-f %title% playlist", ["Three", "One", "Two"]),
            ("save Evening", []),
            ("lsplaylists", ["Evening"]),
            ("-f %title% playlist Evening", ["Three", "One", "Two"]),
            ("clear", []),
            ("load Evening", ["loading: Evening"]),
            ("del 1", []),
            ("rm Evening", []),
            ("lsplaylists", []),
            ("add Record/3.flac", []),
            ("insert Record/3.flac", []),
            ("volume 40", []),
            ("volume +2", []),
            ("volume", ["volume: 42%"]),
            ("repeat on", []), ("single on", []), ("random off", []), ("consume off", []),
            ("replaygain album", []), ("replaygain", ["replay_gain_mode: album"]),
            ("outputs", ["Output 1 (sound device) is enabled"]),
            ("play 2", []),
            ("-f %title% current", ["One"]), ("crop", []), ("-f %title% playlist", ["One"]), ("add Record", []),
            ("seek 0:02", []),
            ("pause", []), ("toggle", []), ("next", []), ("prev", []), ("stop", []),
            ("sticker Record/1.flac set rating 5", []),
            ("sticker Record/1.flac get rating", ["rating=5"]),
            ("sticker Record/1.flac list", ["rating=5"]),
            ("sticker Record find rating", ["Record/1.flac: rating=5"]),
            ("prio 3 1", []), ("shuffle", []), ("update --wait", []), ("stats", []), ("version", []),
        ]
        for step in steps {
            let result = try mpc(fixture, step.words)
            #expect(result.code == 0 && result.errors.isEmpty, "mpc \(step.words): \(result.errors)")
            if step.output.isEmpty { continue }
            #expect(lines(result) == step.output, "mpc \(step.words)")
        }
        let wrong = try mpc(fixture, "load nothing")
        #expect(wrong.code == 1 && wrong.errors.contains("No such playlist"))
    }
}
