import Database
import Events
import Offline
import Platform
import Playback
import Streaming

/// Records downloads as sessions. The events of a download that succeeds are stored in the transaction that makes the
/// product an offline copy. An integrator's sender gets the events after the transaction.
final class DownloadEvents: DownloadObserver {
    enum Receiver {
        /// - stored: called when events wait in the outbox, on any thread.
        case outbox(stored: @Sendable () -> Void)
        /// Called with the events of a session, on any thread.
        case sender(@Sendable ([PlayerEvent]) -> Void)
    }

    let form: EventForm
    let time: @Sendable () -> EventTime
    /// Returns the kind of the current link.
    let link: @Sendable () -> SessionStart.Link
    /// Returns the account that is logged in.
    let account: @Sendable () -> AccountMark
    let receiver: Receiver

    init(
        form: EventForm, time: @escaping @Sendable () -> EventTime, link: @escaping @Sendable () -> SessionStart.Link,
        account: @escaping @Sendable () -> AccountMark, receiver: Receiver
    ) {
        self.form = form
        self.time = time
        self.link = link
        self.account = account
        self.receiver = receiver
    }

    func begins(_ product: ServiceAddress) -> any DownloadRecord { DownloadSession(product, self) }
}

/// The session of one attempt to download a product.
///
/// `@unchecked Sendable` is safe because `lock` guards the mutable state.
private final class DownloadSession: DownloadRecord, @unchecked Sendable {
    private let events: DownloadEvents
    private let start: SessionStart
    private let lock = Lock()
    private var facts: [SessionFact] = []
    /// The changes of the outbox at the end of the session; nil until then, and when the service was never reached.
    private var changes: OutboxChanges?

    init(_ product: ServiceAddress, _ events: DownloadEvents) {
        self.events = events
        start = SessionStart(
            id: events.form.newID(), time: events.time(), kind: .download, isVideo: product.productType == .video,
            productId: product.id, link: events.link(), account: events.account())
    }

    /// The id of the session in the requests to the service.
    var id: String { start.id }

    func fetched(_ fetch: ServiceFetch) { add(.fetched(SessionFetch(fetch))) }

    private func add(_ kind: SessionFact.Kind) {
        let fact = SessionFact(events.time(), kind)
        lock.withLock { facts.append(fact) }
    }

    func opened(_ info: PlaybackInfo) {
        let content = SessionContent(
            productId: info.productId, assetPresentation: info.assetPresentation.serviceName,
            audioMode: info.audioMode?.serviceName, quality: info.audioQuality?.serviceName)
        add(.opened(content))
    }

    func ended(_ end: ServiceFetch.End) {
        lock.withLock {
            guard !facts.isEmpty else { return }
            let end = SessionFact(events.time(), .ended(position: nil, SessionEnd(end)))
            changes = events.form.changes(start, facts + [end])
        }
    }

    var needsTransaction: Bool {
        if case .outbox = events.receiver { lock.withLock { changes } != nil } else { false }
    }

    func store(in database: Database) throws(DatabaseError) {
        guard case .outbox = events.receiver, let changes = lock.withLock({ changes }) else { return }
        try changes.apply(to: OutboxRows(database))
    }

    func stored() {
        guard let changes = lock.withLock({ changes }) else { return }
        switch events.receiver {
        case .outbox(let stored): stored()
        case .sender(let send): send(changes.events.map { $0.event })
        }
    }
}
