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
            read("[mpd]\nport = 1", "[mpd]\nport = 2\n[mpd]\nport = 3").problems.map(\.description)
                == ["conf.d/10-a.conf:4: port was set in line 2 already"])
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
