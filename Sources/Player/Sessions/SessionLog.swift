import Events
import Network
import Platform
import Playback
import Streaming

/// Records the sessions of products of a content service, with the time at which each fact happens. Local files and
/// addresses of the web are never recorded.
///
/// Thread: control.
final class SessionLog {
    private let recorder: SessionRecorder
    private let time: () -> EventTime
    private let isOfflineMode: () -> Bool
    private let account: () -> AccountMark
    private var link = SessionStart.Link.none

    /// - Parameters:
    ///   - time: returns the time now.
    ///   - account: returns the account that is logged in.
    init(
        _ recorder: SessionRecorder, time: @escaping () -> EventTime, isOfflineMode: @escaping () -> Bool,
        account: @escaping () -> AccountMark = { .none }
    ) {
        self.recorder = recorder
        self.time = time
        self.isOfflineMode = isOfflineMode
        self.account = account
    }

    func linkChanged(to kind: Link.Kind) { link = kind.reported }

    /// - Parameter id: the id of the session in the requests to the service.
    /// - Returns: false for a product that is not recorded.
    func begin(_ id: String, _ product: MediaProduct, _ reason: SessionStart.Reason) -> Bool {
        guard let address = ServiceAddress(product.productId) else { return false }
        let hasSource = product.sourceType != nil || product.sourceId != nil
        recorder.begin(
            SessionStart(
                id: id, time: time(), kind: .playback, reason: reason, isVideo: address.productType == .video,
                productId: address.id,
                source: hasSource ? EventSource(type: product.sourceType, id: product.sourceId) : nil,
                extras: product.extras, isOfflineMode: isOfflineMode(), link: link, account: account()))
        return recorder.records(id)
    }

    /// The time now.
    var now: EventTime { time() }

    func add(_ kind: SessionFact.Kind, to session: String) { recorder.add(SessionFact(time(), kind), to: session) }
}

extension Link.Kind {
    /// The kind of link in the words of events.
    var reported: SessionStart.Link {
        switch self {
        case .offline: .none
        case .ethernet: .ethernet
        case .wifi: .wifi
        case .cellular: .cellular
        }
    }
}
