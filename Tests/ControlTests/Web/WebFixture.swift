import ApplianceTestSupport
import Foundation
import HTTPServer
import Platform
import Player
import TestSupport
import Testing

@testable import Appliance
@testable import Control

/// A daemon with a library and a web server at a port of loopback.
final class WebFixture {
    let folder: ScratchFolder
    let daemon: DaemonFixture
    /// More lines of the section `web`.
    private let settings: String
    // @unchecked: used on the daemon's thread alone.
    private final class Opened: @unchecked Sendable { var server: WebServer? }
    private let opened = Opened()

    /// The number of clients of the control protocol that serve requests.
    var clientCount: Int { daemon.perform { [opened] _ in opened.server!.clientCount } }
    var port: UInt16 { daemon.perform { [opened] _ in opened.server!.port } }

    /// - Parameters:
    ///   - pictures: the name of the program that makes thumbnails, in the fixture's folder; nil: the package's own.
    ///   - limits: those of that program.
    ///   - covers: those of a content service, for each start.
    ///   - make: writes music into the folder `music`, and the files of the page into `page`.
    init(
        settings: String = "",
        pictures: String? = nil,
        limits: PictureProgram.Limits = PictureProgram.Limits(),
        covers: StartedCovers = StartedCovers { nil }, _ make: (ScratchFolder) throws -> Void = { _ in }
    ) throws {
        folder = try ScratchFolder()
        self.settings = settings
        daemon = DaemonFixture(folder: folder["state"])
        daemon.servers = [WebServer.schema]
        for name in ["music", "page"] {
            try FileManager.default.createDirectory(atPath: folder[name], withIntermediateDirectories: true)
        }
        try make(folder)
        let program = pictures.map { folder[$0] } ?? PictureProgram.besideThisProgram()
        daemon.prepare = { [opened] daemon in
            daemon.openLibrary()
            opened.server = try? WebServer.open(
                daemon, on: ListeningSocket(address: "127.0.0.1", port: 0),
                WebAccess(daemon.settings.configuration), version: "1.2.3",
                pictures: PictureProgram(program, limits: limits, clock: SystemMonotonicClock()), covers: covers.make())
        }
        try start()
    }

    func start() throws {
        try daemon.start(
            """
            [player]
            state = \(folder["state"])
            [library]
            folders = \(folder["music"])
            [web]
            folder = \(folder["page"])
            \(settings)
            """)
    }

    /// Ends the requests and streams, as the daemon does at first when it ends.
    func closeServer() { daemon.perform { [opened] _ in opened.server?.close() } }

    func stopServer() {
        daemon.perform { [opened] _ in
            opened.server?.stop()
            opened.server = nil
        }
    }

    func end() {
        stopServer()
        daemon.end()
    }

    func get(_ path: String, _ headers: [String] = []) throws -> WebAnswer { try fetch("GET", path, headers) }

    /// Sends a request and returns its whole answer.
    func fetch(
        _ method: String, _ path: String, _ headers: [String] = [], body: String = ""
    ) throws -> WebAnswer {
        try WebExchange(port, method, path, headers + ["Connection: close"], body: body).whole()
    }

    /// Sends a request of the control protocol as a program does.
    @discardableResult
    func ask(_ name: String, _ fields: String = "{}", _ headers: [String] = []) throws -> WebAnswer {
        try fetch("POST", "/api/\(name)", ["Content-Type: application/json"] + headers, body: fields)
    }

    /// Waits until the library has so many tracks.
    func waitForTracks(_ count: Int64) {
        expectSoon("\(count) tracks in the library") {
            (try? self.ask("library-status").json["tracks"]?.integer) == count
        }
    }
}

/// Makes the covers of a content service for a start of a daemon.
struct StartedCovers: Sendable {
    let make: @Sendable () -> (any CoverSource)?
}

/// An answer over HTTP.
struct WebAnswer {
    var status: Int
    /// The names in lower case.
    var headers: [String: String]
    var body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
    var json: JSONValue { (try? JSONValue.parse(body)) ?? .null }
    var code: String? { json["error"]?["code"]?.string }
}

/// A request over HTTP of a client that shares no code with the server.
final class WebExchange {
    private let socket: StreamSocket
    private var received: [UInt8] = []
    private(set) var status = 0
    private(set) var headers: [String: String] = [:]

    init(_ port: UInt16, _ method: String, _ path: String, _ headers: [String] = [], body: String = "") throws {
        socket = try StreamSocket(connectingTo: "127.0.0.1", port: port)
        limitWaits(ofSocket: socket.descriptor)
        var lines = ["\(method) \(path) HTTP/1.1"]
        if !headers.contains(where: { $0.hasPrefix("Host:") }) { lines.append("Host: 127.0.0.1:\(port)") }
        lines += headers
        if method == "POST" { lines.append("Content-Length: \(body.utf8.count)") }
        var rest = Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)[...]
        while !rest.isEmpty {
            let count = try rest.withUnsafeBytes { try socket.send($0) }
            rest = rest.dropFirst(count ?? 0)
        }
    }

    /// Returns the bytes up to a mark, which is left out; nil at the end.
    func bytes(to mark: String, until deadline: Deadline = Deadline()) throws -> [UInt8]? {
        let mark = Array(mark.utf8)
        while true {
            if let found = received.firstRange(of: mark) {
                defer { received.removeFirst(found.upperBound) }
                return Array(received[..<found.lowerBound])
            }
            if try !receive(until: deadline) { return nil }
        }
    }

    private func receive(until deadline: Deadline) throws -> Bool {
        try waitForDescriptor(socket.descriptor, "an answer, after \(received.count) bytes of it", until: deadline)
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count: Int
        do { count = try chunk.withUnsafeMutableBytes { try socket.receive(into: $0) } ?? 0 } catch { return false }
        received += chunk[..<count]
        return count > 0
    }

    /// Reads the head of the answer.
    func head() throws {
        guard let head = try bytes(to: "\r\n\r\n") else { throw Unexpected("no answer") }
        let lines = String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n")
        status = Int(lines[0].split(separator: " ")[1]) ?? 0
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] =
                line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
    }

    /// Reads the whole answer, up to the end of the connection.
    func whole() throws -> WebAnswer {
        try head()
        let deadline = Deadline()
        while try receive(until: deadline) {}
        return WebAnswer(status: status, headers: headers, body: received)
    }

    /// The next server-sent event of this name; comments and other events before it are skipped.
    /// - Returns: nil when the stream has ended.
    func event(_ name: String) throws -> JSONValue? {
        let deadline = Deadline()
        while let block = try bytes(to: "\n\n", until: deadline) {
            // By bytes: the sizes of chunks are lines of their own before an event, with CR and LF.
            let lines = block.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
            guard lines.contains("event: \(name)"), let data = lines.first(where: { $0.hasPrefix("data: ") }) else {
                continue
            }
            return try JSONValue.parse(String(data.dropFirst(6)))
        }
        return nil
    }
}
