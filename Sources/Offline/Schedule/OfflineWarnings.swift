import Platform

/// Logs, once each time, that downloads wait for something that the user may have to change.
struct OfflineWarnings {
    private let folder: String
    private var wait: OfflineWait?
    private var reason: String?
    /// Called when downloads begin or cease to wait for room, the state or the medium.
    var changed: (@Sendable () -> Void)?

    /// - Parameter folder: the storage folder.
    init(folder: String) { self.folder = folder }

    /// - Returns: whether the wait, or its reason, has changed.
    mutating func look(at schedule: OfflineSchedule) -> Bool {
        let wait = schedule.wait == .space || schedule.wait == .storage ? schedule.wait : nil
        let reason = schedule.reasonOfRest
        guard wait != self.wait || reason != self.reason else { return false }
        if wait != self.wait {
            if wait == .space { Log.warning("there is no room for more in \(folder): downloads wait") }
            if wait == .storage { Log.warning("the state cannot be written: downloads wait") }
        }
        if let reason, reason != self.reason { Log.warning("downloads wait: \(reason)") }
        (self.wait, self.reason) = (wait, reason)
        return true
    }
}
