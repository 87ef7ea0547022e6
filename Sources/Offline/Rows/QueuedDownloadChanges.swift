import Database
import Playback

/// Changes of downloads: their states, their progress and their removal.
extension OfflineRows {
    /// Makes `.started` be sent again for these downloads.
    func notifyAgain(_ numbers: [Int64]) throws(DatabaseError) {
        for number in numbers {
            try database.execute(
                "UPDATE offline_job SET failure = '' WHERE number = ? AND state = 0", .integer(number))
        }
    }

    /// Removes a download that the appliance chose, unless the user requested it meanwhile.
    /// - Returns: its part on the medium, if it has one, and whether there is an earlier copy; nil when it is not
    ///   removed.
    func dropAutomatic(_ download: QueuedDownload) throws(DatabaseError) -> (contents: [[UInt8]], hasCopy: Bool)? {
        let content = try self.download(download.product)?.progress?.content
        try database.execute("DELETE FROM offline_job WHERE number = ? AND is_automatic = 1", .integer(download.number))
        guard database.changedRowCount > 0 else { return nil }
        return ([content].compactMap { $0 }, try item(download.product) != nil)
    }

    /// Removes the product's download; its copy stays.
    /// - Returns: the file to remove, and the reference of the request; nil when there was none.
    func cancel(_ product: ServiceAddress) throws(DatabaseError) -> (contents: [[UInt8]], referenceId: String)? {
        let (part, download) = (try part(of: product), try download(product))
        try database.execute("DELETE FROM offline_job WHERE product = ?", .text(product.text))
        guard database.changedRowCount > 0 else { return nil }
        return ([part].compactMap { $0 }, download?.referenceId ?? product.text)
    }

    /// Removes all downloads; the copies stay.
    /// - Returns: whether there was any.
    func cancelAll() throws(DatabaseError) -> Bool {
        try database.execute("DELETE FROM offline_job")
        return database.changedRowCount > 0
    }

    /// Changes the state of the product's download, or of all, whose state is one of `former`.
    /// - Returns: the number of changed downloads.
    func setState(
        _ state: QueuedDownload.State, from former: [QueuedDownload.State], of product: ServiceAddress?
    ) throws(DatabaseError) -> Int {
        var count = 0
        for former in former {
            let change =
                "UPDATE offline_job SET state = ?, failure = CASE state WHEN 2 THEN '' ELSE failure END "
                + "WHERE state = ?"
            let (new, old) = (DatabaseValue.integer(state.rawValue), DatabaseValue.integer(former.rawValue))
            if let product {
                try database.execute(change + " AND product = ?", new, old, .text(product.text))
            } else {
                try database.execute(change, new, old)
            }
            count += database.changedRowCount
        }
        return count
    }

    /// - Parameter progress: nil removes the progress.
    /// - Returns: false when the download was deleted meanwhile.
    func setProgress(_ progress: OfflineProgress?, of download: QueuedDownload) throws(DatabaseError) -> Bool {
        try database.execute(
            "UPDATE offline_job SET content = ?, key = ?, fingerprint = ?, synced = ?, parts = ?, percent = ?, "
                + "failure = NULL WHERE number = ?",
            progress.map { .bytes($0.content) } ?? .null, progress.map { .bytes($0.sealedKey) } ?? .null,
            progress.map { .bytes($0.fingerprint) } ?? .null, .integer(progress?.synced ?? 0),
            progress.map { .text($0.parts.text) } ?? .null, .integer(progress?.percent ?? 0), .integer(download.number))
        return database.changedRowCount > 0
    }
}
