import Appliance
import Foundation
import Platform
import ProgramTestSupport
import TestSupport
import Testing
@testable import tonearm

@Suite("tonearm update")
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
        #expect(image.slotsCalls == ["is-good", "stay", "try"])
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
        #expect(terminal.text.contains("checking    [") && terminal.text.contains("verifying   ["))
    }

    @Test("the bar fits the terminal", arguments: [10, 20, 40, 80, 400])
    func width(columns: Int) {
        for step in [UpdateInstallation.Step.downloading, .verifying] {
            for percent in [0, 1, 50, 99, 100] {
                let text = UpdateProgress.bar(step, percent: percent, columns: columns)
                #expect(text.utf8.count < max(columns, 18) && text.hasSuffix(" %"))
            }
        }
    }

    /// A server with the bundle at one address, and with faults at others.
    private func server() -> ScriptedServer {
        ScriptedServer { [bundle = image.bundle] connection in
            guard let request = connection.request() else { return }
            let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: "
            switch request.split(separator: " ")[1] {
            case "/it's.update":
                connection.send("\(head)\(bundle.count)\r\n\r\n")
                connection.send(bundle)
            case "/half":
                connection.send("\(head)\(bundle.count)\r\n\r\n")
                connection.send(Array(bundle[..<(bundle.count / 2)]))
            case "/large": connection.send("\(head)\(Int64(1) << 44)\r\n\r\n")
            case "/larger": connection.send("\(head)\((256 << 20) + 1)\r\n\r\n")
            case "/moved":
                connection.send(
                    "HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: 0\r\nLocation: /it's.update\r\n\r\n")
            default: connection.send("HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            }
        }
    }

    /// The files that a download has left.
    private func leftovers() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: image.path("data/system"))
    }

    @Test("a bundle comes from a web server, also by a redirect", arguments: ["/it's.update", "/moved"])
    func downloaded(path: String) throws {
        let server = server()
        let result = try program.run("update", "--json", "--root", image.folderPath, server.url(path))
        #expect(result.code == 0 && result.errors == "")
        let lines = try result.json()
        #expect(lines.last == ["event": "done", "version": "0.9.10"])
        #expect(lines.first?["step"] == "downloading")
        #expect(lines.contains(["event": "progress", "step": "downloading", "percent": 100]))
        #expect(try leftovers().isEmpty && image.isSlotWritten)
    }

    @Test(
        "a download that fails says why and leaves nothing behind",
        arguments: [
            ("/missing", "download", "the server has no such file (status 404). Is the address right?"),
            ("/half", "download", "the connection ended before the answer was complete"),
            ("/large", "noRoom", "the card is full. Delete some music."),
            ("/larger", "download", "the file is larger than any bundle. Is the address right?"),
        ])
    func failedDownload(path: String, code: String, reason: String) throws {
        let server = server()
        let address = server.url(path)
        let result = try program.run("update", "--json", "--root", image.folderPath, address)
        #expect(result.code == 1)
        #expect(result.errors == "tonearm: \(address) cannot be downloaded: \(reason)\n")
        #expect(try result.json().last?["code"] == .string(code))
        #expect(try leftovers().isEmpty && !image.isSlotWritten)
    }

    @Test("without a server the reason is the connection's; without an image nothing is asked for")
    func noServer() throws {
        let address = "http://127.0.0.1:1/bundle"
        let result = try program.run("update", "--root", image.folderPath, address)
        #expect(result.code == 1)
        #expect(
            result.errors == "tonearm: \(address) cannot be downloaded: "
                + "the server refused the connection: nothing listens there\n")
        let server = server()
        let package = try program.run("update", "--root", program.folder.path, server.url("/it's.update"))
        #expect(package.code == 1 && package.errors.contains("packages are updated with apt."))
        #expect(server.connectionCount == 0)
    }

    @Test("a wrong command line", arguments: [["update"], ["update", "a", "b"], ["update", "--froce", "a"]])
    func usage(words: [String]) throws {
        let result = try program.start(words).finish()
        #expect(result.code == 2 && result.errors.contains("See `tonearm update --help`."))
    }
}
