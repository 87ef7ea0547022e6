import Events
import Foundation
import Network
import Output
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Account
@testable import Fetching
@testable import Playback
@testable import Player
@testable import Streaming

/// The login of a program that has the player as a library.
private final class AppLogin: CredentialsProvider {
    let rejected = Recorder<String?>()

    func token(insteadOf rejected: String?, for use: TokenUse) throws(ResourceFailure) -> String? {
        self.rejected.record(rejected)
        return rejected == nil ? "first" : "second"
    }
}

private final class AppEvents: EventSender {
    let names = Recorder<String>()

    func send(_ event: PlayerEvent) { names.record(event.name) }
}

@Suite("A program that brings its own login and takes the events")
struct IntegratorTests {
    @Test("the player's requests have the integrator's token, and its events reach the integrator")
    func both() throws {
        let tokens = Recorder<String>()
        let server = ScriptedServer { connection in
            while let request = connection.request() {
                let header = request.split(separator: "\r\n").first { $0.lowercased().hasPrefix("authorization:") }
                tokens.record(header.map { String($0.dropFirst(15).drop { $0 == " " }) } ?? "none")
                let body = #"{"status": 401, "subStatus": 11003}"#
                connection.send("HTTP/1.1 401 No\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
        }
        let clock = TrustedClock(store: nil)
        var service = StreamingSettings(service: ServiceSettings(baseURL: server.url("")))
        service.tokenFile = "/missing/token"
        let streaming = try StreamingService(service, clock: TrustedCertificateClock(clock, released: 1_700_000_000))
        defer { streaming.stop() }
        var settings = PlayerSettings(output: RendererSettings(device: "null"))
        settings.realtimePriority = nil
        settings.streaming = streaming
        settings.events = EventSettings(client: "app", version: "1", clock: clock)
        let (login, events) = (AppLogin(), AppEvents())
        let player = try Player(
            credentialsProvider: login, eventSender: events, settings: settings,
            source: SourceRouter(service: streaming.source))
        defer { player.shutDown() }
        player.playbackEngine.load(
            MediaProduct(productType: .track, productId: "tonearm:track/7", referenceId: "r"))
        try waitUntil("the end of the session") { events.names.elements.last == "streaming_session_end" }
        #expect(tokens.elements == ["Bearer first", "Bearer second"])
        #expect(login.rejected.elements == [nil, "first"])
        #expect(events.names.elements == ["streaming_session_start", "playback_info_fetch", "streaming_session_end"])
    }
}
