import CLinux
import Database
import Playback

/// The bytes of offline copies and downloads. Impossible sizes count as 0 (`OfflineSize`).
extension OfflineRows {
    /// Returns the bytes of all offline copies with their covers.
    func total() throws(DatabaseError) -> Int64 {
        if let total = try first("SELECT bytes FROM offline_total"), (0...Self.mostTotal).contains(total) {
            return total
        }
        // The total is damaged: sum up the rows.
        return try first(OfflineQueries.total) ?? 0
    }

    /// The largest plausible total, in bytes (1 PiB).
    private static let mostTotal: Int64 = 1 << 50

    /// Returns the recorded bytes of all downloads.
    func unfinishedBytes() throws(DatabaseError) -> Int64 {
        try first("SELECT \(OfflineSize.sum(of: "synced")) FROM offline_job WHERE content IS NOT NULL") ?? 0
    }

    /// Returns the recorded bytes of all downloads beyond the sizes of the copies that they replace.
    func unfinishedDifference() throws(DatabaseError) -> Int64 {
        try first(OfflineQueries.unfinishedDifference) ?? 0
    }

    /// Returns the recorded bytes of one download, and the bytes of the copy that it replaces. nil when there is no
    /// such download.
    func sizes(of number: Int64) throws(DatabaseError) -> (recorded: Int64, replaced: Int64)? {
        var statement = try database.prepare(OfflineQueries.sizes)
        try statement.bind([.integer(number)])
        guard try statement.step() else { return nil }
        return (statement.integer(0) ?? 0, statement.integer(1) ?? 0)
    }

    /// Chooses the automatic download that is worth least, among those that were not played for longest. The worth
    /// counts how recently it was played (0.7) and the logarithm of how often (0.3).
    ///
    /// In a transaction.
    /// - Parameter now: seconds since 1970; nil while the time is unknown: then the last time of use counts as now.
    func leastWorthKeeping(now: Int64?) throws(DatabaseError) -> ServiceAddress? {
        var time: Int64 = 0
        if let now { time = try timeOfUse(now) } else { time = try first(OfflineQueries.lastPlayed) ?? 0 }
        var statement = try database.prepare(OfflineQueries.leastPlayed)
        var least: (product: ServiceAddress, score: Double)?
        while try statement.step() {
            guard let product = statement.text(0).flatMap({ ServiceAddress($0) }) else { continue }
            let (seconds, isBeyond) = time.subtractingReportingOverflow(statement.integer(1) ?? 0)
            let days = isBeyond ? 365 : Double(max(0, seconds)) / 86_400
            let plays = Double(max(1, statement.integer(2) ?? 1))
            let score = 0.7 / (1 + days / 30) + 0.3 * log10(plays)
            if score < least?.score ?? .infinity { least = (product, score) }
        }
        return least?.product
    }

    /// Returns the time of use to store. While the time is unknown it is `OfflineQueries.unknownTime`, which counts as
    /// now and is replaced by the present time once that is known.
    func timeOfUse(_ now: Int64?) throws(DatabaseError) -> Int64 {
        guard let now else { return OfflineQueries.unknownTime }
        try database.execute(
            "UPDATE offline_item SET played = ? WHERE is_automatic = 1 AND played >= \(OfflineQueries.unknownTime)",
            .integer(now))
        return now
    }

    /// Returns the bytes of all automatic downloads that may be removed.
    func chosenBytes() throws(DatabaseError) -> Int64 { try first(OfflineQueries.chosenBytes) ?? 0 }

    // MARK: Changes

    /// Changes a row and changes it back, which proves that the state can be written.
    func touch() throws(DatabaseError) {
        let total = try total()
        for bytes in [total + 1, total] { try database.execute("UPDATE offline_total SET bytes = ?", .integer(bytes)) }
    }

    /// Counts the bytes of all rows: a recovered database may have lost some.
    ///
    /// Removes or corrects damaged values: a damaged number near the largest would leave none for the next download. A
    /// damaged date after the end of a copy would let the copy expire without a re-validation.
    func recount() throws(DatabaseError) {
        let last = DatabaseValue.integer(1 << 62)
        try database.execute("DELETE FROM offline_job WHERE number > ?", last)
        // No service has such ids. Earlier versions accepted them from any client.
        try database.execute(
            "DELETE FROM offline_job WHERE length(CAST(product AS BLOB)) > ?",
            .integer(Int64(ServiceAddress.lengthLimit)))
        try database.execute(
            "UPDATE sqlite_sequence SET seq = (SELECT coalesce(max(number), 0) FROM offline_job) "
                + "WHERE name = 'offline_job' AND seq > ?", last)
        // Like `OfflineValidity.dueAt`.
        try database.execute(
            """
            UPDATE offline_item SET revalidate_at = max(valid_until, -9000000000000000000) - \(OfflineValidity.notice)
            WHERE typeof(valid_until) = 'integer' AND (revalidate_at IS NULL OR revalidate_at > valid_until)
            """)
        try removeStrayCovers()
        try database.execute("INSERT OR REPLACE INTO offline_total VALUES (1, (\(OfflineQueries.total)))")
    }

    /// Corrects the size in the row of a copy whose file has another size.
    /// - Parameters:
    ///   - actual: the size of the file; 0 when it is missing.
    ///   - budget: as in `OfflineSize.corrected`.
    func correctSize(of product: String, actual: Int64, budget: Int64?) throws(DatabaseError) {
        var statement = try database.prepare("SELECT count FROM offline_item WHERE product = ?")
        try statement.bind([.text(product)])
        guard try statement.step() else { return }
        let recorded = statement.integer(0) ?? -1
        let size = OfflineSize.corrected(recorded, actual: actual, budget: budget)
        guard size != recorded else { return }
        try database.execute(
            "UPDATE offline_item SET count = ? WHERE product = ?", .integer(size), .text(product))
        try addBytes(size - OfflineSize.counted(recorded))
    }

    /// Adds bytes to the total of all offline copies.
    func addBytes(_ bytes: Int64) throws(DatabaseError) {
        guard bytes != 0 else { return }
        let (sum, isBeyond) = try total().addingReportingOverflow(bytes)
        try database.execute("UPDATE offline_total SET bytes = ?", .integer(isBeyond ? .max : max(0, sum)))
    }

    /// Returns the first column of the first row.
    private func first(_ query: String) throws(DatabaseError) -> Int64? {
        var statement = try database.prepare(query)
        return try statement.step() ? statement.integer(0) : nil
    }
}
