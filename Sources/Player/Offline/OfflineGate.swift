import Network

/// Whether the offline engine may use the network now, and what it waits for otherwise (docs/playback.md, 16.5).
struct OfflineGate: Equatable, Sendable {
    var link = Link.Kind.offline
    /// `offlineOverCellular`.
    var allowsCellular = false
    var isOfflineMode = false
    /// False after several downloads found no room, until something was removed or some time has passed. The schedule
    /// sets it.
    var hasSpace = true
    /// A product that plays waits for bytes.
    var isTakenByPlayback = false

    /// What any use of the network waits for; nil: it is allowed.
    var networkWait: OfflineWait? {
        if isOfflineMode { return .onlineMode }
        switch link {
        case .offline: return .network
        case .cellular: return allowsCellular ? nil : .unmeteredNetwork
        case .ethernet, .wifi: return nil
        }
    }

    /// What a download that does not run yet waits for.
    var wait: OfflineWait? { networkWait ?? (isTakenByPlayback ? .playback : hasSpace ? nil : .space) }
}
