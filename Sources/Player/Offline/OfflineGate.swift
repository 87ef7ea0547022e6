import Network

/// Whether the offline engine may use the network now, and what it waits for otherwise (docs/playback.md, 16.5).
struct OfflineGate: Equatable, Sendable {
    var link = Link.Kind.offline
    /// Whether some route leads over a link that is not metered. Each transfer finds out whether it is its own.
    var hasUnmeteredRoute = false
    /// `offlineOverCellular`.
    var allowsCellular = false
    var isOfflineMode = false
    /// Whether the folder of what is kept is that of the rows (`KeptFolder`).
    var isFolderOurs = true
    /// Whether the state cannot say whose folder it is.
    var isFolderUnknown = false
    /// False after several downloads found no room, until something was removed or some time has passed. The schedule
    /// sets it.
    var hasSpace = true
    /// False after something of a download could not be stored, until the state can be written. The schedule sets it.
    var hasState = true
    /// False after the routes of several downloads were found to be metered, until a route changes. The schedule sets
    /// it.
    var hasWay = true
    /// A product that plays waits for bytes.
    var isTakenByPlayback = false

    /// What any use of the network waits for; nil: it is allowed.
    var networkWait: OfflineWait? {
        if isOfflineMode { return .onlineMode }
        switch link {
        case .offline: return .network
        case .cellular: return allowsCellular || hasUnmeteredRoute ? nil : .unmeteredNetwork
        case .ethernet, .wifi: return nil
        }
    }

    /// What a download that does not run yet waits for.
    var wait: OfflineWait? {
        if let networkWait { return networkWait }
        if !isFolderOurs { return isFolderUnknown ? .storage : .medium }
        if isTakenByPlayback { return .playback }
        if !hasState { return .storage }
        if !hasWay { return .unmeteredNetwork }
        return hasSpace ? nil : .space
    }
}
