import Database
import OfflineTestSupport
import Platform
import TestSupport

@testable import Player

/// An offline engine without a player, whose loop runs only when a test runs it.
final class KeptProducts {
    let loop: EventLoop
    let engine: OfflineEngine
    let store: OfflineStore

    init(in folder: ScratchFolder) throws {
        loop = try EventLoop()
        let storage = try StorageThread(folder["kept.db"], modules: [Player.schema, Offlining.schema])
        let service = OfflineService(
            network: KeptService(), settings: ServiceSettings(baseURL: "https://service"),
            credentials: StaticCredentials(token: nil))
        let offlining = try Offlining(
            OfflineSettings(folder: folder["kept"]), service, evictCache: nil, storage: storage,
            clock: TrustedClock(store: nil, source: ManualTime()), keyFolder: folder.path)
        let configuration = OfflineEngineConfig(PlaybackEngineConfig(PlaybackEngineConfig.Values()))
        let conductor = OfflineConductor(offlining, loop: loop, configuration)
        store = offlining.store
        engine = OfflineEngine(loop: loop, conductor: conductor, configuration: configuration)
    }

    deinit { store.close() }
}
