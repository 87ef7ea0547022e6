import Database

/// Rows as lists show them, also those with damaged values.
extension OfflineRows {
    /// A row of a list. A row with damaged values is listed too, so that lists and counts agree.
    struct Listed<Row: Sendable>: Sendable {
        /// The number of a download; 0 for a copy.
        var number: Int64 = 0
        /// The product as the row names it: an address, unless the row is damaged.
        var product: String
        var referenceId: String
        var bytes: Int64
        /// The values of the row; nil when they are damaged.
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

    func listedDownloads(after number: Int64, limit: Int) throws(DatabaseError) -> [Listed<QueuedDownload>] {
        var statement = try database.prepare(OfflineQueries.downloadsAfter)
        try statement.bind([.integer(number)])
        return try Self.read(&statement, limit) { row in
            Listed(
                number: row.integer(0) ?? 0, product: row.text(1) ?? "", referenceId: row.text(2) ?? "",
                bytes: row.bytes(8) == nil ? 0 : OfflineSize.counted(row.integer(11) ?? 0), row: QueuedDownload(row))
        }
    }

    /// Marks downloads whose rows have damaged values as failed, because they can never begin. Reads all rows.
    /// - Returns: their products and references.
    func failUnreadableDownloads() throws(DatabaseError) -> [(product: String, referenceId: String)] {
        var statement = try database.prepare(
            "SELECT \(OfflineQueries.downloadColumns) FROM offline_job WHERE state <> 2")
        var found: [(number: Int64, product: String, referenceId: String)] = []
        while try statement.step() {
            if QueuedDownload(statement) == nil {
                found.append((statement.integer(0) ?? 0, statement.text(1) ?? "", statement.text(2) ?? ""))
            }
        }
        for row in found {
            try database.execute(
                "UPDATE offline_job SET state = 2, failure = ? WHERE number = ?", .text(Self.unreadableDownload),
                .integer(row.number))
        }
        return found.map { ($0.product, $0.referenceId) }
    }

    static let unreadableDownload = "its record was damaged: add it again, or remove it"
}
