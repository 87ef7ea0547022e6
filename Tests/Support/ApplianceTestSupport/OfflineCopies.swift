import Database
import OfflineTestSupport
import Platform
import TestSupport

@testable import Account
@testable import Offline
@testable import Playback
@testable import Player

/// An offline engine without a player, whose loop runs only when a test runs it.
package final class OfflineCopies {
    package let loop: EventLoop
    package let engine: OfflineEngine
    package let store: OfflineStore
    package let conductor: OfflineConductor

    /// - Parameter downloads: the most in the queue.
    package init(in folder: ScratchFolder, downloads: Int = OfflineLimits().downloads) throws {
        loop = try EventLoop()
        let storage = try StorageThread(folder["kept.db"], modules: [Player.schema, Offlining.schema])
        let service = OfflineService(
            network: OfflineTestService(), settings: ServiceSettings(baseURL: "https://service"),
            credentials: StaticCredentials(token: nil))
        var settings = OfflineSettings(folder: folder["kept"])
        settings.limits.downloads = downloads
        let offlining = try Offlining(
            settings, service, evictCache: nil, storage: storage,
            clock: TrustedClock(store: nil, source: ManualTime()), keyFolder: folder.path)
        let configuration = OfflineEngineConfig(PlaybackEngineConfig(PlaybackEngineConfig.Values()))
        conductor = OfflineConductor(offlining, loop: loop, configuration)
        store = offlining.store
        engine = OfflineEngine(loop: loop, offlining, conductor: conductor, configuration: configuration)
    }

    deinit { store.close() }
}
