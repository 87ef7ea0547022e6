import Database

/// Rows as lists show them, also those with damaged values.
extension OfflineRows {
    /// A row of a list. One with damaged values is listed too: lists and counts agree.
    struct Listed<Row: Sendable>: Sendable {
        /// Of a download.
        var number: Int64 = 0
        /// As it is in the row: an address, unless that is damaged.
        var product: String
        var referenceId: String
        var bytes: Int64
        /// nil for one with damaged values.
        var row: Row?
    }

    func listedItems(after product: String, limit: Int) throws(DatabaseError) -> [Listed<OfflineItem>] {
        var statement = try database.prepare(OfflineQueries.itemsAfter)
        try statement.bind([.text(product)])
        return try Self.read(&statement, limit) { row in
            Listed(
                product: row.text(0) ?? "", referenceId: row.text(1) ?? "",
                bytes: OfflineSize.counted(row.integer(8) ?? 0), row: OfflineItem(row))
        }
    }

    func listedJobs(after number: Int64, limit: Int) throws(DatabaseError) -> [Listed<OfflineJob>] {
        var statement = try database.prepare(OfflineQueries.jobsAfter)
        try statement.bind([.integer(number)])
        return try Self.read(&statement, limit) { row in
            Listed(
                number: row.integer(0) ?? 0, product: row.text(1) ?? "", referenceId: row.text(2) ?? "",
                bytes: row.bytes(8) == nil ? 0 : OfflineSize.counted(row.integer(11) ?? 0), row: OfflineJob(row))
        }
    }

    /// Downloads whose rows have damaged values fail: they never begin. Reads all rows.
    /// - Returns: their products and references.
    func failUnreadableJobs() throws(DatabaseError) -> [(product: String, referenceId: String)] {
        var statement = try database.prepare("SELECT \(OfflineQueries.jobColumns) FROM offline_job WHERE state <> 2")
        var found: [(number: Int64, product: String, referenceId: String)] = []
        while try statement.step() {
            if OfflineJob(statement) == nil {
                found.append((statement.integer(0) ?? 0, statement.text(1) ?? "", statement.text(2) ?? ""))
            }
        }
        for row in found {
            try database.execute(
                "UPDATE offline_job SET state = 2, failure = ? WHERE number = ?", .text(Self.unreadableJob),
                .integer(row.number))
        }
        return found.map { ($0.product, $0.referenceId) }
    }

    static let unreadableJob = "its record was damaged: add it again, or remove it"
}
