import ApplianceTestSupport
import Platform
import Testing

@testable import Appliance

@Suite("Values that may be cut, and several configuration files")
struct ConfigurationFilesTests: ConfigurationSuite {
    @Test(
        "A text without quotes that ends before a # or ; is used, and reported with its line and the way out",
        arguments: [
            ("discovery", "name = Bath #1", "Bath"), ("library", "folders = /srv/music ;old", "/srv/music"),
            ("board", "power-off = sync ; poweroff", "sync"), ("web", "names = a.lan # b.lan", "a.lan"),
            ("mpd", "passwords = /etc/tonearm/mpd\t#1", "/etc/tonearm/mpd"), ("audio", "device = hw:1 # DAC", "hw:1"),
            ("service", "url = https://nas #2", "https://nas"), ("update", "address = https://a ;b", "https://a"),
            ("mpd", "address = any # all", "any"), ("network", "pins = none ; yet", "none"),
        ])
    func cut(section: String, line: String, value: String) throws {
        let configuration = try parse("\n[\(section)]\n\(line)")
        let key = String(line.prefix { $0 != " " })
        #expect(configuration.written(try SettingName(path: "\(section).\(key)")) == value)
        #expect(
            configuration.notes.map(\.description) == [
                "tonearm.conf:3: the \(key) ends before the # or ;. If that belongs to it, put the whole of it in "
                    + "quotes: \(key) = \"…\". Otherwise begin a line with the comment"
            ])
    }

    @Test(
        "Not a number or a fixed word, a value in quotes, one with the sign inside a word, or a comment of its own",
        arguments: [
            "[log]\nlevel = info # edited", "[audio]\nbuffer = 100 ms ;short", "[mpd]\nport = 6600 # usual",
            "[control]\nmode = 0600 # mine", "[audio]\nmaximum-volume = 80 % # loud", "[audio]\npre-amp = 2 dB ; more",
            "[discovery]\nname = \"Bath #1\" # upstairs", "[discovery]\nname = Bath#1;2", "[discovery]\n# name = a ; b",
        ])
    func whole(text: String) throws {
        #expect(try parse(text).notes == [])
    }

    @Test("In quotes a backslash escapes a quote and itself, and is a backslash elsewhere")
    func backslashes() throws {
        #expect(try parse(#"[discovery]\#nname = "a\"b\\c\d""#).announcedName == #"a"b\c\d"#)
        #expect(problems(#"[discovery]\#nname = "a\""#) == ["tonearm.conf:2: the closing quote is missing"])
    }

    private func read(_ texts: String...) -> ConfigurationReading {
        let names = ["tonearm.conf", "conf.d/10-a.conf", "conf.d/20-b.conf"]
        return ConfigurationReading(zip(names, texts).map { ($0, Array($1.utf8)) })
    }

    @Test("A later file overrides those before it, setting by setting; twice in one file stays a mistake")
    func later() {
        let reading = read(
            "[log]\nlevel = info\n[mpd]\nport = 6601", "[mpd]\nport = 6602\n[web]\nport = 81", "[web]\nport = 82")
        #expect(reading.problems == [] && reading.configuration.logLevel == .info)
        #expect(reading.configuration.mpdPort == 6602 && reading.configuration.webPort == 82)
        #expect(reading.configuration.origin(of: .webPort) == .file("conf.d/20-b.conf", line: 2))
        #expect(
            read("[mpd]\nport = 1", "[mpd]\nport = 2\nport = 3").problems.map(\.description)
                == ["conf.d/10-a.conf:3: port was set in line 2 already"])
    }

    @Test("Lines with mistakes are left out, and the mistakes of all files are reported")
    func mistakes() {
        let reading = read("[log]\nlevel = loud\n[mpd]\nport = 6601", "[mdp]\nport = 1", "port = 2")
        #expect(
            reading.problems.map { "\($0.file):\($0.line)" } == [
                "tonearm.conf:2", "conf.d/10-a.conf:1", "conf.d/20-b.conf:1",
            ])
        #expect(reading.configuration.mpdPort == 6601 && !reading.configuration.isSet(.logLevel))
    }

    @Test(
        "With mistakes, valid lines count; other settings are as at the last good start, else they have their defaults",
        arguments: [
            ("buffer = 500\nperiods = 5", "100 ms", "5"), ("bufer = 500 ms", "100 ms", "3"),
            ("buffer = 300 ms\nnonsense", "300 ms", "3"), ("buffer = 300 ms\nperiods = x\nperiods = 6", "300 ms", "6"),
            ("[mpd]\nport = x", "100 ms", "3"), ("buffer = 300 ms", "300 ms", "4"),
        ])
    func completed(lines: String, buffer: String, periods: String) throws {
        let lastGood = Configuration(lastGood: [.buffer: "100 ms", .periods: "3"])
        let reading = read("[audio]\n\(lines)")
        let hasMistakes = !reading.problems.isEmpty
        let all = hasMistakes ? reading.completed(by: lastGood) : reading.configuration
        #expect(all.written(.buffer) == buffer && all.written(.periods) == periods)
        #expect(reading.completed(by: nil) == reading.configuration)
    }

    @Test("A wrong value in a later file is that of the last good start, and not that of a file before")
    func layers() {
        let lastGood = Configuration(lastGood: [.webPort: "8080"])
        for line in ["port = 8o", "prot = 81"] {
            let reading = read("[web]\nport = 80\nfolder = /a", "[web]\n\(line)")
            #expect(reading.completed(by: lastGood).webPort == 8080 && reading.completed(by: nil).webPort == 80)
            #expect(reading.completed(by: lastGood).originText(.webPort) == "last good settings")
        }
    }

    @Test(
        "The state is where the file says; where that line is wrong, a path in a wrong line or the usual folder",
        arguments: [
            ("[player]\nstate = /a\n[log]\nlevl = 1", ["/a"]), ("[player]\nsate = /a", ["/a", "/var/lib/tonearm"]),
            ("[playr]\nstate = /a\nresume = x", ["/a", "/var/lib/tonearm"]), ("[player]\nx = 1", ["/var/lib/tonearm"]),
            ("[player]\nresume = paused", ["/var/lib/tonearm"]),
        ])
    func stateFolders(text: String, folders: [String]) {
        #expect(read(text).stateFolders == folders)
    }
}
