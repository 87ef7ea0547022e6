import Media
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Account
@testable import Playback
@testable import Player
@testable import Streaming

@Suite("The quality that is asked for follows the link (docs/playback.md, 15.2)")
struct LinkQualityTests {
    @Test("Wi-Fi and cellular have qualities of their own, which count from the next product on")
    func quality() throws {
        let service = ScriptedService()
        let isMetered = Locked(false)
        let source = ContentService(
            ServiceSettings(baseURL: "https://service/"), over: service.network,
            credentials: PackagedContent.NoToken())
        let configuration = PlaybackEngineConfig(PlaybackEngineConfig.Values())
        source.follow(configuration) { isMetered.value }
        // The product cannot be opened, and each attempt asks once.
        service.playbackinfo = { _, _ in (404, "{\"status\": 404}") }
        func asked() -> String {
            do {
                _ = try source.open(
                    PackagedContent.product, session: PlaybackSession(), cancellation: Cancellation(),
                    medium: MediumAccess())
            } catch {}
            return service.playbackinfoRequests.last?.url ?? ""
        }
        configuration.streamingWifiAudioQuality = .hiResLossless
        configuration.streamingCellularAudioQuality = .low
        #expect(asked().contains("audioquality=HI_RES_LOSSLESS"))
        isMetered.set(true)
        #expect(asked().contains("audioquality=LOW"))
        configuration.streamingCellularAudioQuality = .high
        #expect(asked().contains("audioquality=HIGH"))
        isMetered.set(false)
        #expect(asked().contains("audioquality=HI_RES_LOSSLESS"))
        #expect(service.playbackinfoRequests.count == 4)
    }
}
