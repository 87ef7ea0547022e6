import Database
import Events
import Platform

/// Records downloads as sessions. The events of a download that succeeds are stored in the transaction that makes the
/// product an offline copy.
struct DownloadEvents: Sendable {
    let form: EventForm
    let time: @Sendable () -> EventTime
    /// Returns the kind of the present link.
    let link: @Sendable () -> SessionStart.Link
    /// Called when events wait in the outbox. Any thread.
    let stored: @Sendable () -> Void

    func begin(_ product: ServiceAddress) -> DownloadSession { DownloadSession(product, self) }
}

/// The session of one attempt to download a product.
///
/// Thread: the download's.
final class DownloadSession {
    private let events: DownloadEvents
    private let start: SessionStart
    private var facts: [SessionFact] = []
    private let clock = SystemMonotonicClock()

    init(_ product: ServiceAddress, _ events: DownloadEvents) {
        self.events = events
        start = SessionStart(
            id: events.form.newID(), time: events.time(), kind: .download, isVideo: product.productType == .video,
            productId: product.id, link: events.link())
    }

    /// The id of the session in the requests to the service.
    var id: String { start.id }

    func began() -> Int64 { clock.now() }

    /// Records the fetch of the playbackinfo.
    /// - Parameter began: the result of `began()` before the fetch.
    func fetched(since began: Int64, _ end: SessionEnd) {
        let fetch = SessionFetch(.playbackInfo, milliseconds: (clock.now() - began) / 1_000_000, end)
        facts.append(SessionFact(events.time(), .fetched(fetch)))
    }

    func opened(_ info: PlaybackInfo) {
        let content = SessionContent(
            productId: info.productId, assetPresentation: info.assetPresentation.serviceName,
            audioMode: info.audioMode?.serviceName, quality: info.audioQuality?.serviceName)
        facts.append(SessionFact(events.time(), .opened(content)))
    }

    /// Returns the changes of the outbox for the session's end; nil when the service was never reached.
    func changes(_ end: SessionEnd) -> OutboxChanges? {
        guard !facts.isEmpty else { return nil }
        return events.form.changes(start, facts + [SessionFact(events.time(), .ended(position: nil, end))])
    }

    /// Notes that the changes are on the medium.
    func stored() { events.stored() }
}

extension OfflineFailure {
    /// The end of a session. A download that was stopped has not failed.
    func sessionEnd(_ product: MediaProduct) -> SessionEnd {
        guard let error = error(product) else { return .other }
        return SessionEnd(error)
    }
}
