import Foundation
import Platform
import ProgramTestSupport
import TestSupport
import Testing
@testable import tonearm

@Suite("tonearm update", .timeLimit(.minutes(10)))
struct UpdateCommandTests {
    private let program: Program
    private let image: ImageFolder

    init() throws {
        program = try Program()
        image = try ImageFolder()
    }

    @Test("says what was installed")
    func installed() throws {
        let result = try program.run("update", "--root", image.folderPath, image.path("bundle"))
        #expect(result.code == 0 && result.errors == "")
        #expect(result.output == "Version 0.9.10 is installed. It starts with the next start of the board.\n")
        #expect(image.slotsCalls == ["is-good", "try"])
    }

    @Test("--json: progress in percent, then the version")
    func json() throws {
        let result = try program.run("update", "--json", "--root", image.folderPath, image.path("bundle"))
        #expect(result.code == 0 && result.errors == "")
        let lines = try result.json()
        #expect(lines.last == ["event": "done", "version": "0.9.10"])
        #expect(lines.first?["event"] == "progress" && lines.first?["step"] == "checking")
        let percents = lines.filter { $0["step"] == "writing" }.compactMap { $0["percent"]?.integer }
        #expect(!percents.isEmpty && percents == Array(Set(percents)).sorted())
    }

    @Test("a refusal says why, and changes nothing")
    func refused() throws {
        try image.write("board=virtual\nversion=1.0\n", to: "etc/tonearm-release")
        let result = try program.run("update", "--json", "--root", image.folderPath, image.path("bundle"))
        #expect(result.code == 1)
        let message = "Version 0.9.10 is older than 1.0, which runs. Use --force to go back."
        #expect(result.errors == "tonearm: \(message)\n")
        #expect(try result.json() == [["event": "error", "code": "older", "message": .string(message)]])
        #expect(!image.isSlotWritten)
        let forced = try program.run("update", "--force", "--root", image.folderPath, image.path("bundle"))
        #expect(forced.code == 0)
    }

    @Test("a system without an image is not updated")
    func noImage() throws {
        let result = try program.run("update", "--root", program.folder.path, image.path("bundle"))
        #expect(result.code == 1)
        #expect(result.errors.contains("Only a firmware image can be updated; packages are updated with apt."))
    }

    @Test("a terminal shows a bar for each step")
    func bar() throws {
        let terminal = try PseudoTerminal(
            program, columns: 60, ["update", "--root", image.folderPath, image.path("bundle")])
        try terminal.waitForText { $0.contains("is installed") }
        #expect(try terminal.finish() == 0)
        #expect(terminal.text.contains("checking   [") && terminal.text.contains("verifying  ["))
    }

    @Test("the bar fits the terminal", arguments: [10, 20, 40, 80, 400])
    func width(columns: Int) {
        for percent in [0, 1, 50, 99, 100] {
            let text = UpdateProgress.bar(.verifying, percent: percent, columns: columns)
            #expect(text.utf8.count < max(columns, 17) && text.hasSuffix(" %"))
        }
    }

    @Test("a URL is one word for the shell", arguments: ["http://a/b", "http://a/it's; rm -rf $HOME `x`", "'"])
    func quoted(address: String) throws {
        let shell = try TestProcess.run("/bin/sh", ["-c", "printf %s \(UpdateDownload.quoted(address))"])
        #expect(shell.text == address)
    }

    @Test("a download that fails says so and leaves nothing behind")
    func download() throws {
        let result = try program.run("update", "--root", image.folderPath, "http://127.0.0.1:1/bundle")
        #expect(result.code == 1)
        #expect(
            result.errors.contains(
                "http://127.0.0.1:1/bundle cannot be downloaded. Is the network up, and the address right?"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: image.path("data/system")).isEmpty)
    }

    @Test("a download that fails on a full card is not a failure of the network")
    func fullCard() {
        #expect(UpdateDownload.Failure(freeBytes: 0) == .cardIsFull)
        #expect(UpdateDownload.Failure(freeBytes: 50 << 20) == .isNotSent)
        #expect(UpdateDownload.Failure(freeBytes: nil) == .isNotSent)
    }

    @Test("a wrong command line", arguments: [["update"], ["update", "a", "b"], ["update", "--froce", "a"]])
    func usage(words: [String]) throws {
        let result = try program.start(words).finish()
        #expect(result.code == 2 && result.errors.contains("See `tonearm update --help`."))
    }
}
