import CLinux
import Foundation
import Glibc
import Platform
import ProgramTestSupport
import TestSupport
import Testing

@Suite("A start with a mistake in the configuration file")
struct LastGoodStartTests {
    private static let good = "[player]\nresume = paused\nstate = STATE\n[log]\nlevel = info"

    private func write(_ text: String, _ program: Program, to name: String = "tonearm.conf") throws {
        let text = text.replacingOccurrences(of: "STATE", with: program.folder["daemon"])
            .replacingOccurrences(of: "FOLDER", with: program.folder.path)
        let socket = "\n[control]\nsocket = \(program.folder["control"])\nmode = 0600\n[audio]\ndevice = null\n"
        try program.write(Array((text + socket).utf8), to: name)
    }

    private func start(_ program: Program) throws -> RunningProgram {
        let daemon = try program.start(["run", "--config", "tonearm.conf"])
        try daemon.wait("its socket") { FileKind(at: program.folder["control"]) != nil }
        return daemon
    }

    private func ask(_ program: Program, _ words: String...) throws -> Program.Result {
        try program.start(words + ["--socket", program.folder["control"]]).finish()
    }

    private func problems(_ program: Program) throws -> String {
        let status = try ask(program, "status", "--json")
        #expect(status.code == 0, "\(status.errors)")
        let problems = try status.json().first?["problems"]?.elements ?? []
        return problems.filter { $0["subject"]?.string == "configuration" }.compactMap { $0["message"]?.string }
            .joined()
    }

    @Test(
        "It begins with the lines that are right and says what is wrong; the check fails until the file is corrected",
        arguments: [
            ("levl = debug", "tonearm.conf:6: unknown key \"levl\" in [log]; did you mean \"level\"?"),
            ("[audoi]", "tonearm.conf:6: unknown section [audoi]"),
            ("level = loud", "tonearm.conf:6: level was set in line 5 already"),
            ("[mpd]\nport = many", "tonearm.conf:7: port = many: must be a number"),
            ("[board]\nprofile = FOLDER/bord.conf", "bord.conf: "),
        ])
    func starts(line: String, mistake: String) throws {
        let program = try Program()
        try write(Self.good, program)
        var daemon = try start(program)
        daemon.send(SIGTERM)
        #expect(try daemon.finish().code == 0)

        try write(Self.good + "\n" + line, program)
        daemon = try start(program)
        #expect(try problems(program).contains(mistake))
        #expect(try ask(program, "config", "get", "log.level").output == "info\n")
        #expect(try program.run("config", "check", "--config", "tonearm.conf").code == 78)
        try write(Self.good + "\n" + line + "\n[nowhere]", program)
        daemon.send(SIGHUP)
        try daemon.wait("the reload") { (try? problems(program))?.contains("[nowhere]") == true }
        #expect(try problems(program).contains(mistake))

        try write(Self.good.replacingOccurrences(of: "info", with: "error"), program)
        daemon.send(SIGHUP)
        try daemon.wait("the corrected file") { (try? problems(program)) == "" }
        #expect(try ask(program, "config", "get", "log.level").output == "error\n")
        daemon.send(SIGTERM)
        #expect(try daemon.finish().code == 0)
    }

    @Test(
        "Also where only the start finds the mistake: a missing ca-file, a socket that cannot be made",
        arguments: [
            (
                "[service]\nurl = https://nas.lan\n[network]\nca-file = FOLDER/no.pem\n[library]\nfolders = none",
                "no.pem"
            ),
            ("", "tonearm.conf/control"),
        ])
    func startFails(lines: String, mistake: String) throws {
        let program = try Program()
        try write(Self.good, program)
        var daemon = try start(program)
        daemon.send(SIGTERM)
        #expect(try daemon.finish().code == 0)
        try write(Self.good + "\n" + lines, program)
        if lines.isEmpty {
            let text = String(decoding: try program.bytes("tonearm.conf"), as: UTF8.self)
            let wrong = text.replacingOccurrences(of: "/control", with: "/tonearm.conf/control")
            try program.write(Array(wrong.utf8), to: "tonearm.conf")
        }
        daemon = try start(program)
        let message = try problems(program)
        #expect(message.contains(mistake) && message.contains("last good start"), "\(message)")
        #expect(try ask(program, "config", "get", "log.level").output == "info\n")
        daemon.send(SIGTERM)
        #expect(try daemon.finish().code == 0)
    }

    @Test("Without a good start before, the other lines count as well, also where the service or the profile is wrong")
    func first() throws {
        let program = try Program()
        let wrong = Self.good.replacingOccurrences(of: "paused", with: "loud")
        let profile = "[board]\nname = A\n[sound]\ncard = A\n[button x]\nline = none\n"
        try program.write(Array(profile.utf8), to: "board.conf")
        for (lines, mistake) in [
            ("", "tonearm.conf:2: resume = loud"),
            ("[service]\nurl = https://nas.lan\n[network]\nca-file = FOLDER/no.pem", "no.pem"),
            ("[board]\nprofile = FOLDER/none.conf", "none.conf: "),
            ("[board]\nprofile = FOLDER/board.conf", "board.conf:6: "),
        ] {
            try write(wrong + "\n" + lines, program)
            let daemon = try start(program)
            let message = try problems(program)
            #expect(message.contains(mistake) && message.contains("resume = loud"), "\(message)")
            #expect(try ask(program, "config", "get", "log.level").output == "info\n")
            daemon.send(SIGTERM)
            #expect(try daemon.finish().code == 0)
            try FileManager.default.removeItem(atPath: program.folder["daemon"])
        }
    }

    @Test("Also in the line of the state's folder, and in a file of conf.d")
    func elsewhere() throws {
        let program = try Program()
        try write(Self.good, program)
        try FileManager.default.createDirectory(atPath: program.folder["conf.d"], withIntermediateDirectories: true)
        try program.write(Array("[log]\nlevel = debug\n".utf8), to: "conf.d/20.conf")
        try program.write(Array("[log]\nlevel = error\n[mpd]\nport = 6601\n".utf8), to: "conf.d/10.conf")
        for name in ["30.conf~", ".40.conf", "50.conf.dpkg-old"] {
            try program.write(Array("nonsense\n".utf8), to: "conf.d/\(name)")
        }
        var daemon = try start(program)
        #expect(try ask(program, "config", "get", "log.level").output == "debug\n")
        #expect(try ask(program, "config", "get", "mpd.port").output == "6601\n")
        daemon.send(SIGTERM)
        #expect(try daemon.finish().code == 0)

        try write(Self.good.replacingOccurrences(of: "state =", with: "sate ="), program)
        try program.write(Array("[log]\nlevel = laud\n".utf8), to: "conf.d/20.conf")
        daemon = try start(program)
        let message = try problems(program)
        #expect(message.contains("tonearm.conf:3: unknown key \"sate\"") && message.contains("20.conf:2: level = laud"))
        #expect(try ask(program, "config", "get", "log.level").output == "debug\n")
        #expect(try ask(program, "config", "get", "player.state").output == program.folder["daemon"] + "\n")
        let check = try program.run("config", "check", "--config", "tonearm.conf")
        #expect(check.code == 78 && check.errors.contains("conf.d/20.conf:2: level = laud"), "\(check.errors)")
        daemon.send(SIGTERM)
        #expect(try daemon.finish().code == 0)
    }
}
