import ApplianceTestSupport
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

    @Test("A start with mistakes says all of them, with what is in force, until the file is reloaded without any")
    func startedWithMistakes() throws {
        fixture.prepare = { $0.settings.startedWithMistakes((3...12).map { "tonearm.conf:\($0): wrong" }) }
        try fixture.start("[player]\nresume = empty")
        #expect(fixture.status.problems.map(\.subject) == [DaemonProblem.configuration])
        let message = try #require(fixture.status.problems.first?.message)
        #expect(message.contains("tonearm.conf:3: wrong; tonearm.conf:4: wrong; ") && message.contains(":10: wrong"))
        #expect(message.contains("(and 2 more)") && message.contains("`tonearm config check`"))
        let text = "[player]\nresume = empty\n[log]\nlevel = info"
        let file = try parse(text)
        fixture.perform { _ = $0.settings.reload(file) }
        #expect(fixture.status.problems == [])
        fixture.end()
        #expect(try stored() == ["player.resume": "empty", "log.level": "info"])
    }

    @Test("A start without the file's socket stores nothing")
    func startedWithoutSocket() throws {
        try fixture.start(Self.text)
        fixture.end()
        let before = try stored()
        fixture.prepare = { $0.settings.startedWithoutSocket("/a/control: no such folder") }
        try fixture.start("[player]\nresume = empty")
        #expect(fixture.status.problems.first?.message.contains("/a/control: no such folder") == true)
        fixture.end()
        #expect(try stored() == before)
    }

    @Test("A reload with mistakes applies the other lines, and keeps what the wrong ones would set")
    func reloadWithMistakes() throws {
        try fixture.start("[audio]\npre-amp = 2 dB\nmaximum-volume = 50 %")
        let text = "[audio]\npre-amp = loud\nuntagged-gain = -3 dB"
        let reading = ConfigurationReading([("f", Array(text.utf8))])
        let mistakes = reading.problems.map(\.description)
        fixture.perform { $0.settings.reload(reading, mistakes: mistakes) }
        #expect(fixture.status.problems.first?.message.contains("f:2: pre-amp = loud: must be") == true)
        fixture.end()
        #expect(
            try stored() == ["audio.pre-amp": "2 dB", "audio.maximum-volume": "50 %", "audio.untagged-gain": "-3 dB"])
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
