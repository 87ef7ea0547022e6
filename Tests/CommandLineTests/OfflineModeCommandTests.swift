import Foundation
import ProgramTestSupport
import TestSupport
import Testing

@Suite("Commands in offline mode (docs/playback.md, 16.5)")
struct OfflineModeCommandTests {
    @Test(
        "The catalogue of the daemon's service is not asked; a service that a person names is",
        arguments: [
            ["search", "works"], ["queue", "add", "--search", "works"], ["queue", "add", "tonearm:album/1"],
            ["offline", "add", "tonearm:playlist/1"],
        ])
    func catalogue(words: [String]) throws {
        let server = ScriptedServer { connection in
            _ = connection.request()
            connection.send("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
        }
        let program = try Program()
        let file =
            "[service]\nurl = \(server.url(""))\n[offline]\nonly = yes\n[player]\nstate = \(program.folder["s"])\n"
        try program.write(Array(file.utf8), to: "tonearm.conf")
        let result = try program.start(words + ["--config", "tonearm.conf"]).finish()
        #expect(result.code == 1 && result.errors.contains("the player is in offline mode"), "\(result)")
        #expect(server.connectionCount == 0)
        let named = try program.start(words + ["--service", server.url("")]).finish()
        #expect(named.code != 0 && server.connectionCount > 0, "\(named)")
    }
}
