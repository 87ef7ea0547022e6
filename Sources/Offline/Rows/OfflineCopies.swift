import Database
import Playback

/// The rows of offline copies.
extension OfflineRows {
    /// - Returns: nil also for a damaged row.
    func item(_ product: ServiceAddress) throws(DatabaseError) -> OfflineItem? {
        var statement = try database.prepare(OfflineQueries.item)
        try statement.bind([.text(product.text)])
        return try statement.step() ? OfflineItem(statement) : nil
    }

    /// Returns items after `product`, in the order of their addresses.
    func items(after product: String, limit: Int) throws(DatabaseError) -> [OfflineItem] {
        var statement = try database.prepare(OfflineQueries.itemsAfter)
        try statement.bind([.text(product)])
        return try Self.read(&statement, limit) { OfflineItem($0) }
    }

    /// Returns the copies to re-validate, the longest overdue first, after (`at`, `product`) in that order.
    package func due(
        _ time: Int64, after: (at: Int64, product: String), limit: Int
    ) throws(DatabaseError) -> [OfflineItem] {
        var statement = try database.prepare(OfflineQueries.due)
        try statement.bind([.integer(time), .integer(after.at), .text(after.product)])
        return try Self.read(&statement, limit) { OfflineItem($0) }
    }

    /// Adds a copy, and removes its download.
    /// - Parameter now: seconds since 1970; nil while the time is unknown.
    /// - Returns: the content that it replaces.
    func keep(_ item: OfflineItem, now: Int64?) throws(DatabaseError) -> [UInt8]? {
        let former = try stored(item.product)
        try addBytes(-(former?.bytes ?? 0))
        try database.execute(
            "INSERT OR REPLACE INTO offline_item VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 0, ?)",
            .text(item.product.text), .text(item.referenceId), .text(item.request.text), .text(item.received.text),
            .bytes(item.fingerprint), .bytes(item.content), .bytes(item.sealedKey),
            item.sealedLicense.map { .bytes($0) } ?? .null, .integer(item.count),
            item.validity.dueAt.map { .integer($0) } ?? .null,
            item.validity.validUntil.map { .integer($0) } ?? .null, .integer(item.isAutomatic ? 1 : 0),
            .integer(try timeOfUse(now)))
        try database.execute("DELETE FROM offline_job WHERE product = ?", .text(item.product.text))
        try addBytes(OfflineSize.counted(item.count))
        return former?.content
    }

    /// Stores the result of a re-validation: the service still has this content.
    func validate(
        _ item: OfflineItem, _ validity: OfflineValidity, license: [UInt8]?
    ) throws(DatabaseError) {
        try database.execute(
            "UPDATE offline_item SET revalidate_at = ?, valid_until = ?, license = coalesce(?, license) "
                + "WHERE product = ? AND content = ?",
            validity.dueAt.map { .integer($0) } ?? .null, validity.validUntil.map { .integer($0) } ?? .null,
            license.map { .bytes($0) } ?? .null, .text(item.product.text), .bytes(item.content))
    }

    static func isReadable(_ row: borrowing Statement) -> Bool { OfflineItem(row) != nil }

    /// Records that the copy was played, for the choice of the copy to remove.
    /// - Parameter now: seconds since 1970; nil while the time is unknown.
    func played(_ product: ServiceAddress, now: Int64?) throws(DatabaseError) {
        try database.execute(
            "UPDATE offline_item SET plays = min(plays, 1000000000) + 1, played = ? WHERE product = ?",
            .integer(try timeOfUse(now)), .text(product.text))
    }

    func itemCount() throws(DatabaseError) -> Int { try count("offline_item") }
}
