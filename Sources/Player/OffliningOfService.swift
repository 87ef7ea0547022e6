import Database
import Offline
import Platform
import Playback

extension Offlining {
    /// - Parameters:
    ///   - keyFolder: the folder of the device's key, which is created when it is missing.
    ///   - storage: the storage thread; its modules include `Offlining.schema`.
    /// - Throws: when the folder cannot be created, or the device's key cannot be read or created. The message contains
    ///   the solution. Offline copies stay as they are.
    public convenience init(
        _ settings: OfflineSettings, _ streaming: StreamingService, storage: StorageThread, clock: TrustedClock,
        keyFolder: String
    ) throws(PlayerError) {
        try self.init(
            settings, streaming.offline, evictCache: streaming.evictCache, storage: storage, clock: clock,
            keyFolder: keyFolder, coverNetwork: streaming.coverService.network)
    }
}
