import ApplianceTestSupport
import Player
import Testing

@testable import Appliance

@Suite("Mistakes in the configuration file")
struct ConfigurationMistakeTests: ConfigurationSuite {
    @Test(
        "A line that is not valid is an error with its number",
        arguments: [
            ("device = x", "1: \"device\" comes before the first [section]"),
            ("[audio\ndevice = x", "1: a section is written [name], alone on its line; this line only begins [audio]"),
            ("[audio] x", "1: a section is written [name], alone on its line; this line only begins [audio]"),
            ("[audio]\n\ndevice", "3: \"device\" is neither a [section] nor key = value"),
            ("[audio]\n= x", "2: there is no key before the ="),
            ("[audio]\ndevice = \"x", "2: the closing quote is missing"),
            ("[audio]\ndevice = \"x\"y", "2: there is something after the closing quote"),
            ("[audio]\ndevice = \u{1B}[31m", "2: control characters are not allowed"),
        ])
    func malformed(text: String, problem: String) {
        #expect(problems(text).first == "tonearm.conf:\(problem)")
    }

    @Test("Bytes that are no text are an error, not an end")
    func invalidUTF8() {
        let bytes = Array("[audio]\ndevice = ".utf8) + [0xFF, 0xFE]
        let error = #expect(throws: Configuration.Problems.self) { try Configuration(parsing: bytes, file: "f") }
        #expect(error?.problems.map(\.description) == ["f:2: not valid UTF-8. Save the file as UTF-8"])
    }

    @Test(
        "The error for a typo suggests a name, and lists all",
        arguments: [
            (
                "[audoi]",
                "1: unknown section [audoi]; did you mean \"audio\"? "
                    + "Sections: audio, player, control, board, service, network, offline, events, library, mpd, "
                    + "web, discovery, update, log"
            ),
            (
                "[wifi]",
                "1: unknown section [wifi]. "
                    + "Sections: audio, player, control, board, service, network, offline, events, library, mpd, "
                    + "web, discovery, update, log"
            ),
            (
                "[board]\nprofil = x",
                "2: unknown key \"profil\" in [board]; did you mean \"profile\"? "
                    + "Keys: profile, dac, dac-table, power-off, restart, network-restart, system-folder"
            ),
            ("[player]\nlevel = x", "2: unknown key \"level\" in [player]; it belongs to [log]. Keys: resume, state"),
            ("[player]\ncolour = red", "2: unknown key \"colour\" in [player]. Keys: resume, state"),
            (
                "[player]\nresume = payed",
                "2: resume = payed: must be one of playing, paused, empty. Did you mean paused?"
            ),
        ])
    func typos(text: String, problem: String) {
        #expect(problems(text) == ["tonearm.conf:\(problem)"])
    }

    private static let pins =
        "hosts, each with its keys after it and a comma between hosts, like nas.local KEY KEY; or none"

    private static let address = "an address that begins with https:// or http:// and has at most 1000 bytes, or none"

    @Test(
        "The error for a bad value or unit lists the allowed ones",
        arguments: [
            ("[audio]\nbuffer = 200", "a duration from 20 ms to 2 s, with a unit: ms, s or min"),
            ("[audio]\nbuffer = 5 h", "a duration from 20 ms to 2 s, with a unit: ms, s or min"),
            ("[audio]\nbuffer = 1 min", "a duration from 20 ms to 2 s, with a unit: ms, s or min"),
            ("[audio]\nbuffer = 9223372036854775807 min", "a duration from 20 ms to 2 s, with a unit: ms, s or min"),
            ("[audio]\nperiods = 1", "a number from 2 to 16"),
            ("[audio]\nperiods = two", "a number from 2 to 16"),
            ("[audio]\nperiods = 4 %", "a number from 2 to 16"),
            ("[audio]\nperiods =", "a number from 2 to 16"),
            ("[audio]\npre-amp = 4", "from -30 dB to 30 dB, whole, with the unit dB"),
            ("[audio]\npre-amp = 31 dB", "from -30 dB to 30 dB, whole, with the unit dB"),
            ("[audio]\nuntagged-gain = -6", "from -20 dB to 6 dB, whole, with the unit dB"),
            ("[audio]\nuntagged-gain = 7 dB", "from -20 dB to 6 dB, whole, with the unit dB"),
            ("[audio]\nmaximum-volume = 101 %", "from 1 % to 100 %"),
            ("[audio]\ndevice =", "something"),
            ("[control]\nmode = 668", "the permissions of a file in octal, like 0660"),
            ("[control]\nmode = 77777", "the permissions of a file in octal, like 0660"),
            ("[control]\nsocket = relative/path", "a path that begins with / and has at most 103 bytes, or none"),
            (
                "[control]\nsocket = /" + String(repeating: "x", count: 103),
                "a path that begins with / and has at most 103 bytes, or none"
            ),
            ("[player]\nstate = none", "a path that begins with /"),
            ("[update]\naddress = ftp://a/b", Self.address), ("[update]\naddress = https://", Self.address),
            ("[network]\npins = nas.local", Self.pins), ("[network]\npins = nas.local abc=", Self.pins),
            ("[network]\npins = nas.local,", Self.pins),
        ])
    func badValues(text: String, allowed: String) {
        let line = text.split(separator: "\n")[1]
        let key = line.split(separator: " ")[0]
        let value = line.drop { $0 != "=" }.dropFirst(2)
        #expect(problems(text) == ["tonearm.conf:2: \(key) = \(value): must be \(allowed)"])
    }

    @Test("An address may be as long as a request's")
    func longAddress() throws {
        func text(_ count: Int) -> String { "[update]\naddress = https://\(String(repeating: "x", count: count))" }
        #expect(try parse(text(992)).updateAddress?.text.utf8.count == 1000)
        #expect(problems(text(993)).first?.contains("must be \(Self.address)") == true)
    }

    @Test(
        "The address of a service with a user or a password in it is refused with the way to log in, and not repeated",
        arguments: ["http://user:secret@host", "https://secret@host:8443/a", "https://user:se%40cret@host?x"])
    func secretInAddress(url: String) throws {
        let problem = try #require(problems("[service]\nurl = \(url)").first)
        #expect(problem.contains("url: must not have a user or a password") && problem.contains("tonearm login"))
        #expect(!problem.contains("secret") && !problem.contains("cret@"))
        #expect(ServiceURL.fault(in: url)?.contains("tonearm login") == true)
        // An @ elsewhere is none.
        #expect(try parse("[service]\nurl = https://host/a@b").isSet(.serviceURL))
        #expect(ServiceURL.fault(in: "https://host/a@b") == nil && ServiceURL.fault(in: "http://") != nil)
    }

    @Test("The error for a setting that is set twice names the first line")
    func duplicate() {
        #expect(
            problems("[audio]\nperiods = 4\nperiods = 5") == ["tonearm.conf:3: periods was set in line 2 already"])
    }

    @Test("A section that begins twice is a mistake that names the first; its lines count unless they were set there")
    func sectionTwice() {
        let text = "[audio]\nperiods = 4\n[log]\n[Audio]\nperiods = 5\nbuffer = 1 s"
        let reading = ConfigurationReading([("f", Array(text.utf8))])
        #expect(
            reading.problems.map(\.description) == [
                "f:4: [audio] begins in line 1 already. Move its lines there, or give it a name of its own",
                "f:5: periods was set in line 2 already",
            ])
        #expect(reading.configuration.periodCount == 4 && reading.configuration.bufferMilliseconds == 1000)
    }

    @Test("Everything that is wrong is said at once, in the order of the lines")
    func allAtOnce() {
        let lines = problems("[audio]\nbuffer = 1\nnonsense\n[nowhere]\nx = y\n[log]\nlevel = loud\nlevle = info")
            .map { $0.split(separator: ":")[1] }
        #expect(lines == ["2", "3", "4", "7", "8"])
    }
}
