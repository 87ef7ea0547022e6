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
            case "/longer":
                connection.send("\(head)\(bundle.count + 1)\r\n\r\n")
                connection.send(bundle)
            case "/shorter":
                connection.send("\(head)\(bundle.count - 1)\r\n\r\n")
                connection.send(Array(bundle.dropLast()))
            case "/cut":
                connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
                connection.send(Array(bundle.dropLast()))
            case "/endless":
                connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
                connection.send(bundle)
                while connection.send([UInt8](repeating: 7, count: 65_536)) {}
            case "/noise":
                connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
                while connection.send([UInt8](repeating: 7, count: 100)) {}
            case "/head":
                // The rest never comes.
                connection.send("\(head)\(bundle.count)\r\n\r\n")
                connection.send(Array(bundle[..<1024]))
                connection.waitForClose()
            case "/elsewhere":
                let port = request.split(separator: "\r\n").first { $0.hasPrefix("Host:") }!.split(separator: ":").last!
                connection.send(
                    "HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: 0\r\n"
                        + "Location: http://localhost:\(port)/it's.update\r\n\r\n")
            case "/large": connection.send("\(head)\(Int64(1) << 44)\r\n\r\n")
            case "/larger": connection.send("\(head)\((64 << 20) + 1025)\r\n\r\n")
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
            ("/large", "download", "the file is larger than any bundle. Is the address right?"),
            ("/larger", "download", "the file is larger than any bundle. Is the address right?"),
            ("/endless", "tooLong", "the server sends more bytes than the update has. Is the address right?"),
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

    @Test(
        "the head of a bundle is checked before the rest comes",
        arguments: [
            ("board=rpi3\nversion=0.1\n", "otherBoard"), ("board=virtual\nversion=0.9.11\n", "older"),
        ])
    func head(release: String, code: String) throws {
        let server = server()
        try image.write(release, to: "etc/tonearm-release")
        let result = try program.run("update", "--json", "--root", image.folderPath, server.url("/head"))
        #expect(result.code == 1)
        #expect(try result.json().last?["code"] == .string(code))
        #expect(try leftovers().isEmpty && !image.isSlotWritten)
    }

    @Test(
        "bytes without a signature, and others than were signed, are refused",
        arguments: [
            ("/noise", "wrongSignature"), ("/longer", "tooLong"), ("/shorter", "damaged"), ("/cut", "damaged"),
        ])
    func refusedBytes(path: String, code: String) throws {
        let server = server()
        let result = try program.run("update", "--json", "--root", image.folderPath, server.url(path))
        #expect(result.code == 1)
        #expect(try result.json().last?["code"] == .string(code))
        #expect(try leftovers().isEmpty && !image.isSlotWritten)
    }

    @Test("a slot that is too small, and a card without room, are refused before the rest comes")
    func tooSmall() throws {
        let server = server()
        truncate(image.slotPath, 40 << 20)
        let small = try program.run("update", "--json", "--root", image.folderPath, server.url("/head"))
        #expect(try small.json().last?["code"] == "doesNotFit")
        truncate(image.slotPath, 64 << 20)
        guard Medium.isAvailable else { return }
        let medium = try Medium(at: image.path("data/system"), kilobytes: 64)
        let full = try program.run("update", "--json", "--root", image.folderPath, server.url("/head"))
        #expect(try full.json().last?["code"] == "noRoom")
        #expect(try leftovers().isEmpty)
        extendLifetime(medium)
    }

    @Test("a signal cancels a download; until its end, another update is refused", arguments: [SIGTERM, SIGINT])
    func cancelled(signal: Int32) throws {
        let server = server()
        let words = ["update", "--json", "--root", image.folderPath, server.url("/head")]
        let running = try program.start(words)
        try running.line { $0["step"] == "downloading" }
        let second = try program.start(words).finish()
        #expect(second.code == 1 && second.errors == "tonearm: Another update is running. Wait for its end.\n")
        #expect(try leftovers() == ["update.download"])
        running.send(signal)
        let result = try running.finish()
        #expect(result.code == 1 && result.errors == "tonearm: The update was cancelled.\n")
        #expect(try result.json().last?["code"] == "cancelled")
        #expect(try leftovers().isEmpty && !image.isSlotWritten)
    }

    @Test("the address of a client leads into the local network only if it says so itself, or the configuration does")
    func forClient() throws {
        let server = server()
        let port = server.port
        for (address, isInstalled) in [
            ("http://127.0.0.1:\(port)/it's.update", true), ("http://localhost:\(port)/it's.update", true),
            ("http://127.0.0.1:\(port)/moved", true), ("http://127.0.0.1:\(port)/elsewhere", false),
            ("http://updates.localhost:\(port)/it's.update", false),
        ] {
            let result = try program.run(
                "update", "--json", "--for-client", "--root", image.folderPath, address)
            #expect((result.code == 0) == isInstalled, "\(address): \(result.errors)")
            if !isInstalled { #expect(try result.json().last?["code"] == "localAddress", "\(address)") }
            #expect(try leftovers().isEmpty)
        }
        try program.write(
            Array("[update]\naddress = http://updates.localhost/bundle\n".utf8), to: "update.conf")
        for words in [["--for-client", "--config", "update.conf"], []] {
            let all = ["update", "--root", image.folderPath] + words + ["http://updates.localhost:\(port)/it's.update"]
            #expect(try program.start(all).finish().code == 0)
        }
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

    @Test("--cancel has the daemon end the update that a client has requested")
    func cancelByDaemon() throws {
        let system = try PlayedSystem()
        try system.write("state", "mode=downloading\n")
        let daemon = try RunningDaemon(settings: system.updateSettings)
        let result = try daemon.run("update", "--cancel")
        #expect(result.code == 0 && result.output == "The update is cancelled, if one was running.\n")
        #expect(FileManager.default.fileExists(atPath: system.folder["cancel"]))
    }

    @Test(
        "a wrong command line",
        arguments: [
            ["update"], ["update", "a", "b"], ["update", "--froce", "a"], ["update", "--cancel", "a"],
            ["update", "--socket", "a", "b"],
        ])
    func usage(words: [String]) throws {
        let result = try program.start(words).finish()
        #expect(result.code == 2 && result.errors.contains("See `tonearm update --help`."))
    }
}
