import Database
import Platform
import Playback

/// The rows of the offline engine. Changes run inside a transaction of the caller.
///
/// Thread: the thread of the database.
struct OfflineRows {
    /// The tables of offline copies and downloads. A partial index finds the copies that are due.
    static let schema = SchemaModule(
        "offline",
        [
            Migration(
                1,
                """
                CREATE TABLE offline_item (
                    product TEXT PRIMARY KEY NOT NULL, reference TEXT NOT NULL, request TEXT NOT NULL,
                    received TEXT NOT NULL, fingerprint BLOB NOT NULL, content BLOB NOT NULL, key BLOB NOT NULL,
                    license BLOB, count INTEGER NOT NULL, revalidate_at INTEGER, valid_until INTEGER,
                    is_damaged INTEGER NOT NULL, is_automatic INTEGER NOT NULL, plays INTEGER NOT NULL,
                    played INTEGER NOT NULL
                ) WITHOUT ROWID;
                CREATE INDEX offline_item_due ON offline_item (revalidate_at) WHERE revalidate_at IS NOT NULL;
                CREATE INDEX offline_item_content ON offline_item (content);
                CREATE INDEX offline_item_automatic ON offline_item (played) WHERE is_automatic = 1;
                CREATE TABLE offline_job (
                    number INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, product TEXT UNIQUE NOT NULL,
                    reference TEXT NOT NULL,
                    request TEXT NOT NULL, priority INTEGER NOT NULL, state INTEGER NOT NULL, failure TEXT,
                    is_automatic INTEGER NOT NULL, content BLOB, key BLOB, fingerprint BLOB, synced INTEGER NOT NULL,
                    parts TEXT, percent INTEGER NOT NULL
                );
                CREATE INDEX offline_job_next ON offline_job (state, priority DESC, number);
                CREATE INDEX offline_job_content ON offline_job (content, synced) WHERE content IS NOT NULL;
                CREATE TABLE offline_total (id INTEGER PRIMARY KEY NOT NULL, bytes INTEGER NOT NULL);
                INSERT INTO offline_total VALUES (1, 0);
                CREATE TABLE offline_key (id INTEGER PRIMARY KEY NOT NULL, proof BLOB NOT NULL)
                """),
            Migration(
                2,
                """
                CREATE TABLE offline_folder (id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL);
                CREATE INDEX offline_item_damaged ON offline_item (product) WHERE is_damaged <> 0;
                CREATE TABLE former_job AS SELECT * FROM offline_job;
                DROP TABLE offline_job;
                CREATE TABLE offline_job (
                    number INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, product TEXT UNIQUE NOT NULL,
                    reference TEXT NOT NULL,
                    request TEXT NOT NULL, priority INTEGER NOT NULL, state INTEGER NOT NULL, failure TEXT,
                    is_automatic INTEGER NOT NULL, content BLOB, key BLOB, fingerprint BLOB, synced INTEGER NOT NULL,
                    parts TEXT, percent INTEGER NOT NULL, is_repair INTEGER NOT NULL DEFAULT 0
                );
                CREATE INDEX offline_job_next ON offline_job (state, priority DESC, number);
                CREATE INDEX offline_job_content ON offline_job (content, synced) WHERE content IS NOT NULL;
                INSERT INTO offline_job SELECT *, 0 FROM former_job;
                DROP TABLE former_job
                """),
            // Like `OfflineValidity.dueAt`: copies with an end and without an earlier date were never re-validated.
            Migration(
                3,
                """
                UPDATE offline_item SET revalidate_at = max(valid_until, -9000000000000000000) - 86400
                WHERE typeof(valid_until) = 'integer' AND (revalidate_at IS NULL OR revalidate_at > valid_until)
                """),
            Migration(4, "CREATE TABLE offline_failure (number INTEGER PRIMARY KEY NOT NULL, time INTEGER)"),
        ])

    let database: Database

    init(_ database: Database) { self.database = database }

    // MARK: Offline copies

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

    static func isReadable(_ row: borrowing Statement) -> Bool { OfflineItem(row) != nil }

    /// Returns the copies to re-validate, the longest overdue first, after (`at`, `product`) in that order.
    func due(
        _ time: Int64, after: (at: Int64, product: String), limit: Int
    ) throws(DatabaseError) -> [OfflineItem] {
        var statement = try database.prepare(OfflineQueries.due)
        try statement.bind([.integer(time), .integer(after.at), .text(after.product)])
        return try Self.read(&statement, limit) { OfflineItem($0) }
    }

    /// Returns at most `limit` rows. Damaged rows do not count: a page of them would hide all later rows.
    static func read<Row>(
        _ statement: inout Statement, _ limit: Int, _ row: (borrowing Statement) -> Row?
    ) throws(DatabaseError) -> [Row] {
        var rows: [Row] = []
        while rows.count < limit, try statement.step() { if let row = row(statement) { rows.append(row) } }
        return rows
    }

    /// Adds a copy, and removes its job.
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

    /// Records that the copy was played, for the choice of the copy to remove.
    /// - Parameter now: seconds since 1970; nil while the time is unknown.
    func played(_ product: ServiceAddress, now: Int64?) throws(DatabaseError) {
        try database.execute(
            "UPDATE offline_item SET plays = min(plays, 1000000000) + 1, played = ? WHERE product = ?",
            .integer(try timeOfUse(now)), .text(product.text))
    }

    /// Removes the copy and the download of a product.
    /// - Returns: the files to remove, and the reference of the last request; nil when there was nothing.
    func remove(_ product: ServiceAddress) throws(DatabaseError) -> (contents: [[UInt8]], referenceId: String)? {
        let (stored, former) = (try stored(product), try item(product))
        let (part, job) = (try part(of: product), try job(product))
        // This also removes rows that cannot be read.
        try database.execute("DELETE FROM offline_item WHERE product = ?", .text(product.text))
        let hadItem = database.changedRowCount > 0
        try database.execute("DELETE FROM offline_job WHERE product = ?", .text(product.text))
        guard hadItem || database.changedRowCount > 0 else { return nil }
        try addBytes(-(stored?.bytes ?? 0))
        let contents = [stored?.content, part].compactMap { $0 }
        return (contents, job?.referenceId ?? former?.referenceId ?? product.text)
    }

    /// - Returns: whether there was anything to remove.
    func removeAll() throws(DatabaseError) -> Bool {
        try database.execute("DELETE FROM offline_item")
        var count = database.changedRowCount
        try database.execute("DELETE FROM offline_job")
        count += database.changedRowCount
        try database.execute("UPDATE offline_total SET bytes = 0")
        return count > 0
    }

    // MARK: Downloads

    func job(_ product: ServiceAddress) throws(DatabaseError) -> OfflineJob? {
        var statement = try database.prepare(OfflineQueries.job)
        try statement.bind([.text(product.text)])
        return try statement.step() ? OfflineJob(statement) : nil
    }

    /// Returns downloads in the order of their requests.
    func jobs(after number: Int64, limit: Int) throws(DatabaseError) -> [OfflineJob] {
        var statement = try database.prepare(OfflineQueries.jobsAfter)
        try statement.bind([.integer(number)])
        return try Self.read(&statement, limit) { OfflineJob($0) }
    }

    /// Returns the next downloads: by priority, then by age.
    /// - Parameter passedOver: called for each row with damaged values.
    func nextJobs(limit: Int, passedOver: () -> Void = {}) throws(DatabaseError) -> [OfflineJob] {
        var statement = try database.prepare(OfflineQueries.nextJobs)
        return try Self.read(&statement, limit) { row in
            let job = OfflineJob(row)
            if job == nil { passedOver() }
            return job
        }
    }

    /// Returns the queued downloads after `job` that have a part on the medium, the last one first.
    func jobsWithPart(behind job: OfflineJob, limit: Int) throws(DatabaseError) -> [OfflineJob] {
        var statement = try database.prepare(
            "SELECT \(OfflineQueries.jobColumns) FROM offline_job WHERE state = 0 AND content IS NOT NULL "
                + "AND (priority < ?1 OR (priority = ?1 AND number > ?2)) ORDER BY priority, number DESC")
        try statement.bind([.integer(job.priority), .integer(job.number)])
        return try Self.read(&statement, limit) { OfflineJob($0) }
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
        if let job = try job(product) {
            if !isRepair { try wantForItself(product) }
            guard job.state == .failed else { return false }
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

    /// Makes `.started` be sent again for these downloads.
    func tellAgain(_ numbers: [Int64]) throws(DatabaseError) {
        for number in numbers {
            try database.execute(
                "UPDATE offline_job SET failure = '' WHERE number = ? AND state = 0", .integer(number))
        }
    }

    /// Removes a download that the appliance chose, unless the user requested it meanwhile.
    /// - Returns: its part on the medium, if it has one, and whether there is an earlier copy; nil when it is not
    ///   removed.
    func dropAutomatic(_ job: OfflineJob) throws(DatabaseError) -> (contents: [[UInt8]], isKept: Bool)? {
        let content = try self.job(job.product)?.progress?.content
        try database.execute("DELETE FROM offline_job WHERE number = ? AND is_automatic = 1", .integer(job.number))
        guard database.changedRowCount > 0 else { return nil }
        return ([content].compactMap { $0 }, try item(job.product) != nil)
    }

    /// Removes the product's download; its copy stays.
    /// - Returns: the file to remove, and the reference of the request; nil when there was none.
    func cancel(_ product: ServiceAddress) throws(DatabaseError) -> (contents: [[UInt8]], referenceId: String)? {
        let (part, job) = (try part(of: product), try job(product))
        try database.execute("DELETE FROM offline_job WHERE product = ?", .text(product.text))
        guard database.changedRowCount > 0 else { return nil }
        return ([part].compactMap { $0 }, job?.referenceId ?? product.text)
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
        _ state: OfflineJob.State, from former: [OfflineJob.State], of product: ServiceAddress?
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
    func setProgress(_ progress: OfflineProgress?, of job: OfflineJob) throws(DatabaseError) -> Bool {
        try database.execute(
            "UPDATE offline_job SET content = ?, key = ?, fingerprint = ?, synced = ?, parts = ?, percent = ?, "
                + "failure = NULL WHERE number = ?",
            progress.map { .bytes($0.content) } ?? .null, progress.map { .bytes($0.sealedKey) } ?? .null,
            progress.map { .bytes($0.fingerprint) } ?? .null, .integer(progress?.synced ?? 0),
            progress.map { .text($0.parts.text) } ?? .null, .integer(progress?.percent ?? 0), .integer(job.number))
        return database.changedRowCount > 0
    }

    /// Returns whether the queue of downloads has room for all of these products. Nearly always the first and the last
    /// number are enough to decide.
    func hasRoom(for products: [ServiceAddress], limit: Int) throws(DatabaseError) -> Bool {
        if products.count > limit { return false }
        var statement = try database.prepare(OfflineQueries.jobNumbers)
        guard try statement.step(), let first = statement.integer(0), let last = statement.integer(1) else {
            return true
        }
        let (span, isBeyond) = last.subtractingReportingOverflow(first)
        if !isBeyond, span < Int64(limit - products.count) { return true }
        let room = limit - (try count("offline_job"))
        if products.count <= room { return true }
        var added = 0
        for product in products where try job(product) == nil { added += 1 }
        return added <= room
    }

    func itemCount() throws(DatabaseError) -> Int { try count("offline_item") }

    /// The number of downloads that are neither paused nor failed.
    func jobCount() throws(DatabaseError) -> Int { try count("offline_job WHERE state = 0") }

    func count(_ table: String) throws(DatabaseError) -> Int {
        var statement = try database.prepare("SELECT count(*) FROM \(table)")
        return try statement.step() ? Int(clamping: statement.integer(0) ?? 0) : 0
    }
}

extension OfflineItem {
    /// Reads the columns of `OfflineQueries.itemColumns`; nil for a damaged row.
    init?(_ row: borrowing Statement) {
        guard let product = row.text(0).flatMap({ ServiceAddress($0) }), let reference = row.text(1),
            let request = row.text(2).flatMap({ OfflineRequest($0) }),
            let received = row.text(3).flatMap({ Received($0) }), let fingerprint = row.bytes(4),
            let content = row.bytes(5), content.count == 16, let key = row.bytes(6)
        else { return nil }
        self.init(
            product: product, referenceId: reference, request: request, received: received, fingerprint: fingerprint,
            content: content, sealedKey: key, sealedLicense: row.bytes(7),
            count: OfflineSize.counted(row.integer(8) ?? 0),
            validity: OfflineValidity(revalidateAt: row.integer(9), validUntil: row.integer(10)),
            isDamaged: row.integer(11) != 0, isAutomatic: row.integer(12) == 1)
    }
}

extension OfflineJob {
    /// Reads the columns of `OfflineQueries.jobColumns`; nil for a damaged row.
    init?(_ row: borrowing Statement) {
        guard let number = row.integer(0), let product = row.text(1).flatMap({ ServiceAddress($0) }),
            let reference = row.text(2), let request = row.text(3).flatMap({ OfflineRequest($0) }),
            let priority = row.integer(4), let state = row.integer(5).flatMap({ State(rawValue: $0) })
        else { return nil }
        self.init(
            number: number, product: product, referenceId: reference, request: request, priority: priority,
            state: state, isAutomatic: row.integer(7) == 1)
        if let text = row.text(6) { if text.isEmpty { isToBeTold = true } else { failure = text } }
        if let content = row.bytes(8), content.count == 16, let key = row.bytes(9), let fingerprint = row.bytes(10),
            let synced = row.integer(11), OfflineSize.counted(synced) == synced,
            let parts = row.text(12).flatMap({ ContentParts($0) })
        {
            progress = OfflineProgress(
                content: content, sealedKey: key, fingerprint: fingerprint, synced: synced, parts: parts,
                percent: min(max(row.integer(13) ?? 0, 0), 100))
        }
    }
}
