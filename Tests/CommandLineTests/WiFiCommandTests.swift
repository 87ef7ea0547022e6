import CLinux
import Foundation
import Platform
import ProgramTestSupport
import TestSupport
import Testing

@testable import tonearm

@Suite("tonearm wifi")
struct WiFiCommandTests {
    private let system: PlayedSystem
    private let daemon: RunningDaemon
    private var program: Program { daemon.program }

    init() throws {
        system = try PlayedSystem()
        daemon = try RunningDaemon(settings: "\(system.settings)\n[log]\nlevel = debug")
    }

    private func start(_ words: String...) throws -> RunningProgram {
        try program.start(["wifi"] + words + ["--socket", daemon.socket])
    }

    @Test("The state and the networks, for people and programs")
    func status() throws {
        #expect(try daemon.run("wifi").output == "The system has not reported about Wi-Fi yet.\n")
        try system.write("state", "mode=connected\nssid=686f6d65\nfailed=ff61\nproblem=not-found\n")
        try system.write("networks", "-57 wpa2+wpa3 686f6d65\n-100 open 610a62\n")
        try system.write("known", "file 686f6d65\npage ff61\n")
        #expect(
            try daemon.run("wifi", "status").output == """
                Connected to home.
                The last attempt failed: \\xffa: no such network is in range. For one that hides its name use --hidden.
                  -57 dBm   wpa2+wpa3  home
                  -100 dBm  open       a b
                Known networks: home (in the configuration), \\xffa

                """)
        let json = try daemon.run("wifi", "--json").json()
        #expect(json.count == 1 && json[0]["mode"] == "connected" && json[0]["known"]?[1]?["ssid"] == "\u{EFFF}a")
        _ = try daemon.end()
    }

    @Test("connect waits for the outcome; the password is in no output and in no line of the log")
    func connect() throws {
        try system.write("state", "mode=off\nfailed=686f6d65\nproblem=refused\n")
        try program.write(Array("correct horse\nother line\n".utf8), to: "password")
        let failing = try start("connect", "home", "--password-file", program.folder["password"])
        #expect(try system.takeNext() == "join\nssid=686f6d65\npassword=636f727265637420686f727365\n")
        try system.write("state", "mode=trying\nssid=686f6d65\n")
        try system.write("state", "mode=off\nfailed=686f6d65\nproblem=wrong-password\n")
        let failed = try failing.finish()
        #expect(failed.code == 1 && failed.output.isEmpty)
        #expect(failed.errors == "tonearm: home: the password is wrong.\n")

        let joining = try start("connect", "home", "--hidden", "--json", "--password-file", "password")
        #expect(try system.takeNext() == "join\nssid=686f6d65\npassword=636f727265637420686f727365\nhidden=yes\n")
        try system.write("state", "mode=connected\nssid=686f6d65\n")
        let joined = try joining.finish()
        #expect(joined.code == 0 && joined.errors.isEmpty)
        #expect(try joined.json().map { $0["mode"] } == ["connected"])

        let refused = try daemon.run("wifi", "connect", "home", "--password-file", "tonearm.conf")
        #expect(refused.code == 1 && refused.errors.hasPrefix("tonearm: password: must be 8 to 63 bytes"))
        let log = try daemon.end()
        for text in [failed.errors, joined.output, refused.errors, log.errors, log.output] {
            #expect(!text.contains("horse") && !text.contains("636f7272"))
        }
    }

    @Test("Without a terminal the password is the first line of stdin; an empty one is an open network")
    func stdin() throws {
        for (input, request) in [
            ("correct horse\r\nrest", "join\nssid=636166c3a9\npassword=636f727265637420686f727365\n"),
            ("", "join\nssid=636166c3a9\n"), ("\n", "join\nssid=636166c3a9\n"),
        ] {
            try program.write(Array(input.utf8), to: "input")
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: program.folder["input"]))
            let process = try TestProcess(
                Program.path(), ["wifi", "connect", "café", "--socket", daemon.socket],
                environment: program.environment, in: program.folder.path, input: .descriptor(file.fileDescriptor),
                output: .pipe)
            #expect(try system.takeNext() == request)
            try system.write("state", "mode=connected\nssid=636166c3a9\n")
            let result = try process.finish()
            #expect(result.code == 0 && result.text == "Connected to café.\n")
        }
        _ = try daemon.end()
    }

    @Test("A terminal asks for the password, does not show it, and is as before afterwards")
    func terminal() throws {
        let words = ["wifi", "connect", "home", "--socket", daemon.socket]
        let terminal = try PseudoTerminal(program, words)
        let before = terminal.settings
        try terminal.waitForText { $0.hasSuffix("Password of home (empty for an open network): ") }
        terminal.type("wrong\u{15}correkt\u{7F}\u{7F}\u{7F}ect horse\r")
        #expect(try system.takeNext() == "join\nssid=686f6d65\npassword=636f727265637420686f727365\n")
        try system.write("state", "mode=connected\nssid=686f6d65\n")
        try terminal.waitForText { $0.contains("Connected to home.") }
        #expect(try terminal.finish() == 0)
        #expect(!terminal.text.contains("horse") && !terminal.text.contains("wrong"))
        #expect(terminal.settings == before)

        let interrupted = try PseudoTerminal(program, words)
        let settings = interrupted.settings
        try interrupted.waitForText { $0.hasSuffix("): ") }
        interrupted.type("secret\u{3}")
        #expect(try interrupted.finish() != 0)
        #expect(interrupted.settings == settings && system.wanted == nil)
        _ = try daemon.end()
    }

    @Test("scan and forget are done when the system has begun")
    func others() throws {
        try system.write("known", "page 686f6d65\n")
        let scan = try start("scan")
        #expect(try system.takeNext() == "scan\n")
        #expect(try scan.finish().output.hasPrefix("The system looks for networks."))
        let forget = try start("forget", "home")
        #expect(try system.takeNext() == "forget\nssid=686f6d65\n")
        #expect(try forget.finish().output == "home is forgotten.\n")
        let unknown = try daemon.run("wifi", "forget", "cabin")
        #expect(unknown.code == 1 && unknown.errors == "tonearm: cabin: this network is not known\n")
        _ = try daemon.end()
    }

    @Test("Where no system takes requests, the reason says so")
    func noFolder() throws {
        _ = try daemon.end()
        let other = try RunningDaemon()
        let refused = try other.run("wifi")
        #expect(refused.code == 1 && refused.errors.contains("no [network] wifi-folder is configured"))
        _ = try other.end()
        #expect(try other.run("wifi").code == 4)
    }
}

@Suite("tonearm wifi: the words, and what is decided")
struct WiFiDecisionTests {
    @Test(
        "Mistakes",
        arguments: [
            (["conect"], "Did you mean connect?"), (["connect"], "wifi connect takes one network"),
            (["forget"], "wifi forget takes one network"), (["scan", "x"], "wifi scan takes no operand"),
            (["forget", "x", "--hidden"], "go with wifi connect"),
            (["--password-file", "x"], "go with wifi connect"),
            (["connect", "home", "geheim99"], "wifi connect takes one network"),
        ])
    func mistakes(words: [String], message: String) {
        let error = #expect(throws: UsageError.self) { try WiFiCommand(words) }
        #expect(error?.message.contains(message) == true && error?.message.contains("geheim") == false)
    }

    @Test(
        "A password while it is typed",
        arguments: [
            ("abc\n", "abc"), ("abc\rdef", "abc"), ("ab\u{4}c\n", "abc"), ("ab\u{7F}c\n", "ac"), ("\u{7F}a\n", "a"),
            ("aé\u{8}b\n", "ab"), ("a東\u{7F}\u{7F}\n", ""), ("ab\u{15}c\n", "c"), ("a\u{1B}b\tc\n", "abc"), ("\n", ""),
        ])
    func typing(keys: String, password: String) {
        var typed = TypedPassword()
        var hasEnded = false
        for byte in keys.utf8 where !hasEnded { hasEnded = typed.type(byte) }
        #expect(hasEnded && typed.bytes == Array(password.utf8))
    }

    @Test("An attempt waits for its own outcome, and not for ever")
    func verdicts() throws {
        func verdict(_ status: String, after seconds: Double = 1, network: String? = "home") throws
            -> WiFiAttempt.Verdict
        {
            try WiFiAttempt(network: network).verdict(JSONValue.parse(status), after: seconds)
        }
        #expect(try verdict(#"{"waiting":true}"#) == .waits)
        #expect(try verdict(#"{"waiting":true,"mode":"connected","ssid":"home"}"#) == .waits)
        #expect(try verdict(#"{"waiting":false,"mode":"trying","ssid":"home"}"#, after: 89) == .waits)
        #expect(try verdict(#"{"waiting":false,"mode":"connected","ssid":"x"}"#) == .waits)
        #expect(try verdict(#"{"waiting":false,"mode":"off","failed":{"ssid":"x","problem":null}}"#) == .waits)
        #expect(try verdict(#"{"waiting":false,"mode":"connected","ssid":"home","failed":null}"#) == .done)
        #expect(
            try verdict(#"{"waiting":false,"mode":"off","failed":{"ssid":"home","problem":null}}"#)
                == .failed("home: it could not be joined."))
        #expect(try verdict(#"{"waiting":false,"mode":"off"}"#, network: nil) == .done)
        guard case .failed(let late) = try verdict(#"{"waiting":false,"mode":"trying","ssid":"home"}"#, after: 90),
            case .failed(let deaf) = try verdict(#"{"waiting":true}"#, after: 15, network: nil)
        else {
            Issue.record("it waits for ever")
            return
        }
        #expect(late.hasPrefix("no outcome after 90 seconds") && deaf.contains("does its part of Wi-Fi run?"))
    }

    @Test(
        "Each mode has its sentence",
        arguments: [
            (#"{"mode":null}"#, "The system has not reported about Wi-Fi yet."),
            (#"{"mode":"off"}"#, "Wi-Fi is not connected."),
            (#"{"mode":"connecting"}"#, "Looking for a known network."),
            (#"{"mode":"connecting","ssid":"a"}"#, "Looking for a."), (#"{"mode":"trying","ssid":"a"}"#, "Trying a."),
            (
                #"{"mode":"access-point","accessPoint":"Tonearm-1A2B","address":"10.83.84.1"}"#,
                "Waiting for the set-up: join the network Tonearm-1A2B with a phone, and open http://10.83.84.1/ there."
            ),
        ])
    func modes(status: String, line: String) throws {
        #expect(WiFiText.lines(try JSONValue.parse(status)) == [line])
    }
}
