import Account
import Database
import Events
import Network
import Offline
import Output
import PCM
import Platform
import Playback

/// The settings of a player at its start.
public struct PlayerSettings: Sendable {
    /// The folder for the state; created when it is missing. nil stores nothing.
    public var stateFolder: String?
    /// The storage to use instead of a `stateFolder`: an appliance has its own state in the same file. Its modules
    /// include `Player.schema`.
    public var storage: StorageThread?
    /// The volume that is used while no volume is stored and the card's mixer has none below its loudest. Default: −30
    /// dB.
    public var firstVolume = Volume.first
    /// Store only the volume, its maximum, and the device that `auto` has chosen. The other values begin with their
    /// defaults, and changes of them apply only to this player.
    public var storesOnlyVolume = false
    public var output: RendererSettings
    /// The mixer control for the volume; nil uses the card's usual one.
    public var mixerControl: String?
    /// Further settings of the mixer, which do not depend on the volume.
    public var mixerPreparation = MixerPreparation()
    /// The ids of the cards to which the settings of the mixer apply; empty for all cards.
    public var mixerCards: [String] = []
    /// The part of the control's range to use, in hundredths of a decibel; nil for the whole range.
    public var mixerLimits: ClosedRange<Int>?
    /// Leave the card's mixer alone and scale the samples instead.
    public var forcesSoftwareVolume = false
    /// The priority of the audio thread, in SCHED_FIFO; nil for normal scheduling.
    public var realtimePriority: Int? = 40
    /// The offline mode that the sources share with the player.
    public var offlineMode = OfflineMode()
    /// The offline copies of the content service and the means to download; nil without an offline engine.
    public var offlining: Offlining?
    /// Why there is no offline engine although one is configured, for the user.
    public var offlineProblem: String?
    /// The content service that takes events and grants streaming privileges, and to which a `credentialsProvider`
    /// identifies the listener; nil without one.
    public var streaming: StreamingService?
    /// The events about products of the content service; nil: none are recorded or sent.
    public var events: EventSettings?
    /// Receives the events; set by `Player.init`.
    var eventSender: (any EventSender)?

    public init(output: RendererSettings, stateFolder: String? = nil) {
        self.output = output
        self.stateFolder = stateFolder
    }
}

/// Plays media products, and downloads those of a content service (docs/playback.md).
///
///     let settings = PlayerSettings(output: RendererSettings(device: "hw:CARD=DAC"), stateFolder: "/var/lib/player")
///     let player = try Player(settings: settings)
///     player.playbackEngine.bus.subscribe { message in print(message) }
///     player.playbackEngine.load(MediaProduct(productType: .track, productId: "/music/a.flac", referenceId: "1"))
///     player.playbackEngine.play()
///
/// Threads: all of the public interface may be used from any thread. `@unchecked Sendable` is safe because its parts
/// are set once, and each part is thread-safe.
public final class Player: @unchecked Sendable {
    /// The database in the state folder.
    public static let databaseName = "tonearm.db"
    /// The player's tables in the database.
    public static let schema = ConfigurationStorage.schema
    /// The modules of the database for a program that plays and has no tables of its own.
    public static let schemas = [schema, LoudnessRows.schema, EventSettings.schema]

    public let playbackEngine: PlaybackEngine
    public let playbackEngineConfig: PlaybackEngineConfig
    public let offlineEngineConfig: OfflineEngineConfig
    /// nil without an offline engine: `PlayerSettings.offlining`.
    public let offlineEngine: OfflineEngine?
    /// Why there is no offline engine although one is configured, for the user: `PlayerSettings.offlineProblem`.
    public let offlineProblem: String?
    /// The covers of the content service's products; nil without a service.
    public let covers: ServiceCovers?

    /// The loop of the control thread, on which messages arrive. Use it only for work that must follow a message at
    /// once and that takes microseconds.
    public let loop: EventLoop
    private let controlThread: NamedThread
    let renderer: Renderer
    private let conductor: PlaybackConductor
    private let storage: ConfigurationStorage
    /// Why the state could not be opened at the start; nil when it was opened. Until a write succeeds, the state is
    /// only in memory.
    public let storageProblem: String?
    private let offlineMode: OfflineMode
    private let offlineConductor: OfflineConductor?
    private let events: PlayerEvents?
    private let privileges: StreamingPrivileges?

    /// Starts the player's threads. The device is opened only when something plays. A state folder that cannot be used
    /// does not prevent playing: `storageProblem` has the reason, and writing is retried.
    /// - Parameters:
    ///   - credentialsProvider: provides the tokens for `settings.streaming`; nil uses those of its settings.
    ///   - eventSender: receives the events of `settings.events`; nil stores and sends them to `settings.streaming`.
    ///   - source: the source of products.
    /// - Throws: when a newer version wrote the state, or the system has no threads or file descriptors left.
    public convenience init(
        credentialsProvider: (any CredentialsProvider)? = nil, eventSender: (any EventSender)? = nil,
        settings: PlayerSettings, source: any PlaybackSource = SourceRouter()
    ) throws(PlayerError) {
        var settings = settings
        settings.eventSender = eventSender
        if let credentialsProvider { settings.streaming?.use(credentialsProvider) }
        let device = settings.output.device
        let choice = MixerChoice(settings)
        let provider = ALSADeviceProvider()
        try self.init(
            settings: settings, source: source, provider: provider, clock: SystemMonotonicClock(),
            newSessionID: { SystemRandomSource().uuid() }, startTimer: { LoopTimer($0) }
        ) { () throws(DeviceError) -> (any HardwareVolume)? in
            // The mixer belongs to the card that `auto` chose, so use the device that was opened last.
            try choice.open(provider.lastOpened ?? device)
        }
        // Nothing has played yet.
        provider.prefer(playbackEngineConfig.values.automaticDevice?.name)
    }

    init(
        settings: PlayerSettings, source: any PlaybackSource, provider: any DeviceProvider,
        clock: any MonotonicClock, newSessionID: @escaping @Sendable () -> String,
        startTimer: (EventLoop) -> any StartTimer,
        openMixer: @escaping @Sendable () throws(DeviceError) -> (any HardwareVolume)?
    ) throws(PlayerError) {
        let thread = if let shared = settings.storage { shared } else { try Self.openStorage(settings.stateFolder) }
        let storage = ConfigurationStorage(
            thread, onlyVolume: settings.storesOnlyVolume, firstVolume: settings.firstVolume)
        storageProblem = thread.problem.map { $0.description }
        offlineProblem = settings.offlineProblem
        do throws(SystemError) {
            let loop = try EventLoop()
            let configuration = PlaybackEngineConfig(storage.initialValues)
            let renderer = try Renderer(
                provider: provider, clock: clock, settings: settings.output,
                priority: settings.realtimePriority.map { .realtime($0) } ?? .normal)
            let bus = Bus<PlaybackMessage>(loop: loop)
            let published = PublishedPlayback(renderer, bus)
            let events = settings.events.map {
                PlayerEvents($0, of: settings, loop: loop, storage: thread)
            }
            let privileges = settings.streaming.map {
                StreamingPrivileges($0.privileges, clock: settings.events?.clock, loop: loop)
            }
            var observers: [any PlaybackObserver] = []
            if let events { observers.append(PlaybackSessions(events.log, timer: LoopTimer(loop))) }
            if let privileges { observers.append(privileges.streamNeed) }
            let conductor = PlaybackConductor(
                loop: loop, published: published, renderer: renderer, source: source,
                newSessionID: newSessionID, settings: settings.output,
                volume: LoudnessAndVolume(configuration: configuration, openMixer: openMixer),
                startTimer: startTimer(loop), observers: observers)
            privileges?.revoked = { [conductor] in conductor.handle(.privilegesRevoked(otherDevice: $0)) }
            let offlineConfiguration = OfflineEngineConfig(configuration)
            let offline = settings.offlining.map {
                OfflineConductor($0, loop: loop, offlineConfiguration, observer: events?.downloads)
            }
            configuration.observe { values in
                storage.save(values)
                loop.post {
                    conductor.configurationChanged()
                    offline?.gateChanged()
                }
            }
            settings.offlineMode.observe { isOn in
                loop.post {
                    offline?.offlineModeChanged(to: isOn)
                    events?.offlineModeChanged(to: isOn)
                    privileges?.offlineModeChanged(to: isOn)
                }
            }
            let mode = settings.offlineMode
            loop.post {
                conductor.start()
                offline?.start(isOfflineMode: mode.isOn)
                events?.start(isOfflineMode: mode.isOn)
                privileges?.offlineModeChanged(to: mode.isOn)
            }
            self.events = events
            self.privileges = privileges
            covers = try settings.streaming?.covers(settings.offlining?.covers)
            offlineMode = settings.offlineMode
            offlineConductor = offline
            offlineEngineConfig = offlineConfiguration
            offlineEngine = offline.map {
                OfflineEngine(loop: loop, $0.offlining, conductor: $0, configuration: offlineConfiguration)
            }
            self.loop = loop
            self.conductor = conductor
            self.storage = storage
            self.renderer = renderer
            playbackEngineConfig = configuration
            playbackEngine = PlaybackEngine(loop: loop, bus: bus, conductor: conductor, published: published)
            offline?.precedence.observe(bus, published)
            controlThread = try NamedThread.start(name: "control") { loop.run() }
        } catch {
            throw PlayerError(error)
        }
    }

    /// Opens the state for a program that is not an appliance. Several such programs may use the state at once.
    public static func openStorage(_ folder: String?) throws(PlayerError) -> StorageThread {
        do throws(StorageThread.Refusal) {
            return try StorageThread(folder.map { "\($0)/\(databaseName)" }, modules: schemas, isShared: true)
        } catch {
            throw PlayerError(error)
        }
    }

    /// Calls `report` with the reason when the configuration cannot be stored, and with nil when it is stored again.
    /// Failed writes are retried. Called on the storage thread.
    /// - Parameter report: nil writes to the log instead, which is the default.
    public func observeStorage(_ report: (@Sendable (String?) -> Void)?) { storage.observe(report) }

    /// Whether the app is in offline mode; the app sets it. Nothing uses the network then.
    public var isOfflineMode: Bool {
        get { offlineMode.isOn }
        set { offlineMode.isOn = newValue }
    }

    /// The events that wait for delivery, and those that were sent or dropped; nil when nothing is recorded.
    public var eventStatus: EventStatus? { events?.status }

    /// Applies another link, or changed routes. Downloads that wait for a link check their routes again. Until the
    /// first call there is no link, and no download runs.
    public func linkChanged(to link: Link) {
        loop.post { [offlineConductor, events, privileges] in
            offlineConductor?.linkChanged(to: link)
            events?.linkChanged(to: link.kind)
            privileges?.linkChanged(to: link.kind)
        }
    }

    /// Applies another login, or other tokens of the same login. Requests that wait after a failure are retried at
    /// once.
    /// - Parameter isRefresh: whether this process has refreshed its login. A refresh does not end the wait of a failed
    ///   download, because the download itself may have caused the refresh.
    public func loginChanged(isRefresh: Bool = false) {
        loop.post { [offlineConductor, events, privileges] in
            if !isRefresh { offlineConductor?.loginChanged() }
            events?.loginChanged()
            privileges?.loginChanged()
        }
    }

    /// Stops, frees the device, writes the remaining changes and ends all threads. A decoder thread ends as soon as its
    /// source allows. No other call may follow. Must not be called by a subscriber of a bus.
    public func shutDown() {
        playbackEngineConfig.observe(nil)
        covers?.end()
        loop.post { [conductor, offlineConductor, events, privileges] in
            offlineConductor?.shutDown()
            conductor.shutDown()
            privileges?.shutDown()
            events?.shutDown()
        }
        loop.stop()
        controlThread.join()
        // An audio thread that hangs in a call of its device still uses the streams, so they stay until the process
        // ends.
        if !renderer.shutDown() { _ = Unmanaged.passRetained(conductor) }
        conductor.discardEvents()
        events?.close()
        offlineConductor?.close()
        storage.shutDown()
    }
}

extension StreamingPrivileges {
    /// Notifies the streaming privileges when the user presses play, and when a stream should be heard or should not.
    fileprivate var streamNeed: StreamNeed {
        StreamNeed { [self] in
            switch $0 {
            case .pressed: pressed()
            case .needed(let isNeeded): needChanged(to: isNeeded)
            }
        }
    }
}

/// The mixer settings, and the cards to which they apply.
private struct MixerChoice: Sendable {
    private let control: String?
    private let limits: ClosedRange<Int>?
    private let cards: [String]
    private let preparation: MixerPreparation
    private let isUsed: Bool

    init(_ settings: PlayerSettings) {
        control = settings.mixerControl
        limits = settings.mixerLimits
        cards = settings.mixerCards
        preparation = settings.mixerPreparation
        isUsed = !settings.forcesSoftwareVolume
    }

    /// Prepares and opens the mixer of `device`. For a card to which the settings do not apply, opens the card's usual
    /// control.
    /// - Returns: nil when the volume is set in software.
    func open(_ device: String) throws(DeviceError) -> HardwareMixer? {
        let device = try DeviceName.resolved(device)
        let card = DeviceName.cardReference(of: device)
        let isMeant = cards.isEmpty || cards.contains { id in card.map { $0.utf8.elementsEqual(id.utf8) } ?? false }
        if isMeant, let card { preparation.apply(card: card) }
        guard isUsed else { return nil }
        return try HardwareMixer.open(
            device: device, controlName: isMeant ? control : nil, limits: isMeant ? limits : nil)
    }
}
