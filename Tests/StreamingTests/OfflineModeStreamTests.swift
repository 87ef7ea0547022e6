import Foundation
import Network
import OutputTestSupport
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Account
@testable import Offline
@testable import Playback
@testable import Player
@testable import Streaming

/// Streams over real connections to a server of this machine.
@Suite("Offline mode ends streams (docs/playback.md, 16.5)")
struct OfflineModeStreamTests {
    /// The answer of a server to one request.
    private typealias Answer = @Sendable (_ path: String, ScriptedConnection, _ address: String) -> Void

    /// A player with a service whose answers the test gives.
    private struct Machine {
        let server: ScriptedServer
        let requests: Recorder<String>
        let streaming: StreamingService
        let fixture: PlayerFixture
        private let mode = OfflineMode()

        init(_ answer: @escaping Answer) throws {
            let requests = Recorder<String>()
            let address = Locked("")
            server = ScriptedServer { connection in
                while let request = connection.request() {
                    let path = String(request.split(separator: " ")[1])
                    requests.record(path)
                    answer(path, connection, address.value)
                }
            }
            let url = server.url("")
            address.withLock { $0 = url }
            let settings = StreamingSettings(service: ServiceSettings(baseURL: url))
            let clock = TrustedCertificateClock(TrustedClock(store: nil), released: 1_700_000_000)
            streaming = try StreamingService(settings, clock: clock)
            self.requests = requests
            let (mode, streaming) = (mode, streaming)
            fixture = try PlayerFixture(source: SourceRouter(service: streaming.source, offlineMode: mode)) {
                $0.offlineMode = mode
            }
            fixture.player.playbackEngineConfig.loudnessNormalizationMode = .off
            streaming.follow(mode)
        }

        func play() {
            let product = MediaProduct(productType: .track, productId: "tonearm:track/7", referenceId: "r")
            fixture.engine.load(product)
            fixture.engine.play()
        }

        func switchOn() { fixture.player.isOfflineMode = true }
    }

    private let folder: ScratchFolder
    private let track: Track
    private let file: [UInt8]

    init() throws {
        folder = try ScratchFolder()
        track = try Track("a", frames: 100_000, in: folder)
        file = try track.file
    }

    private static func send(
        _ body: String, status: String = "200 OK", _ headers: String = "", to connection: ScriptedConnection
    ) {
        connection.send("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)")
    }

    /// Its service sends half of the file and holds the connection open.
    private func machineWithHalf() throws -> Machine {
        try Machine { [file] path, connection, address in
            if path.contains("/playbackinfo?") {
                return Self.send(ScriptedService.info(url: "\(address)/content"), to: connection)
            }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(file.count)\r\n\r\n")
            connection.send(Array(file[..<(file.count / 2)]))
        }
    }

    @Test("The buffer is heard, then the product fails as one without an offline copy, and nothing is requested")
    func running() throws {
        let machine = try machineWithHalf()
        machine.play()
        try machine.fixture.hear(20_000)
        let count = machine.requests.elements.count
        machine.switchOn()
        try machine.fixture.spin("the error") {
            _ = machine.fixture.card.allow(1000)
            return machine.fixture.messages.contains("error a3 (r)")
        }
        let heard = machine.fixture.heardSamples
        #expect(heard.count > track.samples.count * 4 / 10)
        #expect(heard == Array(track.samples.prefix(heard.count)))
        #expect(machine.requests.elements.count == count)
        // The next one too.
        machine.play()
        try machine.fixture.spin("the error") {
            machine.fixture.messages.count { $0 == "error a3 (r)" } == 2
        }
        #expect(machine.requests.elements.count == count)
        machine.streaming.stop()
    }

    @Test(
        "A wait for another attempt ends at once: one that the service asked for, and one for the network",
        arguments: ["503 Busy", nil] as [String?])
    func waiting(status: String?) throws {
        let machine = try Machine { _, connection, _ in
            if let status {
                Self.send("", status: status, "Retry-After: 3600\r\n", to: connection)
            } else {
                shutdown(connection.descriptor, Int32(SHUT_RDWR))
            }
        }
        machine.play()
        try machine.fixture.spin("the wait") { machine.fixture.engine.streamWait != nil }
        machine.switchOn()
        try machine.fixture.spin("the error") { machine.fixture.messages.contains("error a3 (r)") }
        machine.streaming.stop()
    }

    @Test("A part of the content that is refused is not asked for with a new playbackinfo")
    func restart() throws {
        let machine = try machineWithHalf()
        machine.play()
        try machine.fixture.hear(10_000)
        let count = machine.requests.elements.count
        machine.switchOn()
        // A seek beyond the bytes that have arrived requests more.
        machine.fixture.engine.seek(11)
        try machine.fixture.spin("the error") {
            _ = machine.fixture.card.allow(1000)
            return machine.fixture.messages.contains("error a3 (r)")
        }
        #expect(machine.requests.elements.count == count)
        machine.streaming.stop()
    }
}
