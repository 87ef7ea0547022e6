import Database
import Playback

/// The rows of downloads: the search for the next ones, and new ones.
extension OfflineRows {
    func download(_ product: ServiceAddress) throws(DatabaseError) -> QueuedDownload? {
        var statement = try database.prepare(OfflineQueries.download)
        try statement.bind([.text(product.text)])
        return try statement.step() ? QueuedDownload(statement) : nil
    }

    /// Returns downloads in the order of their requests.
    func downloads(after number: Int64, limit: Int) throws(DatabaseError) -> [QueuedDownload] {
        var statement = try database.prepare(OfflineQueries.downloadsAfter)
        try statement.bind([.integer(number)])
        return try Self.read(&statement, limit) { QueuedDownload($0) }
    }

    /// Returns the next downloads: by priority, then by age.
    /// - Parameter passedOver: called for each row with damaged values.
    func nextDownloads(limit: Int, passedOver: () -> Void = {}) throws(DatabaseError) -> [QueuedDownload] {
        var statement = try database.prepare(OfflineQueries.nextDownloads)
        return try Self.read(&statement, limit) { row in
            let download = QueuedDownload(row)
            if download == nil { passedOver() }
            return download
        }
    }

    /// Returns the queued downloads after `download` that have a part on the medium, the last one first.
    func downloadsWithPart(after download: QueuedDownload, limit: Int) throws(DatabaseError) -> [QueuedDownload] {
        var statement = try database.prepare(
            "SELECT \(OfflineQueries.downloadColumns) FROM offline_job WHERE state = 0 AND content IS NOT NULL "
                + "AND (priority < ?1 OR (priority = ?1 AND number > ?2)) ORDER BY priority, number DESC")
        try statement.bind([.integer(download.priority), .integer(download.number)])
        return try Self.read(&statement, limit) { QueuedDownload($0) }
    }

    /// Adds a download. A failed download of the product begins again where it stopped; a paused one stays.
    /// - Parameter isRepair: whether only damage is the reason. Such a download is removed when the copy is found to be
    ///   whole.
    /// - Returns: whether a download was added, or had failed and begins again.
    func add(
        _ product: ServiceAddress, _ referenceId: String, _ request: OfflineRequest, priority: Int64,
        isAutomatic: Bool, isRepair: Bool = false
    ) throws(DatabaseError) -> Bool {
        if !isAutomatic { try askedFor(product, priority: priority) }
        // A product that the user chose stays user-owned during a re-download.
        var isChosen = isAutomatic
        if isAutomatic, let item = try item(product) { isChosen = item.isAutomatic }
        if let download = try download(product) {
            if !isRepair { try wantForItself(product) }
            guard download.state == .failed else { return false }
            try database.execute(
                "UPDATE offline_job SET state = 0, failure = '', reference = ?, request = ?, priority = ? "
                    + "WHERE product = ?",
                .text(referenceId), .text(request.text), .integer(priority), .text(product.text))
            return true
        }
        try database.execute("DELETE FROM offline_job WHERE product = ?", .text(product.text))
        try database.execute(
            "INSERT INTO offline_job (product, reference, request, priority, state, is_automatic, synced, percent, "
                + "is_repair) VALUES (?, ?, ?, ?, 0, ?, 0, 0, ?)",
            .text(product.text), .text(referenceId), .text(request.text), .integer(priority),
            .integer(isChosen ? 1 : 0), .integer(isRepair ? 1 : 0))
        return true
    }

    /// Marks a product as requested by the user, even if the appliance chose it first. It is not removed to make room,
    /// and its download has at least this priority.
    func askedFor(_ product: ServiceAddress, priority: Int64) throws(DatabaseError) {
        try database.execute(
            "UPDATE offline_job SET priority = max(priority, ?) WHERE product = ?", .integer(priority),
            .text(product.text))
        for table in ["offline_item", "offline_job"] {
            try database.execute(
                "UPDATE \(table) SET is_automatic = 0 WHERE product = ? AND is_automatic = 1", .text(product.text))
        }
    }

    /// Returns whether the queue of downloads has room for all of these products. Nearly always the first and the last
    /// number are enough to decide.
    func hasRoom(for products: [ServiceAddress], limit: Int) throws(DatabaseError) -> Bool {
        if products.count > limit { return false }
        var statement = try database.prepare(OfflineQueries.downloadNumbers)
        guard try statement.step(), let first = statement.integer(0), let last = statement.integer(1) else {
            return true
        }
        let (span, isBeyond) = last.subtractingReportingOverflow(first)
        if !isBeyond, span < Int64(limit - products.count) { return true }
        let room = limit - (try count("offline_job"))
        if products.count <= room { return true }
        var added = 0
        for product in products where try download(product) == nil { added += 1 }
        return added <= room
    }

    /// The number of downloads that are neither paused nor failed.
    func downloadCount() throws(DatabaseError) -> Int { try count("offline_job WHERE state = 0") }
}
