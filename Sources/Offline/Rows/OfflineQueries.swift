/// The frequent queries of the offline engine, and those that others wait for. None of them reads a whole table,
/// however many products there are.
enum OfflineQueries {
    static let itemColumns =
        "product, reference, request, received, fingerprint, content, key, license, count, revalidate_at, "
        + "valid_until, is_damaged, is_automatic"

    static let downloadColumns =
        "number, product, reference, request, priority, state, failure, is_automatic, content, key, fingerprint, "
        + "synced, parts, percent"

    static let item = "SELECT \(itemColumns) FROM offline_item WHERE product = ?"

    static let itemsAfter = "SELECT \(itemColumns) FROM offline_item WHERE product > ? ORDER BY product"

    static let due = """
        SELECT \(itemColumns) FROM offline_item WHERE revalidate_at IS NOT NULL AND revalidate_at < ?1
        AND (revalidate_at, product) > (?2, ?3) ORDER BY revalidate_at, product
        """

    static let download = "SELECT \(downloadColumns) FROM offline_job WHERE product = ?"

    static let downloadsAfter = "SELECT \(downloadColumns) FROM offline_job WHERE number > ? ORDER BY number"

    static let nextDownloads =
        "SELECT \(downloadColumns) FROM offline_job WHERE state = 0 ORDER BY priority DESC, number"

    /// Each number is found at an end of the table.
    static let downloadNumbers = "SELECT (SELECT min(number) FROM offline_job), (SELECT max(number) FROM offline_job)"

    static let contents = "SELECT \(itemColumns) FROM offline_item WHERE content >= ? AND content < ?"

    static let covers = "SELECT content FROM offline_cover WHERE content >= ? AND content < ?"

    static let unfinishedContents = "SELECT content, number, synced FROM offline_job WHERE content >= ? AND content < ?"

    /// The bytes of all copies with their covers. Copies share the file of a cover.
    static let total = """
        SELECT (SELECT \(OfflineSize.sum(of: "count")) FROM offline_item) + (SELECT \(OfflineSize.sum(of: "count"))
        FROM (SELECT max(count) AS count FROM offline_cover GROUP BY content))
        """

    /// The bytes of all parts of downloads beyond the sizes of the copies that they replace.
    static let unfinishedDifference = """
        SELECT \(OfflineSize.sum(ofCounted: "max(\(recorded) - coalesce(\(replaced), 0), 0)")) FROM offline_job
        LEFT JOIN offline_item ON offline_item.product = offline_job.product WHERE offline_job.content IS NOT NULL
        """

    static let sizes = """
        SELECT \(recorded), coalesce(\(replaced), 0) FROM offline_job
        LEFT JOIN offline_item ON offline_item.product = offline_job.product WHERE number = ?
        """

    private static let recorded = OfflineSize.counted("offline_job.synced")
    private static let replaced = OfflineSize.counted("offline_item.count")

    /// The time of use of a copy that was stored or played while the time was unknown. It is later than any real time.
    static let unknownTime: Int64 = 1 << 62

    static let lastPlayed = "SELECT max(played) FROM offline_item WHERE is_automatic = 1 AND played < \(unknownTime)"

    /// The copies that were not played for longest. A copy that is being downloaded again is excluded: it stays until
    /// the new content is complete.
    static let leastPlayed = """
        SELECT product, played, plays FROM offline_item WHERE is_automatic = 1 AND NOT EXISTS (SELECT 1
        FROM offline_job WHERE offline_job.product = offline_item.product)
        ORDER BY played LIMIT 100
        """

    /// The bytes of automatic downloads, without those that are being downloaded again.
    static let chosenBytes = """
        SELECT \(OfflineSize.sum(of: "count")) FROM offline_item WHERE is_automatic = 1 AND NOT EXISTS (SELECT 1
        FROM offline_job WHERE offline_job.product = offline_item.product)
        """
}
