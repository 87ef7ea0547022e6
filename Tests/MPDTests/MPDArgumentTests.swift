import ApplianceTestSupport
import Testing

@testable import Appliance
@testable import MPD

@Suite("MPD: arguments, numbers and paths (docs/mpd.md)")
struct MPDArgumentTests {
    private func parse(_ line: String) throws(MPDFailure) -> [String] {
        let arguments = try MPDArguments(line: Array(line.utf8))
        return [arguments.name] + arguments.values
    }

    @Test("arguments are separated by blanks, and quoted with escapes")
    func arguments() throws {
        #expect(try parse("play") == ["play"])
        #expect(try parse("move  1 \t 2 ") == ["move", "1", "2"])
        #expect(try parse(#"find "(Artist == \"It\\'s \\\"A\\\"\")""#) == ["find", #"(Artist == "It\'s \"A\"")"#])
        #expect(try parse(#"add """#) == ["add", ""])
    }

    @Test(
        "mistakes have MPD's texts",
        arguments: [
            (#"add "x"#, "Missing closing '\"'"), (#"add "x"y"#, "Space expected after closing '\"'"),
            (#"add x"y"#, "Invalid unquoted character"), ("pl-ay", "Invalid word character"),
        ])
    func mistakes(line: String, message: String) {
        #expect { try parse(line) } throws: { ($0 as? MPDFailure)?.message == message }
    }

    @Test("ranges are limited to the queue")
    func ranges() throws {
        #expect(try MPDNumbers.range("2", count: 3) == 2..<3)
        #expect(try MPDNumbers.range("1:", count: 3) == 1..<3)
        #expect(try MPDNumbers.range("1:99", count: 3) == 1..<3)
        #expect(try MPDNumbers.range("-1", count: 3) == 0..<3)
        #expect(try MPDNumbers.range("3", count: 3) == 3..<3)
        for (text, message) in [
            ("4", "Bad song index"), ("x", "Integer or range expected: x"), ("1:x", "Integer or range expected: 1:x"),
            ("-2", "Number is negative: -2"), ("2:1", "Malformed range: 2:1"),
            ("2147483647", "Number too large: 2147483647"),
            ("99999999999999999999", "Number too large: 99999999999999999999"),
        ] {
            #expect { try MPDNumbers.range(text, count: 3) } throws: { ($0 as? MPDFailure)?.message == message }
        }
    }

    @Test("a value cannot end its line")
    func lineEnds() {
        var output = MPDOutput()
        output.pair("Title", "a\nOK\r\0b")
        #expect(output.bytes == Array("Title: a OK  b\n".utf8))
        output = MPDOutput()
        output.seconds("elapsed", 61.0016)
        output.seconds("elapsed", -1)
        #expect(output.bytes == Array("elapsed: 61.002\nelapsed: 0.000\n".utf8))
    }

    @Test("URIs are relative to the folder, or to the folders by their names")
    func paths() {
        let one = MusicURIs(folders: ["/music/"])
        #expect(one.uri(ofPath: "/music/A/b.flac") == "A/b.flac")
        #expect(one.uri(ofPath: "/musical/b.flac") == nil)
        #expect(one.path(ofURI: "A/b.flac") == "/music/A/b.flac")
        #expect(one.path(ofURI: "") == "/music")
        #expect(one.onlyFolder == "/music" && one.rootNames == nil)
        let many = MusicURIs(folders: ["/data/music", "/media", "/mnt/music"])
        #expect(many.rootNames == ["music", "media", "music 2"])
        #expect(many.uri(ofPath: "/data/music/a.flac") == "music/a.flac")
        #expect(many.path(ofURI: "music 2/a.flac") == "/mnt/music/a.flac")
        #expect(many.path(ofURI: "media") == "/media")
        #expect(many.path(ofURI: "other/a.flac") == nil && many.onlyFolder == nil)
    }

    @Test("a password gives its level, and a wrong one none")
    func passwords() throws {
        let passwords = try #require(MPDPasswords(Array("# mine\nread look\r\n\nadmin all of it\ncontrol look\n".utf8)))
        #expect(passwords.level(of: "look") == .control)
        #expect(passwords.level(of: "all of it") == .admin)
        #expect(passwords.level(of: "loo") == nil && passwords.level(of: "looks") == nil)
        #expect(MPDPasswords(Array("root x".utf8)) == nil && MPDPasswords(Array("read".utf8)) == nil)
    }

    @Test("the level of clients without a password is that of the setting")
    func permission() throws {
        let names = ["none", "read", "add", "control", "admin"]
        for (name, level) in zip(names, MPDPermission.allCases) {
            let text = "[mpd]\npermission = \(name)\n"
            let configuration = try Configuration(parsing: Array(text.utf8), file: "tonearm.conf")
            #expect(configuration.mpdPermission == level)
        }
    }
}
