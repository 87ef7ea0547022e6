import Database
import Events
import Network
import Offline
import Platform
import Playback

/// The settings of events about playing and downloading (docs/playback.md, 19).
public struct EventSettings: Sendable {
    /// The categories whose events the user allows.
    public var consent = Set(EventCategory.allCases)
    /// The largest sum of the waiting events, in bytes. The oldest statistics are dropped first.
    public var outboxLimit: Int64 = OutboxLimits.outbox
    /// The name of this kind of client, and the version of the program, for the service.
    public var client: String
    public var version: String
    /// The time of events.
    public var clock: TrustedClock

    public init(client: String, version: String, clock: TrustedClock) {
        self.client = client
        self.version = version
        self.clock = clock
    }

    /// The tables of the outbox.
    public static let schema = OutboxRows.schema
}

/// The numbers of the outbox, for users.
public struct EventStatus: Equatable, Sendable {
    /// The categories whose events are recorded.
    public var consent: Set<EventCategory>
    /// Events that wait for delivery.
    public var waiting: Int64
    /// Events that the service has confirmed.
    public var sent: Int64
    /// Events that the service has refused for good.
    public var refused: Int64
    /// Events that were dropped, because the outbox was full or the event too long.
    public var dropped: Int64
    /// The bytes of the outbox.
    public var bytes: Int64

    init(_ consent: Set<EventCategory>, _ counts: OutboxCounts) {
        self.consent = consent
        waiting = counts.waiting
        sent = counts.sent
        refused = counts.refused
        dropped = counts.dropped + counts.oversized
        bytes = counts.bytes
    }
}

/// The parts of a player that record and deliver events.
///
/// Thread: control, but for `init` and `close`.
/// `@unchecked Sendable` is safe because only control uses its mutable state; other threads only post to the loop.
final class PlayerEvents: @unchecked Sendable {
    let log: SessionLog
    /// Records downloads; nil when nothing is recorded.
    let downloads: DownloadEvents?
    private let consent: Set<EventCategory>
    private let published = PublishedEvents()
    private let recorder: SessionRecorder
    private let delivery: EventDelivery?

    /// - Parameters:
    ///   - player: its `eventSender` receives the events. Without an `eventSender` the events are stored for the
    ///     service of `streaming`.
    ///   - storage: its modules include `EventSettings.schema`.
    init(_ settings: EventSettings, of player: PlayerSettings, loop: EventLoop, storage: StorageThread) {
        consent = settings.consent
        let device = EventDevice(settings)
        let time: @Sendable () -> EventTime = { [clock = settings.clock] in EventTime(now: clock) }
        let isDelivered = player.eventSender == nil && !settings.consent.isEmpty
        let published = published
        let delivery = player.streaming.flatMap { streaming in
            isDelivered
                ? EventDelivery(
                    loop: loop, storage, streaming.events, device, time: time,
                    report: { published.set($0) }) : nil
        }
        if delivery != nil, let account = player.streaming?.events.account(of: nil) { published.set(account) }
        let receiver: SessionRecorder.Receiver =
            if let sender = player.eventSender { .sender(sender) } else { .outbox(storage) }
        let form = EventForm(device, consent: settings.consent, outboxLimit: settings.outboxLimit)
        let recorder = SessionRecorder(receiver, form, stored: { delivery?.eventsStored() })
        let downloads: DownloadEvents.Receiver =
            if let sender = player.eventSender {
                .sender { events in loop.post { for event in events { sender.send(event) } } }
            } else {
                .outbox(stored: { delivery?.eventsStored() })
            }
        self.downloads =
            settings.consent.isEmpty
            ? nil
            : DownloadEvents(
                form: form, time: time, link: { published.link }, account: { published.account }, receiver: downloads)
        self.delivery = delivery
        self.recorder = recorder
        let mode = player.offlineMode
        log = SessionLog(
            recorder, time: time, isOfflineMode: { mode.isOn }, account: { [published] in published.account })
    }

    /// The numbers of the outbox. Any thread.
    var status: EventStatus { EventStatus(consent, published.value) }

    /// Ends the sessions that a power cut has left open, and begins to deliver. Called on the control thread.
    func start(isOfflineMode: Bool) {
        recorder.endLeftSessions()
        delivery?.offlineModeChanged(to: isOfflineMode)
        delivery?.eventsStored()
    }

    func linkChanged(to kind: Link.Kind) {
        published.set(kind.reported)
        log.linkChanged(to: kind)
        delivery?.linkChanged(to: kind)
    }

    func offlineModeChanged(to isOn: Bool) { delivery?.offlineModeChanged(to: isOn) }

    func loginChanged() { delivery?.loginChanged() }

    /// Ends the delivery. Called on the control thread, after the last session has ended.
    func shutDown() { delivery?.shutDown() }

    /// Writes the events that wait in memory. Called after the control thread has ended.
    func close() { recorder.close() }
}

/// The numbers of the outbox, the link and the account, for other threads.
/// `@unchecked Sendable` is safe because `lock` guards them.
private final class PublishedEvents: @unchecked Sendable {
    private let lock = Lock()
    private var current = OutboxCounts()
    private var currentLink = SessionStart.Link.none
    private var currentAccount = AccountMark.none

    var value: OutboxCounts { lock.withLock { current } }

    var link: SessionStart.Link { lock.withLock { currentLink } }

    var account: AccountMark { lock.withLock { currentAccount } }

    func set(_ report: EventDelivery.Report) {
        switch report {
        case .counts(let counts): lock.withLock { current = counts }
        case .account(let account): set(account)
        }
    }

    func set(_ link: SessionStart.Link) { lock.withLock { currentLink = link } }
    func set(_ account: AccountMark) { lock.withLock { currentAccount = account } }
}

extension EventTime {
    /// Takes the trusted time. While no time was ever proved, takes the system's clock, which may be wrong.
    init(now clock: TrustedClock) {
        let reading = clock.read()
        let milliseconds = reading.milliseconds ?? SystemTime.clockMilliseconds()
        self.init(
            milliseconds: milliseconds, isProved: reading.milliseconds != nil && reading.isProved,
            systemStart: SystemStart(
                boot: reading.boot, milliseconds: milliseconds - reading.sinceBoot / 1_000_000))
    }
}

extension EventDevice {
    fileprivate init(_ settings: EventSettings) {
        let system = OperatingSystem.current
        self.init(
            hardwarePlatform: system.machine, operatingSystem: system.name, operatingSystemVersion: system.release,
            client: settings.client, version: settings.version)
    }
}
