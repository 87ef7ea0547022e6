import Database
import Platform

/// How much room what is kept may take.
public struct OfflineLimits: Equatable, Sendable {
    /// All files together, in bytes; nil: as much as the medium has.
    public var bytes: Int64?
    /// What stays free on the file system, in bytes.
    public var freeBytes: Int64 = 256 << 20
    /// From how many percent of `bytes` on a problem is told.
    public var warningPercent = 90
    /// The most downloads in the queue.
    public var downloads = 100_000

    public init() {}
}

/// The room that is left for what is kept. The streaming cache gives way first, then what the appliance itself chose
/// to keep; nothing that a person asked for is ever removed. A download that runs has the room that it still needs
/// reserved, so that those that begin together do not all stop before their ends.
///
/// Thread: a download's; blocks on the medium.
/// `@unchecked Sendable` is safe because `lock` guards what changes.
final class OfflineSpace: @unchecked Sendable {
    /// Removes something from the cache, and answers whether there was anything.
    typealias CacheEviction = @Sendable (_ answer: @escaping @Sendable (Bool) -> Void) -> Void

    /// What a download writes at most until it asks again. It counts where nobody knows how long the content is, and
    /// for the free space, which others use too.
    private static let step: Int64 = 8 << 20
    /// Refusals that are remembered, so that memory does not grow with the number of downloads.
    private static let rememberedRefusals = 64

    let limits: OfflineLimits
    private let store: OfflineStore
    private let evictCache: CacheEviction?
    private let now: @Sendable () -> Int64
    /// Held while a download asks: two of them must not be given the same room.
    private let lock = Lock()
    /// The downloads that run, by their numbers, and how many bytes each will have at its end, as far as it is known.
    /// Guarded by `lock`.
    private var runs: [Int64: Int64] = [:]
    /// The same of those that were refused last. Guarded by `lock`.
    private var refused: [Int64: Int64] = [:]
    /// Guarded by `lock`.
    private var evicted: (@Sendable (_ referenceId: String) -> Void)?

    /// - Parameter now: seconds since 1970, for the choice of what goes.
    init(
        _ limits: OfflineLimits, _ store: OfflineStore, evictCache: CacheEviction?,
        now: @escaping @Sendable () -> Int64
    ) {
        self.limits = limits
        self.store = store
        self.evictCache = evictCache
        self.now = now
    }

    /// Reserves what a download still needs, until `end`. What it has recorded meanwhile is not counted twice.
    /// - Parameter total: the bytes that its content will have at least; 0 when nothing says it. The most that was ever
    ///   said counts, also in a run that was refused: so the service is not asked for what there is no room for.
    /// - Throws: `.noSpace`; `.tooLarge` when removing others would not help; `.medium` when the free space cannot be
    ///   found out.
    func claim(_ job: OfflineJob, upTo total: Int64 = 0) throws(OfflineFailure) {
        if let budget = limits.bytes, total > budget { throw .tooLarge(bytes: total, budget: budget) }
        try reserve(job, total)
    }

    /// The same for content that does not say how long it is, and of which so many bytes have arrived.
    func claimMore(_ job: OfflineJob, behind count: Int64) throws(OfflineFailure) {
        try reserve(job, Self.sum(count, Self.step))
    }

    private func reserve(_ job: OfflineJob, _ total: Int64) throws(OfflineFailure) {
        try lock.withLock { () throws(OfflineFailure) in
            let former = runs[job.number]
            let total = max(total, former ?? refused[job.number] ?? 0)
            runs[job.number] = total
            do throws(OfflineFailure) {
                try makeRoom(for: job, total)
                refused[job.number] = nil
            } catch {
                runs[job.number] = former
                if error == .noSpace { remember(job, total) }
                throw error
            }
        }
    }

    /// Calls `evicted` for each kept product that is removed to make room; nil: nobody is called. A download's thread.
    func observeEvictions(_ evicted: (@Sendable (_ referenceId: String) -> Void)?) {
        lock.withLock { self.evicted = evicted }
    }

    /// A run has ended: others may have what it did not use.
    func end(_ job: OfflineJob) { lock.withLock { runs[job.number] = nil } }

    /// Under the lock.
    private func remember(_ job: OfflineJob, _ total: Int64) {
        if refused.count >= Self.rememberedRefusals { refused = [:] }
        refused[job.number] = total
    }

    /// Removes nothing that was kept when that would not be enough. Under the lock.
    private func makeRoom(for job: OfflineJob, _ total: Int64) throws(OfflineFailure) {
        // What can never have room takes none from others.
        if let budget = limits.bytes, total > budget { throw .noSpace }
        let inBudget = missingInBudget(total)
        guard inBudget <= 0 || inBudget <= removableBytes(for: job) else { throw .noSpace }
        while try missingOnMedium() > 0, evictFromCache() {}
        let onMedium = try missingOnMedium()
        guard onMedium <= 0 || onMedium <= removableBytes(for: job) else { throw .noSpace }
        while true {
            // How long it is has to be known before something is removed for it.
            let missing = max(try missingOnMedium(), total > 0 ? missingInBudget(total) : 0)
            if missing <= 0 { break }
            if try evictChosen() { continue }
            guard try removePart(behind: job, missing) else { throw .noSpace }
        }
    }

    /// What may be removed for a download: what the appliance chose to keep, and the parts of those that wait behind
    /// it. Under the lock.
    private func removableBytes(for job: OfflineJob) -> Int64 {
        let runs = runs
        let found = store.waitToRead { (rows) throws(DatabaseError) -> Int64 in
            Self.sum(try rows.chosenBytes(), try Self.parts(rows, behind: job, runs).bytes)
        }
        return found ?? 0
    }

    /// What may be kept at most, in bytes: the budget, or what there is and what the medium has room for beside it.
    /// nil: neither is known.
    func most(beside used: Int64) -> Int64? {
        do throws(SystemError) {
            let free = try Folder.freeBytes(at: store.folder.path)
            return min(limits.bytes ?? .max, Self.sum(used, max(0, free - limits.freeBytes)))
        } catch {
            return limits.bytes
        }
    }

    /// How many bytes are kept, finished or not.
    static func used(_ rows: OfflineRows) throws(DatabaseError) -> Int64 {
        sum(try rows.total(), try rows.unfinishedBytes())
    }

    private static func sum(_ first: Int64, _ second: Int64) -> Int64 {
        let (sum, overflow) = first.addingReportingOverflow(second)
        return overflow ? .max : sum
    }

    /// What is used, and what the downloads that run are going to write. Under the lock.
    private func demand() -> (used: Int64, expected: Int64) {
        let runs = runs
        let found = store.waitToRead { (rows) throws(DatabaseError) -> (used: Int64, expected: Int64) in
            var expected: Int64 = 0
            for (number, total) in runs {
                // What is done or deleted has no row, and needs no more.
                guard let recorded = try rows.recordedBytes(of: number) else { continue }
                expected = Self.sum(expected, max(0, total - recorded))
            }
            return (used: try Self.used(rows), expected: expected)
        }
        // What cannot be counted keeps nobody waiting: the medium tells when it is full.
        return found ?? (used: 0, expected: 0)
    }

    /// - Returns: 0 or less when there is room.
    private func missingOnMedium() throws(OfflineFailure) -> Int64 {
        let expected = Self.sum(demand().expected, Self.step)
        let free: Int64
        do throws(SystemError) { free = try Folder.freeBytes(at: store.folder.path) } catch { throw .medium(error) }
        return Self.sum(expected, limits.freeBytes) - free
    }

    /// - Parameter total: of the download that asks; 0 when it is not known: then something has to be left.
    /// - Returns: 0 or less when there is room.
    private func missingInBudget(_ total: Int64) -> Int64 {
        guard let budget = limits.bytes else { return 0 }
        let (used, expected) = demand()
        return Self.sum(Self.sum(used, expected), total == 0 ? 1 : 0) - budget
    }

    /// Removes something from the streaming cache. Any thread.
    /// - Parameter answer: whether there was anything. On any thread.
    func evictFromCache(_ answer: @escaping @Sendable (Bool) -> Void) {
        if let evictCache { evictCache(answer) } else { answer(false) }
    }

    private func evictFromCache() -> Bool {
        guard let evictCache else { return false }
        let answer = Answer<Bool>()
        evictCache { answer.set($0) }
        return answer.wait()
    }

    /// Removes the one product that the appliance chose to keep and that is worth least. Under the lock.
    private func evictChosen() throws(OfflineFailure) -> Bool {
        let now = now()
        do throws(DatabaseError) {
            let removed = try store.waitToWrite {
                (rows) throws(DatabaseError) -> (contents: [[UInt8]], referenceId: String)? in
                guard let product = try rows.leastWorthKeeping(now: now) else { return nil }
                return try rows.remove(product)
            }
            guard let removed else { return false }
            store.removeFiles(removed.contents)
            evicted?(removed.referenceId)
            return true
        } catch {
            throw OfflineFailure(error)
        }
    }

    /// Removes the part that the last one has of those that wait behind `job`, if all their parts together would do.
    /// Otherwise parts that nobody can complete could keep everybody waiting. Under the lock: none of them begins
    /// meanwhile.
    /// - Parameter missing: in bytes.
    private func removePart(behind job: OfflineJob, _ missing: Int64) throws(OfflineFailure) -> Bool {
        let runs = runs
        do throws(DatabaseError) {
            let removed = try store.waitToWrite { (rows) throws(DatabaseError) -> [UInt8]? in
                let (last, bytes) = try Self.parts(rows, behind: job, runs)
                guard let last, bytes >= missing else { return nil }
                _ = try rows.setProgress(nil, of: last)
                return last.progress?.content
            }
            guard let removed else { return false }
            Log.info("a part of a download is removed: one that goes before it needs the room")
            store.removeFiles([removed])
            return true
        } catch {
            throw OfflineFailure(error)
        }
    }

    /// The last download behind `job` that has a part on the medium and does not run, and the bytes of all of them.
    private static func parts(
        _ rows: OfflineRows, behind job: OfflineJob, _ runs: [Int64: Int64]
    ) throws(DatabaseError) -> (last: OfflineJob?, bytes: Int64) {
        var (last, bytes): (OfflineJob?, Int64) = (nil, 0)
        for other in try rows.jobsWithPart(behind: job, limit: 100) where runs[other.number] == nil {
            if last == nil { last = other }
            bytes = sum(bytes, other.progress?.synced ?? 0)
        }
        return (last, bytes)
    }
}
