import CLinux
import Database
import Platform

/// The rows of the offline engine. Changes run inside a transaction of the caller.
///
/// Thread: that of the database.
struct OfflineRows {
    /// The application's tables: what is kept, and the downloads. A part of an index decides which of them is due.
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
            Migration(3, "CREATE TABLE offline_failure (number INTEGER PRIMARY KEY NOT NULL, time INTEGER)"),
        ])

    let database: Database

    init(_ database: Database) { self.database = database }

    // MARK: What is kept

    /// - Returns: nil also for a row that is damaged.
    func item(_ product: ServiceAddress) throws(DatabaseError) -> OfflineItem? {
        var statement = try database.prepare(OfflineQueries.item)
        try statement.bind([.text(product.text)])
        return try statement.step() ? OfflineItem(statement) : nil
    }

    /// Items behind `product` in the order of their addresses.
    func items(after product: String, limit: Int) throws(DatabaseError) -> [OfflineItem] {
        var statement = try database.prepare(OfflineQueries.itemsAfter)
        try statement.bind([.text(product)])
        return try Self.read(&statement, limit) { OfflineItem($0) }
    }

    /// What is to be looked at again, the longest overdue first, behind (`at`, `product`) in that order.
    func due(
        _ time: Int64, after: (at: Int64, product: String), limit: Int
    ) throws(DatabaseError) -> [OfflineItem] {
        var statement = try database.prepare(OfflineQueries.due)
        try statement.bind([.integer(time), .integer(after.at), .text(after.product)])
        return try Self.read(&statement, limit) { OfflineItem($0) }
    }

    /// So many rows. Damaged ones do not count: they would stand in the way of all that come behind.
    static func read<Row>(
        _ statement: inout Statement, _ limit: Int, _ row: (borrowing Statement) -> Row?
    ) throws(DatabaseError) -> [Row] {
        var rows: [Row] = []
        while rows.count < limit, try statement.step() { if let row = row(statement) { rows.append(row) } }
        return rows
    }

    /// Adds it, and removes its job.
    /// - Returns: the content that it replaces.
    func keep(_ item: OfflineItem, now: Int64) throws(DatabaseError) -> [UInt8]? {
        let former = try self.item(item.product)
        if let former { try add(-former.count) }
        try database.execute(
            "INSERT OR REPLACE INTO offline_item VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 0, ?)",
            .text(item.product.text), .text(item.referenceId), .text(item.request.text), .text(item.received.text),
            .bytes(item.fingerprint), .bytes(item.content), .bytes(item.sealedKey),
            item.sealedLicense.map { .bytes($0) } ?? .null, .integer(item.count),
            item.validity.revalidateAt.map { .integer($0) } ?? .null,
            item.validity.validUntil.map { .integer($0) } ?? .null, .integer(item.isAutomatic ? 1 : 0), .integer(now))
        try database.execute("DELETE FROM offline_job WHERE product = ?", .text(item.product.text))
        try add(item.count)
        return former?.content
    }

    /// It is still what the service has.
    func validate(
        _ item: OfflineItem, _ validity: OfflineValidity, license: [UInt8]?
    ) throws(DatabaseError) {
        try database.execute(
            "UPDATE offline_item SET revalidate_at = ?, valid_until = ?, license = coalesce(?, license) "
                + "WHERE product = ? AND content = ?",
            validity.revalidateAt.map { .integer($0) } ?? .null, validity.validUntil.map { .integer($0) } ?? .null,
            license.map { .bytes($0) } ?? .null, .text(item.product.text), .bytes(item.content))
    }

    /// It was played: for the choice of what goes first.
    func played(_ product: ServiceAddress, now: Int64) throws(DatabaseError) {
        try database.execute(
            "UPDATE offline_item SET plays = plays + 1, played = ? WHERE product = ?", .integer(now),
            .text(product.text))
    }

    /// Removes the product, its job and what there is of it.
    /// - Returns: the files to remove, and the reference of the last request; nil when there was nothing.
    func remove(_ product: ServiceAddress) throws(DatabaseError) -> (contents: [[UInt8]], referenceId: String)? {
        let (item, job) = (try item(product), try job(product))
        // Rows that cannot be read go too.
        try database.execute("DELETE FROM offline_item WHERE product = ?", .text(product.text))
        let hadItem = database.changedRowCount > 0
        try database.execute("DELETE FROM offline_job WHERE product = ?", .text(product.text))
        guard hadItem || database.changedRowCount > 0 else { return nil }
        if let item { try add(-item.count) }
        let contents = [item?.content, job?.progress?.content].compactMap { $0 }
        return (contents, job?.referenceId ?? item?.referenceId ?? "")
    }

    /// - Returns: whether there was anything.
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

    /// Downloads in the order of their requests.
    func jobs(after number: Int64, limit: Int) throws(DatabaseError) -> [OfflineJob] {
        var statement = try database.prepare(OfflineQueries.jobsAfter)
        try statement.bind([.integer(number)])
        return try Self.read(&statement, limit) { OfflineJob($0) }
    }

    /// The downloads whose turn it is: by priority, then by age.
    func nextJobs(limit: Int) throws(DatabaseError) -> [OfflineJob] {
        var statement = try database.prepare(OfflineQueries.nextJobs)
        return try Self.read(&statement, limit) { OfflineJob($0) }
    }

    /// The downloads that have something on the medium and whose turn is after that of `job`, the last one first.
    func jobsWithPart(behind job: OfflineJob, limit: Int) throws(DatabaseError) -> [OfflineJob] {
        var statement = try database.prepare(
            "SELECT \(OfflineQueries.jobColumns) FROM offline_job WHERE state = 0 AND content IS NOT NULL "
                + "AND (priority < ?1 OR (priority = ?1 AND number > ?2)) ORDER BY priority, number DESC")
        try statement.bind([.integer(job.priority), .integer(job.number)])
        return try Self.read(&statement, limit) { OfflineJob($0) }
    }

    /// Adds a download. One of the product that has failed begins again where it was; one that was paused stays.
    /// - Parameter isRepair: only because what is kept is damaged: it goes when that is found to be whole.
    /// - Returns: whether there is one now that was not there, or that had failed.
    func add(
        _ product: ServiceAddress, _ referenceId: String, _ request: OfflineRequest, priority: Int64,
        isAutomatic: Bool, isRepair: Bool = false
    ) throws(DatabaseError) -> Bool {
        if !isAutomatic { try askedFor(product, priority: priority) }
        // What a person has kept stays theirs, also while it is downloaded again.
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

    /// A person wants it, also if the appliance chose it first: it is not removed to make room, and a download of it
    /// has at least this priority.
    func askedFor(_ product: ServiceAddress, priority: Int64) throws(DatabaseError) {
        try database.execute(
            "UPDATE offline_job SET priority = max(priority, ?) WHERE product = ?", .integer(priority),
            .text(product.text))
        for table in ["offline_item", "offline_job"] {
            try database.execute(
                "UPDATE \(table) SET is_automatic = 0 WHERE product = ? AND is_automatic = 1", .text(product.text))
        }
    }

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

    /// That these begin again is told.
    func tellAgain(_ numbers: [Int64]) throws(DatabaseError) {
        for number in numbers {
            try database.execute(
                "UPDATE offline_job SET failure = '' WHERE number = ? AND state = 0", .integer(number))
        }
    }

    /// Removes a download that the appliance chose, unless a person wants it now.
    /// - Returns: its part on the medium, if it has one, and whether an earlier content is kept; nil when it is not
    ///   removed.
    func dropAutomatic(_ job: OfflineJob) throws(DatabaseError) -> (contents: [[UInt8]], isKept: Bool)? {
        let content = try self.job(job.product)?.progress?.content
        try database.execute("DELETE FROM offline_job WHERE number = ? AND is_automatic = 1", .integer(job.number))
        guard database.changedRowCount > 0 else { return nil }
        return ([content].compactMap { $0 }, try item(job.product) != nil)
    }

    /// Changes the state of the product's download, or of all, that are in one of `former`.
    /// - Returns: how many there were.
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

    /// - Parameter progress: nil: what there was is of no use.
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

    /// Whether the queue of downloads has room for all of these, `limit` being the most. Nearly always the first and
    /// the last number tell.
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

    /// Of those that are not paused and have not failed.
    func jobCount() throws(DatabaseError) -> Int { try count("offline_job WHERE state = 0") }

    func count(_ table: String) throws(DatabaseError) -> Int {
        var statement = try database.prepare("SELECT count(*) FROM \(table)")
        return try statement.step() ? Int(clamping: statement.integer(0) ?? 0) : 0
    }

    // MARK: Files and bytes

    /// The files that belong to items or to downloads, with the size that they have at least, whose names begin with
    /// this byte.
    func contents(beginningWith byte: UInt8) throws(DatabaseError) -> [(
        content: [UInt8], product: String, count: Int64
    )] {
        var statement = try database.prepare(OfflineQueries.contents)
        try statement.bind([.bytes([byte]), .bytes(Self.end(of: byte))])
        var contents: [(content: [UInt8], product: String, count: Int64)] = []
        while try statement.step() {
            if let content = statement.bytes(0), let product = statement.text(1), let count = statement.integer(2) {
                contents.append((content, product, count))
            }
        }
        return contents
    }

    /// The files of downloads whose names begin with this byte.
    func unfinishedContents(beginningWith byte: UInt8) throws(DatabaseError) -> [[UInt8]] {
        var statement = try database.prepare(OfflineQueries.unfinishedContents)
        try statement.bind([.bytes([byte]), .bytes(Self.end(of: byte))])
        var contents: [[UInt8]] = []
        while try statement.step() { if let content = statement.bytes(0) { contents.append(content) } }
        return contents
    }

    /// Behind all names that begin with this byte.
    private static func end(of byte: UInt8) -> [UInt8] {
        byte == 255 ? [UInt8](repeating: 255, count: 17) : [byte + 1]
    }

    /// Of all that is kept, in bytes.
    func total() throws(DatabaseError) -> Int64 {
        var statement = try database.prepare("SELECT bytes FROM offline_total")
        return try statement.step() ? statement.integer(0) ?? 0 : 0
    }

    /// Of all downloads, as far as it is recorded.
    func unfinishedBytes() throws(DatabaseError) -> Int64 {
        var statement = try database.prepare(
            "SELECT \(Self.sum(of: "synced")) FROM offline_job WHERE content IS NOT NULL")
        return try statement.step() ? statement.integer(0) ?? 0 : 0
    }

    /// Of one download, as far as it is recorded; nil when there is none.
    func recordedBytes(of number: Int64) throws(DatabaseError) -> Int64? {
        var statement = try database.prepare("SELECT max(synced, 0) FROM offline_job WHERE number = ?")
        try statement.bind([.integer(number)])
        return try statement.step() ? statement.integer(0) ?? 0 : nil
    }

    /// What the appliance chose to keep and is worth least, of those that were not played for longest: by how recently
    /// it was played (0.7) and by the logarithm of how often (0.3).
    func leastWorthKeeping(now: Int64) throws(DatabaseError) -> ServiceAddress? {
        var statement = try database.prepare(OfflineQueries.leastPlayed)
        var least: (product: ServiceAddress, score: Double)?
        while try statement.step() {
            guard let product = statement.text(0).flatMap({ ServiceAddress($0) }) else { continue }
            let (seconds, isBeyond) = now.subtractingReportingOverflow(statement.integer(1) ?? 0)
            let days = isBeyond ? 365 : Double(max(0, seconds)) / 86_400
            let plays = Double(max(1, statement.integer(2) ?? 1))
            let score = 0.7 / (1 + days / 30) + 0.3 * log10(plays)
            if score < least?.score ?? .infinity { least = (product, score) }
        }
        return least?.product
    }

    /// Of all that the appliance chose to keep and may drop, in bytes.
    func chosenBytes() throws(DatabaseError) -> Int64 {
        var statement = try database.prepare(OfflineQueries.chosenBytes)
        return try statement.step() ? statement.integer(0) ?? 0 : 0
    }

    /// Counts the bytes of all rows: a recovered database may have lost some. A damaged number at the end of all
    /// numbers would leave none for the next download.
    func recount() throws(DatabaseError) {
        let last = DatabaseValue.integer(1 << 62)
        try database.execute("DELETE FROM offline_job WHERE number > ?", last)
        // No service has them. Earlier versions took them from any client.
        try database.execute(
            "DELETE FROM offline_job WHERE length(CAST(product AS BLOB)) > ?",
            .integer(Int64(ServiceAddress.lengthLimit)))
        try database.execute(
            "UPDATE sqlite_sequence SET seq = (SELECT coalesce(max(number), 0) FROM offline_job) "
                + "WHERE name = 'offline_job' AND seq > ?", last)
        let sum = "(SELECT \(Self.sum(of: "count")) FROM offline_item)"
        try database.execute("INSERT OR REPLACE INTO offline_total VALUES (1, \(sum))")
    }

    /// Damaged rows may have any number: SQLite refuses a sum that does not fit.
    static func sum(of column: String) -> String {
        "CAST(min(total(\(column)), 9000000000000000000.0) AS INTEGER)"
    }

    private func add(_ bytes: Int64) throws(DatabaseError) {
        try database.execute("UPDATE offline_total SET bytes = max(0, bytes + ?)", .integer(bytes))
    }
}

extension OfflineItem {
    /// From the columns of `OfflineQueries.itemColumns`; nil for a row that is damaged.
    fileprivate init?(_ row: borrowing Statement) {
        guard let product = row.text(0).flatMap({ ServiceAddress($0) }), let reference = row.text(1),
            let request = row.text(2).flatMap({ OfflineRequest($0) }),
            let received = row.text(3).flatMap({ Received($0) }), let fingerprint = row.bytes(4),
            let content = row.bytes(5), content.count == 16, let key = row.bytes(6), let count = row.integer(8),
            count >= 0
        else { return nil }
        self.init(
            product: product, referenceId: reference, request: request, received: received, fingerprint: fingerprint,
            content: content, sealedKey: key, sealedLicense: row.bytes(7), count: count,
            validity: OfflineValidity(revalidateAt: row.integer(9), validUntil: row.integer(10)),
            isDamaged: row.integer(11) != 0, isAutomatic: row.integer(12) == 1)
    }
}

extension OfflineJob {
    /// From the columns of `OfflineQueries.jobColumns`; nil for a row that is damaged.
    fileprivate init?(_ row: borrowing Statement) {
        guard let number = row.integer(0), let product = row.text(1).flatMap({ ServiceAddress($0) }),
            let reference = row.text(2), let request = row.text(3).flatMap({ OfflineRequest($0) }),
            let priority = row.integer(4), let state = row.integer(5).flatMap({ State(rawValue: $0) })
        else { return nil }
        self.init(
            number: number, product: product, referenceId: reference, request: request, priority: priority,
            state: state, isAutomatic: row.integer(7) == 1)
        if let text = row.text(6) { if text.isEmpty { isToBeTold = true } else { failure = text } }
        if let content = row.bytes(8), content.count == 16, let key = row.bytes(9), let fingerprint = row.bytes(10),
            let synced = row.integer(11), synced >= 0, let parts = row.text(12).flatMap({ ContentParts($0) })
        {
            progress = OfflineProgress(
                content: content, sealedKey: key, fingerprint: fingerprint, synced: synced, parts: parts,
                percent: min(max(row.integer(13) ?? 0, 0), 100))
        }
    }
}
