import Database

/// Downloads that have failed, and when.
extension OfflineRows {
    /// - Parameters:
    ///   - failure: for a person.
    ///   - time: in seconds since 1970; nil: nobody knows it.
    /// - Returns: false when the download was deleted meanwhile.
    func fail(_ job: OfflineJob, _ failure: String, at time: Int64?) throws(DatabaseError) -> Bool {
        try database.execute(
            "UPDATE offline_job SET state = 2, failure = ? WHERE number = ?", .text(failure), .integer(job.number))
        guard database.changedRowCount > 0 else { return false }
        try database.execute(
            "INSERT OR REPLACE INTO offline_failure VALUES (?, ?)", .integer(job.number),
            time.map { .integer($0) } ?? .null)
        return true
    }

    /// Downloads that have failed a day ago or longer begin again. For those that failed when nobody knew the time, the
    /// day begins now; a time that is to come was wrong.
    /// - Parameter time: in seconds since 1970.
    /// - Returns: how many begin again.
    func retryFailed(at time: Int64) throws(DatabaseError) -> Int {
        try database.execute(
            "UPDATE offline_job SET state = 0, failure = '' WHERE state = 2 AND number IN "
                + "(SELECT number FROM offline_failure WHERE time <= ? OR time > ?)",
            .integer(time - 86_400), .integer(time))
        let count = database.changedRowCount
        try database.execute(
            "DELETE FROM offline_failure WHERE number NOT IN (SELECT number FROM offline_job WHERE state = 2)")
        try database.execute("UPDATE offline_failure SET time = ? WHERE time IS NULL", .integer(time))
        // Those that had failed before failures were recorded.
        try database.execute(
            "INSERT OR IGNORE INTO offline_failure SELECT number, ? FROM offline_job WHERE state = 2", .integer(time))
        return count
    }
}
