import TestSupport
import Testing

@testable import Appliance

@Suite("The settings of the last good start")
struct LastGoodSettingsTests {
    private let folder: ScratchFolder
    private let fixture: DaemonFixture
    private static let text = "[player]\nresume = paused\n[audio]\npre-amp = -3 dB\n[discovery]\nname = \"a # \\\"b\""

    init() throws {
        folder = try ScratchFolder()
        fixture = DaemonFixture(folder: folder["state"])
    }

    private func parse(_ text: String) throws -> Configuration {
        try Configuration(parsing: Array(text.utf8), file: "tonearm.conf")
    }

    /// The settings in the state, while no daemon runs.
    private func stored() throws -> [String: String]? {
        let state = try ApplianceState(folder["state"])
        state.storage.join()
        defer { state.storage.leave() }
        return state.lastGood.map { Dictionary(uniqueKeysWithValues: $0.stored.map { ($0.path, $1) }) }
    }

    @Test("They are stored by a good start as they were written, without the values of clients")
    func stores() throws {
        #expect(try stored() == nil)
        try fixture.start(Self.text)
        #expect(try fixture.perform { try $0.settings.set(.logLevel, to: "error") })
        fixture.waitForWriting()
        try fixture.pullThePlug()
        let wanted = ["player.resume": "paused", "audio.pre-amp": "-3 dB", "discovery.name": "a # \"b"]
        #expect(try stored() == wanted)
        // A setting that is gone from the file is gone there.
        try fixture.start("[player]\nresume = paused")
        fixture.end()
        #expect(try stored() == ["player.resume": "paused"])
        try fixture.start("")
        fixture.end()
        #expect(try stored() == [:])
    }

    @Test("Every setting has the same value again, and says where it comes from")
    func values() throws {
        let written = Configuration.defaultFile.split(separator: "\n").map { line in
            line.hasPrefix("#") && line.contains(" = ") && !line.hasPrefix("# ") ? line.dropFirst() : line
        }
        let all = try parse(written.joined(separator: "\n"))
        let again = Configuration(lastGood: all.stored)
        for name in SettingName.allCases {
            #expect(all.isSet(name) && again[name] == all[name], "\(name.path)")
            #expect(again.originText(name) == "last good settings")
        }
        #expect(Configuration(lastGood: [.buffer: "no duration"]) == Configuration())
        #expect(again.withState(in: "/b").stateFolder == "/b" && again.withState(in: "/var/lib/tonearm") == again)
    }

    @Test("A start without the file's settings stores nothing, and says what to correct, until the file is reloaded")
    func startedWithoutFile() throws {
        try fixture.start(Self.text)
        fixture.end()
        let before = try stored()
        fixture.prepare = { $0.settings.startedWithoutFile(["tonearm.conf:3: wrong", "tonearm.conf:4: too"]) }
        try fixture.start("[player]\nresume = empty")
        #expect(fixture.status.problems.map(\.subject) == [DaemonProblem.configuration])
        let message = try #require(fixture.status.problems.first?.message)
        #expect(message.contains("tonearm.conf:3: wrong (and 1 more)") && message.contains("`tonearm config check`"))
        fixture.end()
        #expect(try stored() == before)
        try fixture.start("[player]\nresume = empty")
        fixture.prepare = nil
        let text = "[player]\nresume = empty\n[log]\nlevel = info"
        let file = try parse(text)
        fixture.perform { _ = $0.settings.reload(file) }
        #expect(fixture.status.problems == [])
        fixture.end()
        #expect(try stored() == ["player.resume": "empty", "log.level": "info"])
    }

    @Test("A reload stores them too, but not while a setting waits for the next start")
    func reload() throws {
        try fixture.start("[player]\nresume = paused")
        let files = try ["[player]\nresume = paused\n[log]\nlevel = info", "[mpd]\nport = 1"].map { try parse($0) }
        fixture.perform { daemon in for file in files { daemon.settings.reload(file) } }
        fixture.end()
        #expect(try stored() == ["player.resume": "paused", "log.level": "info"])
    }
}
