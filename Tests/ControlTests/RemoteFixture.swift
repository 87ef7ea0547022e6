import ApplianceTestSupport
import CLinux
import Foundation
import Glibc
import Output
import OutputTestSupport
import Platform
import TestSupport

@testable import Appliance
@testable import Control
@testable import Playback
@testable import Player

/// A daemon with its control socket, on a loop and with a real player on a paced card.
// @unchecked: after `init`, only the state of the daemon changes, and that is used on its loop.
final class RemoteFixture: @unchecked Sendable {
    let folder: ScratchFolder
    let card = PacedCard()
    let clock = ManualClock()
    /// The daemon's loop. The test drives its time.
    let loop: EventLoop
    let player: Player
    private let thread: NamedThread
    /// Used on `loop` alone.
    private let daemon: Daemon
    private let server: JSONSocketServer

    var path: String { folder["control"] }
    /// The user id of a client that connects now. Used on `loop` alone.
    var user: UInt32 {
        get { connectingUser.id }
        set { connectingUser.id = newValue }
    }
    private let connectingUser: ConnectingUser

    private final class ConnectingUser {
        var id: UInt32 = 1000
    }

    /// - Parameter opensLibrary: for stored playlists; it has no music folders.
    init(clientLimit: Int = 8, mode: UInt32 = 0o660, opensLibrary: Bool = false) throws {
        folder = try ScratchFolder()
        loop = try EventLoop(drivenBy: clock)
        var settings = PlayerSettings(output: RendererSettings(device: "paced"))
        settings.firstVolume = .full
        player = try Player(
            settings: settings, source: LocalFiles(), provider: card,
            clock: ManualClock(), newSessionID: { "session" }, startTimer: { LoopTimer($0) }, openMixer: { nil })
        player.playbackEngineConfig.loudnessNormalizationMode = .off
        let text = "[library]\nfolders = none\nplaylists = \(folder["playlists"])"
        let configuration = try Configuration(parsing: Array(text.utf8), file: "tonearm.conf")
        let daemon = Daemon(
            loop: loop, player: player, configuration: configuration, state: try ApplianceState(folder["state"]),
            defaultDevice: "paced", clock: clock)
        if opensLibrary { daemon.openLibrary() }
        daemon.start()
        let connectingUser = ConnectingUser()
        let server = JSONSocketServer(
            daemon: daemon, path: folder["control"], mode: mode, group: nil, clientLimit: clientLimit,
            version: "1.2.3", userOf: { _ in connectingUser.id })
        try server.start()
        self.connectingUser = connectingUser
        self.daemon = daemon
        self.server = server
        thread = try NamedThread.start(name: "daemon") { [loop] in
            loop.run()
            // As the program does it: on the loop's thread, when the loop no longer runs.
            server.stop()
            daemon.shutDown()
        }
    }

    func shutDown() {
        loop.stop()
        thread.joinOrEndRun()
        player.shutDown()
    }

    /// Does something on the daemon's thread and returns when it is done.
    @discardableResult
    func perform<Result>(_ body: @escaping () -> Result) -> Result {
        let done = DispatchSemaphore(value: 0)
        // Safe: the loop uses both before it signals, and this thread after that.
        nonisolated(unsafe) var result: Result?
        nonisolated(unsafe) let body = body
        loop.post {
            result = body()
            done.signal()
        }
        done.waitOrEndRun("the daemon")
        return result!
    }

    func withDaemon<Result>(_ body: @escaping (Daemon) -> Result) -> Result { perform { [self] in body(daemon) } }
    func withServer<Result>(_ body: @escaping (JSONSocketServer) -> Result) -> Result {
        perform { [self] in body(server) }
    }

    /// Advances the clock, and returns when all due timers have run.
    func pass(seconds: Double) {
        clock.advance(by: Int64(seconds * 1e9))
        loop.clockAdvanced()
        perform {}
    }

    func connect() throws -> JSONClient { try JSONClient(path) }

    /// Connects as root.
    func connectAsRoot() throws -> JSONClient {
        perform { [self] in user = 0 }
        defer { perform { [self] in user = 1000 } }
        let client = try connect()
        // The server has accepted it when this returns.
        perform {}
        return client
    }
}

/// A client that shares no code with the daemon: bytes on a socket.
// @unchecked: one thread of the test uses a client at a time.
final class JSONClient: @unchecked Sendable {
    private let socket: StreamSocket
    private var received: [UInt8] = []
    private var lastID = 0

    init(_ path: String) throws {
        socket = try StreamSocket(connectingTo: path)
        limitWaits(ofSocket: socket.descriptor)
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try rest.withUnsafeBytes { try socket.send($0) }
            rest = rest.dropFirst(count ?? 0)
        }
    }

    /// Sends as much as fits, without waiting.
    /// - Returns: how many bytes.
    func offer(_ bytes: [UInt8]) -> Int {
        max(0, bytes.withUnsafeBytes { Glibc.send(socket.descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT)) })
    }

    func finishSending() { socket.finishSending() }

    /// The next line; nil when the server has closed the connection.
    func line(until deadline: Deadline = Deadline()) throws -> String? {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                defer { received.removeFirst(end + 1) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            try waitForDescriptor(socket.descriptor, "a line, after \(received.count) bytes of it", until: deadline)
            var chunk = [UInt8](repeating: 0, count: 65_536)
            let count = try chunk.withUnsafeMutableBytes { try socket.receive(into: $0) } ?? 0
            if count == 0 { return nil }
            received += chunk[..<count]
        }
    }

    func message(until deadline: Deadline = Deadline()) throws -> JSONValue {
        guard let line = try line(until: deadline) else { throw Waiting("the connection was closed") }
        return try JSONValue.parse(line)
    }

    /// Sends a request and returns its reply; events before it are skipped.
    @discardableResult
    func ask(_ request: String, _ fields: String = "") throws -> JSONValue {
        lastID += 1
        try send("{\"id\":\(lastID),\"request\":\"\(request)\"\(fields.isEmpty ? "" : ",\(fields)")}\n")
        let deadline = Deadline()
        while true {
            let message = try message(until: deadline)
            if message["id"] == .integer(Int64(lastID)) { return message }
            guard message["event"] != nil else { throw Waiting("a reply to something else: \(message)") }
        }
    }

    /// The next event of this name; other lines before it are skipped.
    func event(_ name: String) throws -> JSONValue {
        let deadline = Deadline()
        while true {
            let message = try message(until: deadline)
            if message["event"]?.string == name { return message }
        }
    }

    struct Waiting: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }
}

extension JSONValue {
    /// The code of a refusal; nil for any other reply.
    var errorCode: String? { self["error"]?["code"]?.string }
    var errorMessage: String? { self["error"]?["message"]?.string }
}
