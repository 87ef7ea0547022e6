import Database
import Events
import Platform
import Playback
import Streaming

/// Records downloads as sessions. The events of a download that succeeds are stored in the transaction that makes the
/// product an offline copy. A sender of the integrator gets them after it.
package struct DownloadEvents: Sendable {
    package enum Receiver {
        /// - stored: called when events wait in the outbox, on any thread.
        case outbox(stored: @Sendable () -> Void)
        /// Called with the events of a session, on any thread.
        case sender(@Sendable ([PlayerEvent]) -> Void)
    }

    let form: EventForm
    let time: @Sendable () -> EventTime
    /// Returns the kind of the present link.
    let link: @Sendable () -> SessionStart.Link
    /// Returns the account that is logged in.
    let account: @Sendable () -> AccountMark
    let receiver: Receiver

    package init(
        form: EventForm, time: @escaping @Sendable () -> EventTime, link: @escaping @Sendable () -> SessionStart.Link,
        account: @escaping @Sendable () -> AccountMark, receiver: Receiver
    ) {
        self.form = form
        self.time = time
        self.link = link
        self.account = account
        self.receiver = receiver
    }

    func begin(_ product: ServiceAddress) -> DownloadSession { DownloadSession(product, self) }
}

/// The session of one attempt to download a product.
///
/// Thread: the download's.
/// `@unchecked Sendable` is safe because `lock` guards the facts.
final class DownloadSession: @unchecked Sendable {
    private let events: DownloadEvents
    private let start: SessionStart
    private let lock = Lock()
    private var facts: [SessionFact] = []
    private let clock = SystemMonotonicClock()

    init(_ product: ServiceAddress, _ events: DownloadEvents) {
        self.events = events
        start = SessionStart(
            id: events.form.newID(), time: events.time(), kind: .download, isVideo: product.productType == .video,
            productId: product.id, link: events.link(), account: events.account())
    }

    /// The id of the session in the requests to the service.
    var id: String { start.id }

    func began() -> Int64 { clock.now() }

    /// Records the fetch of the playbackinfo.
    /// - Parameter began: the result of `began()` before the fetch.
    func fetched(since began: Int64, _ end: SessionEnd) {
        add(.fetched(SessionFetch(.playbackInfo, milliseconds: (clock.now() - began) / 1_000_000, end)))
    }

    /// The session in the form in which requests report the fetches of licenses.
    var reported: PlaybackSession {
        PlaybackSession(newID: { [id] in id }, renewed: { _ in }) { [self] report in
            if case .ended(let fetch) = report { add(.fetched(fetch)) }
        }
    }

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

    /// Returns the changes of the outbox for the session's end; nil when the service was never reached.
    func changes(_ end: SessionEnd) -> OutboxChanges? {
        let facts = lock.withLock { self.facts }
        guard !facts.isEmpty else { return nil }
        return events.form.changes(start, facts + [SessionFact(events.time(), .ended(position: nil, end))])
    }

    /// Whether the changes belong into the database.
    var isStored: Bool { if case .outbox = events.receiver { true } else { false } }

    /// Notes that the changes and the state that they are about are on the medium.
    func stored(_ changes: OutboxChanges) {
        switch events.receiver {
        case .outbox(let stored): stored()
        case .sender(let send): send(changes.events.map { $0.event })
        }
    }
}

extension OfflineFailure {
    /// The end of a session. A download that was stopped has not failed.
    func sessionEnd(_ product: MediaProduct) -> SessionEnd {
        guard let error = error(product) else { return .other }
        return SessionEnd(error)
    }
}
