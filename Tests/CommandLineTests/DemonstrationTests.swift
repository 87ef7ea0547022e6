import Foundation
import TestSupport
import Testing

@Suite("The packages that tools/demo installs")
struct DemonstrationTests {
    private static let tools = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("tools").path

    /// Returns the packages that tools/setup misses on a machine without any.
    private func missing(_ options: String...) throws -> Set<String> {
        let folder = try ScratchFolder()
        let nothing = folder["dpkg-query"]
        try Data("#!/bin/sh\n".utf8).write(to: URL(fileURLWithPath: nothing))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: nothing)
        let result = try TestProcess.run(
            "/bin/bash", ["\(Self.tools)/setup"] + options + ["--check"],
            environment: ["PATH": "\(folder.path):/usr/bin:/bin", "HOME": folder.path])
        let lines = result.text.split(separator: "\n").filter { $0.hasPrefix("    ") }
        return Set(lines.map { String($0.prefix { $0 != ":" }.drop { $0 == " " }) })
    }

    @Test("It needs what the build and the script use, and no server, no client and no encoder of the tests")
    func packages() throws {
        let (demonstration, all) = (try missing("--demo"), try missing())
        #expect(demonstration.isSuperset(of: ["flac", "openssl", "python3", "libmicrohttpd-dev", "libasound2-dev"]))
        let tests: Set = ["nginx-light", "mpd", "mpc", "avahi-daemon", "dbus", "mkvtoolnix", "ffmpeg", "lame", "curl"]
        #expect(demonstration.isDisjoint(with: tests))
        #expect(all.isSuperset(of: demonstration.union(tests)))
    }

    @Test("tools/demo asks for these packages alone, and says how long the first build takes")
    func demonstration() throws {
        let script = try String(contentsOfFile: "\(Self.tools)/demo", encoding: .utf8)
        #expect(script.contains("tools/setup\" --demo\n"))
        #expect(script.contains(try Regex("say \"building .*about [0-9]+ minutes on two cores")))
    }
}
