import Database
import Events
import Foundation
import Network
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Player
@testable import Offline

/// Takes the events of a player.
private final class EventLog: EventSender {
    let events = Recorder<PlayerEvent>()

    func send(_ event: PlayerEvent) { events.record(event) }
}

/// docs/playback.md, 19.3 and 19.4.
@Suite("Events of downloads")
struct DownloadEventsTests {
    private static let start = "streaming_session_start"
    private static let fetch = "playback_info_fetch"
    private static let license = "drm_license_fetch"
    private static let statistics = "download_statistics"
    private static let end = "streaming_session_end"

    private let folder: ScratchFolder
    private let service = ScriptedService()
    private let licenseStatus = Locked(200)
    private let licenseRequests = Locked(0)

    init() throws {
        folder = try ScratchFolder()
        let track = try Track("a", frames: 20_000, in: folder)
        let file = try EncryptedTrack.file(of: track, in: folder)
        let manifest = #"{"mimeType": "audio/mp4", "codecs": "flac", "urls": ["https://content/a"]}"#
        let info = """
            {"trackId": 42, "assetPresentation": "FULL", "audioMode": "STEREO", "audioQuality": "LOSSLESS",
             "licenseUrl": "https://licenses/clear", "licenseSecurityToken": "t", "offlineRevalidateAt": 2000000,
             "offlineValidUntil": 3000000, "manifestHash": "h1", "manifestMimeType": "application/vnd.tidal.bts",
             "manifest": "\(Data(manifest.utf8).base64EncodedString())"}
            """
        service.playbackinfo = { _, _ in (200, info) }
        service.content = { [licenseStatus, licenseRequests] _, transfer in
            guard case .post = transfer.request.method else {
                ScriptedService.serve(file, to: transfer)
                return transfer.end()
            }
            licenseRequests.withLock { $0 += 1 }
            let key = Data(EncryptedTrack.key).base64EncodedString().filter { $0 != "=" }
            let answer = #"{"keys":[{"kty":"oct","kid":"AAAAAAAAAAAAAAAAAAAAAA","k":"\#(key)"}]}"#
            let refusal = #"{"status":403,"subStatus":4032}"#
            transfer.answer(licenseStatus.value, [], Array((licenseStatus.value == 200 ? answer : refusal).utf8))
        }
    }

    private let settings = EventSettings(client: "c", version: "1", clock: TrustedClock(store: nil))

    /// The names of the waiting events, and the payloads of those about licenses.
    private func waiting(_ offline: OfflineFixture) throws -> (names: [String], licenses: [JSONValue?]) {
        let found = offline.store.waitToRead { (rows) throws(DatabaseError) in
            try OutboxRows(rows.database).oldest(100)
        }
        let events = try #require(found ?? nil)
        let licenses = events.filter { $0.name == Self.license }.map { try? JSONValue.parse($0.body)["payload"] }
        return (events.map { $0.name }, licenses)
    }

    @Test("the fetch of a license is recorded between the playbackinfo and the statistics")
    func license() throws {
        let offline = try OfflineFixture(network: service.network, events: settings)
        try offline.keep(7)
        let (names, licenses) = try waiting(offline)
        let fetches = Array(repeating: Self.license, count: licenseRequests.value)
        #expect(!fetches.isEmpty)
        #expect(names == [Self.start, Self.fetch] + fetches + [Self.statistics, Self.end])
        for license in licenses {
            #expect(license?["endReason"] == "COMPLETE")
            #expect(license?["streamingSessionId"]?.string?.isEmpty == false)
        }
    }

    @Test("the fetch of a license that is refused is an error")
    func refusedLicense() throws {
        licenseStatus.set(403)
        let offline = try OfflineFixture(network: service.network, events: settings)
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        try offline.spin("the failure") { offline.log.events.contains { $0.hasPrefix("failed") } }
        let (names, licenses) = try waiting(offline)
        #expect(!licenses.isEmpty && licenses.count == licenseRequests.value)
        #expect(licenses.allSatisfy { $0?["endReason"] == "ERROR" })
        #expect(names.last == Self.end)
    }

    @Test("a sender of the integrator gets the events of downloads on control, and nothing is stored")
    func sender() throws {
        let log = EventLog()
        let offline = try OfflineFixture(network: service.network, events: settings, sender: log)
        try offline.keep(7)
        try offline.spin("the events") { log.events.elements.last?.name == Self.end }
        let names = log.events.elements.map { $0.name }
        #expect(names.filter { $0 != Self.license } == [Self.start, Self.fetch, Self.statistics, Self.end])
        #expect(try waiting(offline).names.isEmpty)
    }
}
