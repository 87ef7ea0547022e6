import Platform

/// Logs, once each time, that downloads wait for something that the user may have to change.
struct OfflineWarnings {
    private var wait: OfflineWait?
    private var reason: String?

    /// - Parameter folder: the storage folder.
    /// - Returns: whether the status has changed.
    mutating func look(at schedule: OfflineSchedule, folder: String) -> Bool {
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
