import Foundation
import Platform
import TestSupport
import Testing

@testable import Appliance

/// A daemon with a library and a server of MPD's protocol at a UNIX socket and a port of loopback.
final class MPDFixture {
    let folder: ScratchFolder
    let daemon: DaemonFixture
    /// More lines of the section `mpd`.
    private let settings: String
    // @unchecked: used on the daemon's thread alone.
    private final class Opened: @unchecked Sendable { var server: MPDServer? }
    private let opened = Opened()

    var socket: String { folder["mpd"] }
    var port: UInt16? { daemon.perform { [opened] _ in opened.server?.port } }
    var clientCount: Int { daemon.perform { [opened] _ in opened.server?.clientCount ?? 0 } }

    /// - Parameter make: writes music into the folder.
    init(settings: String = "", _ make: (String) throws -> Void = { _ in }) throws {
        folder = try ScratchFolder()
        self.settings = settings
        daemon = DaemonFixture(folder: folder["state"])
        try FileManager.default.createDirectory(atPath: folder["music"], withIntermediateDirectories: true)
        try make(folder["music"])
        daemon.prepare = { [opened] daemon in
            daemon.openLibrary()
            opened.server = MPDServer.open(daemon)
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
            [mpd]
            socket = \(socket)
            \(settings)
            """)
    }

    func end() {
        daemon.perform { [opened] _ in
            opened.server?.stop()
            opened.server = nil
        }
        daemon.end()
    }

    /// A client that has its greeting.
    func connect() throws -> MPDTestClient {
        let client = try MPDTestClient(try StreamSocket(connectingTo: socket))
        #expect(try client.line() == "OK MPD 0.23.5")
        return client
    }

    /// Waits until the library has so many songs.
    func waitForSongs(_ count: Int, _ client: MPDTestClient) {
        expectSoon("\(count) songs in the library") {
            (try? client.ask("stats").contains("songs: \(count)")) == true
        }
    }
}

/// A client that shares no code with the server: lines on a socket.
// @unchecked: one thread of the test uses a client at a time.
final class MPDTestClient: @unchecked Sendable {
    private let socket: StreamSocket
    private var received: [UInt8] = []

    init(_ socket: StreamSocket) throws {
        self.socket = socket
        limitWaits(ofSocket: socket.descriptor)
    }

    func send(_ text: String) throws { try sendPart(text + "\n") }

    /// Sends a part of a line.
    func sendPart(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = try rest.withUnsafeBytes { try socket.send($0) }
            rest = rest.dropFirst(count ?? 0)
        }
    }

    /// The next line; nil when the server has closed the connection.
    func line(until deadline: Deadline = Deadline()) throws -> String? {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                defer { received.removeFirst(end + 1) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            if try !receive(until: deadline) { return nil }
        }
    }

    /// The next bytes, as many as these.
    func bytes(_ count: Int) throws -> [UInt8] {
        let deadline = Deadline()
        while received.count < count {
            guard try receive(until: deadline) else { throw Unexpected("closed after \(received.count) bytes") }
        }
        defer { received.removeFirst(count) }
        return Array(received[..<count])
    }

    private func receive(until deadline: Deadline) throws -> Bool {
        try waitForDescriptor(socket.descriptor, "a line, after \(received.count) bytes of it", until: deadline)
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count: Int
        do { count = try chunk.withUnsafeMutableBytes { try socket.receive(into: $0) } ?? 0 } catch { return false }
        received += chunk[..<count]
        return count > 0
    }

    /// The lines up to `OK`, which is left out, or to an ACK.
    func answer() throws -> [String] {
        var lines: [String] = []
        while true {
            guard let line = try line() else { throw Unexpected("closed after \(lines)") }
            if line == "OK" { return lines }
            lines.append(line)
            if line.hasPrefix("ACK ") { return lines }
        }
    }

    @discardableResult
    func ask(_ command: String) throws -> [String] {
        try send(command)
        return try answer()
    }

    /// The value of a field of an answer.
    func value(_ key: String, of command: String) throws -> String? {
        try ask(command).first { $0.hasPrefix("\(key): ") }.map { String($0.dropFirst(key.count + 2)) }
    }
}
