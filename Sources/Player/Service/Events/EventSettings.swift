import Database
import Events
import Network
import Platform

/// The settings of events about playing and downloading (docs/playback.md, 19).
public struct EventSettings: Sendable {
    /// The categories whose events the user allows.
    public var consent = Set(EventCategory.allCases)
    /// The largest sum of the waiting events, in bytes. The oldest statistics are dropped first.
    public var outboxLimit: Int64 = OutboxLimits.outbox
    /// Receives the events; nil stores them for the service that `streaming` uses.
    public var sender: (any EventSender)?
    /// The name of this kind of client, and the version of the program, for the service.
    public var client: String
    public var version: String
    /// The time of events.
    public var clock: TrustedClock
    /// The service that the events are delivered to; nil only stores them.
    public var streaming: Streaming?

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
    /// Records downloads; nil when nothing is recorded, and with a sender of the integrator.
    let downloads: DownloadEvents?
    private let consent: Set<EventCategory>
    private let published = PublishedEvents()
    private let recorder: SessionRecorder
    private let delivery: EventDelivery?

    /// - Parameter storage: its modules include `EventSettings.schema`.
    init(_ settings: EventSettings, loop: EventLoop, storage: StorageThread, _ mode: OfflineMode) {
        consent = settings.consent
        let device = EventDevice(settings)
        let time: @Sendable () -> EventTime = { [clock = settings.clock] in EventTime(now: clock) }
        let isDelivered = settings.sender == nil && !settings.consent.isEmpty
        let published = published
        let delivery = settings.streaming.flatMap { streaming in
            isDelivered
                ? EventDelivery(
                    loop: loop, storage, streaming.events, device, milliseconds: { time().milliseconds },
                    counted: { published.set($0) }) : nil
        }
        let receiver: SessionRecorder.Receiver =
            if let sender = settings.sender { .sender(sender) } else { .outbox(storage) }
        let form = EventForm(device, consent: settings.consent, outboxLimit: settings.outboxLimit)
        let recorder = SessionRecorder(receiver, form, stored: { delivery?.eventsStored() })
        downloads =
            settings.sender == nil && !settings.consent.isEmpty
            ? DownloadEvents(
                form: form, time: time, link: { published.link }, stored: { delivery?.eventsStored() }) : nil
        self.delivery = delivery
        self.recorder = recorder
        log = SessionLog(recorder, time: time, isOfflineMode: { mode.isOn })
    }

    /// The numbers of the outbox. Any thread.
    var status: EventStatus { EventStatus(consent, published.value) }

    /// Ends the sessions that a power cut has left open, and begins to deliver. On control.
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

    /// Ends the delivery. On control, after the last session has ended.
    func shutDown() { delivery?.shutDown() }

    /// Writes what waits in memory. After control has ended.
    func close() { recorder.close() }
}

/// The numbers of the outbox and the link, for other threads.
/// `@unchecked Sendable` is safe because `lock` guards them.
private final class PublishedEvents: @unchecked Sendable {
    private let lock = Lock()
    private var current = OutboxCounts()
    private var currentLink = SessionStart.Link.none

    var value: OutboxCounts { lock.withLock { current } }

    var link: SessionStart.Link { lock.withLock { currentLink } }

    func set(_ counts: OutboxCounts) { lock.withLock { current = counts } }
    func set(_ link: SessionStart.Link) { lock.withLock { currentLink = link } }
}

extension EventTime {
    /// The trusted time; the system's clock, which may be wrong, while no time was ever proved.
    init(now clock: TrustedClock) {
        let reading = clock.read()
        self.init(
            milliseconds: reading.milliseconds ?? SystemTime.clockMilliseconds(),
            isProved: reading.milliseconds != nil && reading.isProved)
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
