import Network

/// Whether the offline engine may use the network now, and otherwise the reason why it waits (docs/playback.md, 16.5).
struct OfflineGate: Equatable, Sendable {
    var link = Link.Kind.offline
    /// Whether some route leads over a link that is not metered. Each transfer checks its own route.
    var hasUnmeteredRoute = false
    /// `offlineOverCellular`.
    var allowsCellular = false
    var isOfflineMode = false
    /// Whether the storage folder belongs to the database (`StorageFolder`).
    var isFolderOurs = true
    /// Whether the owner of the folder is unknown, because the state cannot be read.
    var isFolderUnknown = false
    /// False after several downloads found no room, until files were removed or some time has passed. The schedule sets
    /// it.
    var hasSpace = true
    /// False after the progress or result of a download could not be stored, until the state can be written. The
    /// schedule sets it.
    var hasState = true
    /// False after the routes of several downloads were metered, until a route changes. The schedule sets it.
    var hasWay = true
    /// Whether the playing product waits for bytes.
    var isTakenByPlayback = false

    /// The reason why no network may be used; nil: it is allowed.
    var networkWait: OfflineWait? {
        if isOfflineMode { return .onlineMode }
        switch link {
        case .offline: return .network
        case .cellular: return allowsCellular || hasUnmeteredRoute ? nil : .unmeteredNetwork
        case .ethernet, .wifi: return nil
        }
    }

    /// The reason why a download may not begin; nil: it may.
    var wait: OfflineWait? {
        if let networkWait { return networkWait }
        if !isFolderOurs { return isFolderUnknown ? .storage : .medium }
        if isTakenByPlayback { return .playback }
        if !hasState { return .storage }
        if !hasWay { return .unmeteredNetwork }
        return hasSpace ? nil : .space
    }
}
