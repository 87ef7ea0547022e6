import Database

/// Downloads that have failed, and when.
extension OfflineRows {
    /// - Parameters:
    ///   - failure: the reason for the user.
    ///   - time: seconds since 1970; nil while the time is unknown.
    /// - Returns: false when the download was deleted meanwhile.
    func fail(_ download: QueuedDownload, _ failure: String, at time: Int64?) throws(DatabaseError) -> Bool {
        try database.execute(
            "UPDATE offline_job SET state = 2, failure = ? WHERE number = ?", .text(failure), .integer(download.number))
        guard database.changedRowCount > 0 else { return false }
        try database.execute(
            "INSERT OR REPLACE INTO offline_failure VALUES (?, ?)", .integer(download.number),
            time.map { .integer($0) } ?? .null)
        return true
    }

    /// Retries downloads that failed at least a day ago. If the time of a failure was unknown, the day begins now. A
    /// time in the future was wrong, and counts as past.
    /// - Parameter time: the time in seconds since 1970.
    /// - Returns: the number of downloads that are retried.
    func retryFailed(at time: Int64) throws(DatabaseError) -> Int {
        try database.execute(
            "UPDATE offline_job SET state = 0, failure = '' WHERE state = 2 AND number IN "
                + "(SELECT number FROM offline_failure WHERE time <= ? OR time > ?)",
            .integer(time - 86_400), .integer(time))
        let count = database.changedRowCount
        try database.execute(
            "DELETE FROM offline_failure WHERE number NOT IN (SELECT number FROM offline_job WHERE state = 2)")
        try database.execute("UPDATE offline_failure SET time = ? WHERE time IS NULL", .integer(time))
        // Includes downloads that failed before times of failures were recorded.
        try database.execute(
            "INSERT OR IGNORE INTO offline_failure SELECT number, ? FROM offline_job WHERE state = 2", .integer(time))
        return count
    }
}
