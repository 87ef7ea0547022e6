import ApplianceTestSupport
import Foundation
import Platform
import TestSupport
import Testing

@testable import Appliance
@testable import Control

@Suite("The machine and its problems, as the system tells them (docs/control.md)")
struct MachineTests {
    @Test("The request has the name, the addresses, the room on the media and the last report")
    func machine() throws {
        let system = try PlayedSystem()
        let fixture = try WebFixture(
            settings: "[board]\nsystem-folder = \(system.folder.path)\n[discovery]\nname = Küche")
        defer { fixture.end() }
        let first = try fixture.ask("machine").json
        #expect(first["ok"] == true && first["name"] == "Küche" && first["report"] == .null)
        #expect(first["addresses"]?.elements != nil)
        let volumes = try #require(first["volumes"]?.elements)
        #expect(!volumes.isEmpty)
        for volume in volumes {
            let (free, size) = (volume["free"]?.integer ?? -1, volume["size"]?.integer ?? -1)
            #expect(free >= 0 && size > 0 && free <= size && volume["path"]?.string?.first == "/")
        }
        try system.write("report", "first\n" + String(repeating: "x", count: 5000) + "\nThe card is full.\n")
        #expect(try fixture.ask("machine").json["report"] == "The card is full.\n")
    }

    @Test("Problems of the system come and go while the daemon runs")
    func problems() throws {
        let system = try PlayedSystem()
        try system.write("problems", "configuration=tonearm.conf:2: wrong\nconfiguration=tonearm.conf:4: too\n")
        let fixture = try WebFixture(settings: "[board]\nsystem-folder = \(system.folder.path)")
        defer { fixture.end() }
        func shown() -> [String] {
            fixture.daemon.status.problems.filter { $0.subject.hasPrefix("system ") }
                .map { "\($0.subject): \($0.message)" }
        }
        let first = "system configuration: tonearm.conf:2: wrong tonearm.conf:4: too"
        expectSoon("the problem") { shown() == [first] }
        try system.write("problems", "stick-sda1=The stick cannot be read.\n")
        expectSoon("another one") { shown() == ["system stick-sda1: The stick cannot be read."] }
        try system.write("problems", "")
        expectSoon("their end") { shown() == [] }
    }

    @Test("The system's problem with the card hides that the queue cannot be saved")
    func card() {
        let problems = DaemonProblems {}
        problems.set("storage", "the queue could not be saved")
        problems.set("system storage", "the card is worn out")
        #expect(problems.all.map(\.subject) == ["system storage"])
        problems.set("system storage", nil)
        #expect(problems.all.map(\.subject) == ["storage"])
    }

    @Test("Lines without a name or a text are none, and there is a limit")
    func lines() {
        func read(_ text: String) -> [String] {
            SystemProblems.problems(Array(text.utf8)).map { "\($0.subject)|\($0.message)" }
        }
        #expect(read("a=b=c\n=x\ny=\nz\n\n") == ["system a|b=c"])
        #expect(read((0..<99).map { "n\($0)=x\n" }.joined()).count == 32)
        #expect(read(String(repeating: "a=\(String(repeating: "x", count: 999))\n", count: 99))[0].utf8.count < 6000)
    }
}
