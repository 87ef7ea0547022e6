import Network
import Playback

/// The conditions from outside under which the offline engine may use the network: the link, and what the user allows.
struct OfflineConditions {
    private let configuration: OfflineEngineConfig
    var link = Link.offline
    var isOfflineMode = false

    init(_ configuration: OfflineEngineConfig) { self.configuration = configuration }

    /// Adds the conditions of the engine itself.
    func gate(_ integrity: OfflineIntegrity, _ precedence: PlaybackPrecedence) -> OfflineGate {
        OfflineGate(
            link: link.kind, hasUnmeteredRoute: link.hasUnmeteredRoute,
            allowsCellular: configuration.offlineOverCellular, isOfflineMode: isOfflineMode,
            isFolderOurs: integrity.isFolderOurs, isFolderUnknown: integrity.isFolderUnknown,
            isTakenByPlayback: precedence.isTaken)
    }
}
