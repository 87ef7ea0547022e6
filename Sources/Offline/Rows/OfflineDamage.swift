import Database
import Playback

/// Why an offline copy counts as damaged: the column `is_damaged`.
enum OfflineDamage: Int64 {
    case none = 0
    /// A part of its file is missing or changed, or was so when this was written.
    case content = 1
    /// Its key does not open with the device's key. It opens again when the device's former key is back.
    case key = 2
}

/// Offline copies that are damaged or lost, and found again. Such a product is downloaded again. That download is a
/// repair, and is removed when the copy is found to be whole. The damaged rows have an index of their own, for queries
/// with `is_damaged <> 0`.
extension OfflineRows {
    /// - Returns: whether the copy was there, and not marked as damaged before.
    func markDamaged(_ item: OfflineItem) throws(DatabaseError) -> Bool {
        try database.execute(
            "UPDATE offline_item SET is_damaged = \(OfflineDamage.content.rawValue) "
                + "WHERE product = ? AND content = ? AND is_damaged = 0",
            .text(item.product.text), .bytes(item.content))
        return database.changedRowCount > 0
    }

    /// Marks the copy of a row with damaged values as damaged, whatever its file is.
    /// - Parameter product: the product as the row names it.
    /// - Returns: its reference; nil when it was marked before, or there is no such row.
    func markUnreadable(_ product: String) throws(DatabaseError) -> String? {
        var statement = try database.prepare(OfflineQueries.item)
        try statement.bind([.text(product)])
        guard try statement.step(), !Self.isReadable(statement) else { return nil }
        let reference = statement.text(1) ?? product
        try database.execute(
            "UPDATE offline_item SET is_damaged = \(OfflineDamage.content.rawValue) "
                + "WHERE product = ? AND is_damaged <> \(OfflineDamage.content.rawValue)", .text(product))
        return database.changedRowCount > 0 ? reference : nil
    }

    /// Marks a copy that cannot be played before its file is removed for its replacement. A former key of the device
    /// does not heal it any more.
    /// - Returns: false when the row has another content now.
    func giveUp(_ item: OfflineItem) throws(DatabaseError) -> Bool {
        try database.execute(
            "UPDATE offline_item SET is_damaged = \(OfflineDamage.content.rawValue) WHERE product = ? AND content = ?",
            .text(item.product.text), .bytes(item.content))
        return database.changedRowCount > 0
    }

    /// Removes the mark of damage from a copy that is whole, and the download of its repair.
    /// - Parameter content: the content that was read.
    /// - Returns: the part that the download had on the medium; nil without a mark, or for another content.
    func markWhole(_ product: ServiceAddress, _ content: [UInt8]) throws(DatabaseError) -> [[UInt8]]? {
        try database.execute(
            "UPDATE offline_item SET is_damaged = 0 WHERE product = ? AND content = ? AND is_damaged <> 0",
            .text(product.text), .bytes(content))
        guard database.changedRowCount > 0 else { return nil }
        return try removeRepair(of: product.text)
    }

    /// - Returns: the part that the download had on the medium.
    private func removeRepair(of product: String) throws(DatabaseError) -> [[UInt8]] {
        var statement = try database.prepare(
            "SELECT content FROM offline_job WHERE product = ? AND is_repair = 1 AND content IS NOT NULL")
        try statement.bind([.text(product)])
        let content = try statement.step() ? statement.bytes(0) : nil
        try database.execute("DELETE FROM offline_job WHERE product = ? AND is_repair = 1", .text(product))
        return [content].compactMap { $0 }
    }

    /// Makes a repair an ordinary download: the user requests the product, or the service has other content.
    func wantForItself(_ product: ServiceAddress) throws(DatabaseError) {
        try database.execute(
            "UPDATE offline_job SET is_repair = 0 WHERE product = ? AND is_repair = 1", .text(product.text))
    }

    // MARK: The device's key

    /// Returns a known text, sealed with the device's key of that time; nil at the first start.
    func keyProof() throws(DatabaseError) -> [UInt8]? {
        var statement = try database.prepare("SELECT proof FROM offline_key")
        return try statement.step() ? statement.bytes(0) : nil
    }

    func setKeyProof(_ proof: [UInt8]) throws(DatabaseError) {
        try database.execute("INSERT OR REPLACE INTO offline_key VALUES (1, ?)", .bytes(proof))
    }

    /// Marks the copies that the new key of the device does not open, and adds downloads that replace them. Reads all
    /// rows.
    /// - Returns: the number of lost products.
    func lose(where isLost: (_ sealedKey: [UInt8], _ content: [UInt8]) -> Bool) throws(DatabaseError) -> Int {
        try each("SELECT product, key, content FROM offline_item WHERE product > ?", where: isLost) {
            (product) throws(DatabaseError) in try lose(product)
        }
    }

    private func lose(_ product: String) throws(DatabaseError) {
        // A row with other damage keeps that mark: the former key alone does not heal it.
        try database.execute(
            "UPDATE offline_item SET is_damaged = \(OfflineDamage.key.rawValue) WHERE product = ? AND is_damaged = 0",
            .text(product))
        try database.execute(
            "UPDATE offline_job SET state = 0, failure = '' WHERE state = 2 AND product = ?", .text(product))
        try database.execute(
            """
            INSERT OR IGNORE INTO offline_job (product, reference, request, priority, state, is_automatic, synced,
            percent, is_repair) SELECT product, reference, request, 0, 0, is_automatic, 0, 0, 1 FROM offline_item
            WHERE product = ?
            """, .text(product))
    }

    /// Removes the mark of copies that the device's key opens again. At the start, before a download runs: the files of
    /// removed downloads stay, without a row.
    /// - Returns: the number of products.
    func regain(where isOpen: (_ sealedKey: [UInt8], _ content: [UInt8]) -> Bool) throws(DatabaseError) -> Int {
        let lost = "is_damaged <> 0 AND is_damaged = \(OfflineDamage.key.rawValue)"
        return try each(
            "SELECT product, key, content FROM offline_item WHERE \(lost) AND product > ?", where: isOpen
        ) { (product) throws(DatabaseError) in
            try database.execute("UPDATE offline_item SET is_damaged = 0 WHERE product = ?", .text(product))
            _ = try removeRepair(of: product)
        }
    }

    /// Changes products, a hundred at a time: memory must not grow with their number.
    /// - Parameter query: selects the products after an address, with their keys and contents.
    private func each(
        _ query: String, where isMeant: (_ sealedKey: [UInt8], _ content: [UInt8]) -> Bool,
        _ change: (_ product: String) throws(DatabaseError) -> Void
    ) throws(DatabaseError) -> Int {
        var (count, last) = (0, "")
        while true {
            var statement = try database.prepare("\(query) ORDER BY product")
            try statement.bind([.text(last)])
            let rows = try Self.read(&statement, 100) { row -> (product: String, key: [UInt8], content: [UInt8])? in
                guard let product = row.text(0), let key = row.bytes(1), let content = row.bytes(2) else { return nil }
                return (product, key, content)
            }
            guard let end = rows.last else { return count }
            for row in rows where isMeant(row.key, row.content) {
                try change(row.product)
                count += 1
            }
            last = end.product
        }
    }

    func damagedCount() throws(DatabaseError) -> Int { try count("offline_item WHERE is_damaged <> 0") }

    /// Returns the number of damaged items whose key `isLost`.
    func damagedCount(
        whose isLost: (_ sealedKey: [UInt8], _ content: [UInt8]) -> Bool
    ) throws(DatabaseError) -> Int {
        var statement = try database.prepare("SELECT key, content FROM offline_item WHERE is_damaged <> 0")
        var count = 0
        while try statement.step() {
            guard let key = statement.bytes(0), let content = statement.bytes(1) else { continue }
            if isLost(key, content) { count += 1 }
        }
        return count
    }
}
