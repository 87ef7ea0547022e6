import ApplianceTestSupport
import Foundation
import Platform
import TestSupport
import Testing

@testable import Appliance
@testable import MPD

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
        daemon.servers = [MPDStickers.schema]
        try FileManager.default.createDirectory(atPath: folder["music"], withIntermediateDirectories: true)
        try make(folder["music"])
        daemon.prepare = { [opened] daemon in
            daemon.openLibrary(filesGone: MPDStickers.followFiles)
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
