import Account
import Crypto
import Database
import Fetching
import Network
import Offline
import Platform
import Playback
import Streaming

/// The network thread and the content service on it. One per process.
///
/// Thread: any.
public final class StreamingService: Sendable {
    public let source: ContentService
    /// Files on web servers, over the same network thread. These requests contain no data of the service, and the
    /// answers are not cached.
    public let web: WebFiles
    private let network: Network
    private let credentials: ChosenCredentials
    /// The host of the service.
    private let host: String
    private let cache: (store: CacheStore, index: DatabaseCacheIndex)?
    /// The network for covers, which are stored in the cache.
    let coverService: (network: any ServiceNetwork, settings: ServiceSettings)
    /// The same service for downloads. It reads from the cache and never writes to it, so that no content is stored
    /// twice.
    let offline: OfflineService
    /// The same service as the receiver of events.
    let events: EventService
    /// The same service as the source of streaming privileges.
    let privileges: PrivilegesService

    /// - Parameters:
    ///   - clock: gives the time for checking certificates, and for the age of cached answers.
    ///   - storage: stores the cache's index, and its modules include `DatabaseCacheIndex.schema`; nil for no cache.
    public init(
        _ settings: StreamingSettings, clock: any CertificateClock, storage: StorageThread? = nil
    ) throws(NetworkSetupError) {
        network = try Network(settings.network(clock))
        host = Network.host(of: settings.service.baseURL) ?? ""
        var (service, downloads): (any ServiceNetwork, any ServiceNetwork) = (network, network)
        let isMetered = Self.metering(network, host, settings.links)
        var opened: (store: CacheStore, index: DatabaseCacheIndex)?
        if let cache = settings.cache, let storage, let key = Self.key(of: cache) {
            let index = DatabaseCacheIndex(storage)
            let store = CacheStore("\(cache.folder)/bodies", index, limits: cache.limits, key: key) {
                clock.now().seconds
            }
            let newBody: @Sendable () -> [UInt8] = { SystemRandomSource().bytes(16) }
            service = CachingNetwork(
                network, store, .recording(mayReadAhead: { !isMetered() }), clock: clock, newBody: newBody)
            downloads = CachingNetwork(network, store, .reading, clock: clock, newBody: newBody)
            opened = (store, index)
        }
        cache = opened
        coverService = (service, settings.service)
        let credentials = ChosenCredentials(settings.credentials(over: network))
        self.credentials = credentials
        source = ContentService(settings.service, over: service, credentials: credentials)
        source.linkChanged(to: Link.current(settings.links).kind)
        web = WebFiles(over: network, readAhead: settings.service.readAhead)
        offline = OfflineService(network: downloads, settings: settings.service, credentials: credentials)
        events = EventService(
            network: network, settings: settings.service, credentials: credentials, permission: offline.permission)
        privileges = PrivilegesService(network: network, settings: settings.service, credentials: credentials)
    }

    /// - Returns: nil when the cache cannot be used; the reason is logged.
    private static func key(of cache: CacheSettings) -> SecretBytes? {
        do throws(SystemError) {
            try Folder.create(cache.folder, mode: 0o700)
            return try SecretKeyFile.key(at: "\(cache.folder)/key")
        } catch {
            Log.warning("streaming goes on without a cache: \(error)")
            return nil
        }
    }

    /// Returns the source of the covers of the service's products.
    /// - Parameter copies: those of offline copies; nil without an offline engine.
    func covers(
        _ copies: OfflineCovers?, patience: Int = CoverTransfer.standardPatience
    ) throws(SystemError) -> ServiceCovers {
        var transfer = CoverTransfer(
            coverService.network, coverService.settings, credentials, try Cancellation())
        transfer.patience = patience
        return ServiceCovers(transfer, copies, service: coverService.settings.baseURL)
    }

    /// Uses the tokens of an integrator from now on.
    func use(_ provider: any CredentialsProvider) { credentials.choose(provider) }

    /// Cleans up the cache. Call it before the first product is opened, and after everything that reads the state at
    /// start-up, because it uses the storage thread.
    public func start() { cache?.store.start() }

    /// Evicts cached content to make room for offline copies; nil without a cache.
    var evictCache: OfflineSpace.CacheEviction? {
        guard let store = cache?.store else { return nil }
        return { store.evict($0) }
    }

    /// Notifies the network and the service of a new link; see `Network.linkChanged`.
    public func linkChanged(to link: Link) {
        network.linkChanged(to: link)
        source.linkChanged(to: link.kind)
    }

    /// Notifies the network of changed routes while the link is the same; see `Network.routesChanged`.
    public func routesChanged() { network.routesChanged() }

    /// Returns a function that checks whether the way to the service is a metered link: according to the address that
    /// was used last, or else the link. For `ContentService.follow`.
    public func metering(_ settings: LinkSettings) -> @Sendable () -> Bool {
        Self.metering(network, host, settings)
    }

    private static func metering(
        _ network: Network, _ host: String, _ settings: LinkSettings
    ) -> @Sendable () -> Bool {
        { network.isMetered(host: host) ?? Link.current(settings).isMetered }
    }

    /// Stops using the network while offline mode is on. Call it after the player was created, so that the player knows
    /// the mode first. It then treats a download that ends as stopped and not as failed.
    public func follow(_ mode: OfflineMode) {
        network.setOfflineMode(mode.observe { [network] isOn in network.setOfflineMode(isOn) })
    }

    /// Ends all transfers and the thread. Call it after the player was stopped.
    public func stop() {
        network.stop()
        cache?.index.close()
    }
}
