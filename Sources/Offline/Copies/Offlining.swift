import CLinux
import Crypto
import Database
import Fetching
import Network
import Platform
import Playback

/// The configuration of offline copies.
public struct OfflineSettings: Sendable {
    /// The storage folder. It is created when it is missing, and holds nothing else.
    public var folder: String
    public var limits = OfflineLimits()
    /// The number of downloads at once.
    public var parallelDownloads = 3
    /// The number of bytes that are written between two records of a download's progress.
    public var recordInterval: Int64 = 4 << 20

    public init(folder: String) { self.folder = folder }
}

/// The offline copies of a content service, and everything that downloads need. The player makes its offline engine of
/// it.
///
/// Thread: any.
public final class Offlining: Sendable {
    /// The source for the `SourceRouter`.
    public let source: OfflineSource
    package let store: OfflineStore
    let service: OfflineService
    let space: OfflineSpace
    let clock: TrustedClock
    let settings: OfflineSettings
    let damage: DamageReports
    /// The covers beside the copies.
    package let covers: OfflineCovers

    /// - Parameters:
    ///   - keyFolder: the folder of the device's key, which is created when it is missing.
    ///   - storage: the storage thread; its modules include `Offlining.schema`.
    ///   - coverNetwork: fetches the covers that the service's catalogue names; nil: downloads have none.
    /// - Throws: when the folder cannot be created, or the device's key cannot be read or created. The message contains
    ///   the solution. Offline copies stay as they are.
    package init(
        _ settings: OfflineSettings, _ service: OfflineService, evictCache: OfflineSpace.CacheEviction?,
        storage: StorageThread, clock: TrustedClock, keyFolder: String, coverNetwork: (any ServiceNetwork)? = nil
    ) throws(PlayerError) {
        do throws(SystemError) {
            if FileKind(at: settings.folder) != .folder {
                try Folder.create(settings.folder, mode: 0o700)
                // Without its synced directory entry, the folder and the files in it would be lost.
                try Folder.synchronize(containing: settings.folder)
            }
        } catch {
            throw Self.unusable(
                PlayerError(error),
                Self.advice(error, "Give this user the right to it, or set another folder ([offline] folder)"))
        }
        let key: DeviceKey
        do throws(DeviceKeyError) { key = try DeviceKey.load(folder: keyFolder) } catch {
            let advice =
                switch error {
                case .damaged: " Then start again; without the old key, the offline copies are downloaded again."
                case .system(let error): Self.advice(error, "Give this user the right to read and write it")
                }
            throw Self.unusable(PlayerError(error), advice)
        }
        let store = OfflineStore(settings.folder, storage, key)
        let damage = DamageReports()
        self.settings = settings
        self.clock = clock
        self.store = store
        self.damage = damage
        self.service = service
        space = OfflineSpace(settings.limits, store, evictCache: evictCache, clock: service.clock) { clock.seconds }
        covers = OfflineCovers(store, space, service, coverNetwork)
        source = OfflineSource(store, clock: clock) { damage.report($0, $1, $2) }
    }

    /// - Parameter advice: the solution, appended to the message.
    private static func unusable(_ error: PlayerError, _ advice: String) -> PlayerError {
        PlayerError(error.kind, error.cause, message: error.message + advice)
    }

    /// - Parameter otherwise: the advice for errors that are not of the medium.
    private static func advice(_ error: SystemError, _ otherwise: String) -> String {
        let way =
            switch error.code {
            case ENOSPC, EDQUOT: "Make room on its medium"
            case EROFS: "Make its medium writable"
            case EIO: "Check its medium"
            case EOPNOTSUPP: "Put it on another file system"
            default: otherwise
            }
        return ". \(way), and start again."
    }

    /// The tables of offline copies and downloads.
    public static let schema = OfflineRows.schema
}

/// Reports damage that playback finds to the offline engine.
/// `@unchecked Sendable` is safe because `lock` guards the receiver.
final class DamageReports: @unchecked Sendable {
    private let lock = Lock()
    private var receiver: Receiver?

    /// Gets a product, the content of the file that was read, and the kind of damage.
    typealias Receiver = @Sendable (ServiceAddress, _ content: [UInt8], _ what: String) -> Void

    /// - Parameter receiver: nil for none.
    func receive(_ receiver: Receiver?) { lock.withLock { self.receiver = receiver } }

    func report(_ product: ServiceAddress, _ content: [UInt8], _ what: String) {
        lock.withLock { receiver }?(product, content, what)
    }
}

extension TrustedClock {
    /// The earliest possible present time, in seconds since 1970; nil when it was never proved.
    var seconds: Int64? { read().milliseconds.map { $0 / 1000 } }
    /// The best estimate of the present time, in seconds since 1970, for work that becomes due at a time.
    var estimatedSeconds: Int64? { read().estimate.map { $0 / 1000 } }
}
