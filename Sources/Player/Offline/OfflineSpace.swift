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
/// reserved, so that those that begin together do not all stop before their ends. What replaces a copy needs the
/// difference (docs/decisions/room-for-a-replacement.md).
///
/// Thread: a download's; blocks on the medium.
/// `@unchecked Sendable` is safe because `lock` guards what changes.
final class OfflineSpace: @unchecked Sendable {
    /// Removes something from the cache, and answers whether there was anything.
    typealias CacheEviction = @Sendable (_ answer: @escaping @Sendable (Bool) -> Void) -> Void

    /// What a download writes at most until it asks again. It counts where nobody knows how long the content is, and
    /// for the free space, which others use too.
    private static let step: Int64 = 8 << 20
    /// What a replacement may have more on the medium than the copy: whole blocks, and a chunk that is not recorded.
    private static let slack: Int64 = 256 << 10

    let limits: OfflineLimits
    private let store: OfflineStore
    private let evictCache: CacheEviction?
    /// Seconds since 1970; nil when nobody knows.
    private let now: @Sendable () -> Int64?
    let refusals: OfflineRefusals
    /// Held while a download asks: two of them must not be given the same room.
    private let lock = Lock()
    /// The downloads that run, by their numbers, and how many bytes each will have at its end, as far as it is known.
    /// Guarded by `lock`.
    private var runs: [Int64: Int64] = [:]
    /// Guarded by `lock`.
    private var evicted: (@Sendable (_ referenceId: String) -> Void)?

    /// - Parameters:
    ///   - clock: for how long a refusal is remembered.
    ///   - now: seconds since 1970, for the choice of what goes; nil when nobody knows.
    init(
        _ limits: OfflineLimits, _ store: OfflineStore, evictCache: CacheEviction?,
        clock: any MonotonicClock = SystemMonotonicClock(), now: @escaping @Sendable () -> Int64?
    ) {
        self.limits = limits
        self.store = store
        self.evictCache = evictCache
        refusals = OfflineRefusals(clock: clock)
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
    /// - Throws: `.tooLarge` when they are more than the budget.
    func claimMore(_ job: OfflineJob, behind count: Int64) throws(OfflineFailure) {
        try checkArrived(count)
        try reserve(job, min(Self.sum(count, Self.step), limits.bytes ?? .max))
    }

    /// Before bytes of such content are written.
    /// - Throws: `.tooLarge` when there are more than the budget.
    func checkArrived(_ count: Int64) throws(OfflineFailure) {
        if let budget = limits.bytes, count > budget { throw .tooLarge(bytes: count, budget: budget) }
    }

    private func reserve(_ job: OfflineJob, _ total: Int64) throws(OfflineFailure) {
        try lock.withLock { () throws(OfflineFailure) in
            let former = runs[job.number]
            let total = max(total, former ?? refusals.total(of: job))
            runs[job.number] = total
            do throws(OfflineFailure) {
                try makeRoom(for: job, total)
                refusals.remove(job)
            } catch {
                runs[job.number] = former
                if error == .noSpace { refusals.add(job, total) }
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

    /// How many bytes are missing, or can be had, in the budget and on the medium.
    private struct Room {
        var budget: Int64 = 0
        var medium: Int64 = 0

        /// Of the same, what is still missing: nothing, where it is 0 or less.
        var isEnough: Bool { budget <= 0 && medium <= 0 }

        func isCovered(by other: Room) -> Bool {
            (budget <= 0 || budget <= other.budget) && (medium <= 0 || medium <= other.medium)
        }
    }

    /// Removes nothing that was kept when that would not be enough. Under the lock.
    private func makeRoom(for job: OfflineJob, _ total: Int64) throws(OfflineFailure) {
        // What can never have room takes none from others.
        if let budget = limits.bytes, total > budget { throw .noSpace }
        let removable = removable(for: job)
        guard Room(budget: missingInBudget(job, total)).isCovered(by: removable) else { throw .noSpace }
        var former = replaced(by: job)
        while try missingOnMedium(former) > 0, evictFromCache() {}
        let givenUp = former.map { $0.isPlayable ? 0 : $0.bytes } ?? 0
        let enough = Room(budget: removable.budget, medium: Self.sum(removable.medium, givenUp))
        guard Room(medium: try missingOnMedium(former)).isCovered(by: enough) else { throw .noSpace }
        while true {
            // How long it is has to be known before something is removed for it.
            var missing = Room(
                budget: total > 0 ? missingInBudget(job, total) : 0, medium: try missingOnMedium(former))
            if total == 0 { missing.medium -= givenUp }
            if missing.isEnough { break }
            if missing.medium > 0, total > 0, let copy = former, !copy.isPlayable, copy.bytes > 0 {
                try giveUp(copy.item)
                former?.bytes = 0
                continue
            }
            if try evictChosen() { continue }
            guard try removePart(behind: job, missing) else { throw .noSpace }
        }
    }

    /// What may be removed for a download: what the appliance chose to keep, and the parts of those that wait behind
    /// it. Under the lock.
    private func removable(for job: OfflineJob) -> Room {
        let runs = runs
        let found = store.waitToRead { (rows) throws(DatabaseError) -> Room in
            let (chosen, parts) = (try rows.chosenBytes(), try Self.parts(rows, behind: job, runs).room)
            return Room(budget: Self.sum(chosen, parts.budget), medium: Self.sum(chosen, parts.medium))
        }
        return found ?? Room()
    }

    /// The copy that a download replaces.
    private struct Replaced {
        var item: OfflineItem
        /// One that plays is never removed before the new one is whole.
        var isPlayable: Bool
        /// Of its file; 0 when there is none.
        var bytes: Int64
    }

    /// Under the lock.
    private func replaced(by job: OfflineJob) -> Replaced? {
        let product = job.product
        let stored = store.waitToRead { (rows) throws(DatabaseError) in try rows.item(product) }
        guard let item = stored ?? nil else { return nil }
        return Replaced(
            item: item, isPlayable: !item.isDamaged && item.validity.holds(at: now()),
            bytes: store.fileLength(of: item.content) ?? 0)
    }

    /// Under the lock.
    private func giveUp(_ item: OfflineItem) throws(OfflineFailure) {
        do throws(DatabaseError) {
            guard try store.waitToWrite({ (rows) throws(DatabaseError) in try rows.giveUp(item) }) else { return }
            Log.info("\(item.product.text) cannot be played, and is removed: the medium has no room beside it")
            // Power loss here: the file stays until the product is whole again, or deleted.
            store.removeFiles([item.content])
        } catch {
            throw OfflineFailure(error)
        }
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

    /// How many bytes count in the budget: a download that replaces a copy counts with what it has beyond that.
    static func counted(_ rows: OfflineRows) throws(DatabaseError) -> Int64 {
        sum(try rows.total(), try rows.unfinishedDifference())
    }

    /// What downloads that run are going to write: all of it, and what counts in the budget. Under the lock.
    private func expected() -> Room {
        let runs = runs
        let found = store.waitToRead { (rows) throws(DatabaseError) -> Room in
            var expected = Room()
            for (number, total) in runs {
                // What is done or deleted has no row, and needs no more.
                guard let sizes = try rows.sizes(of: number) else { continue }
                expected.medium = Self.sum(expected.medium, max(0, total - sizes.recorded))
                expected.budget = Self.sum(expected.budget, Self.difference(total, sizes))
            }
            return expected
        }
        // What cannot be counted keeps nobody waiting: the medium tells when it is full.
        return found ?? Room()
    }

    /// What a download still needs in the budget. The copy that it replaces does not count against it.
    private static func difference(_ total: Int64, _ sizes: (recorded: Int64, replaced: Int64)) -> Int64 {
        max(0, max(0, total - sizes.replaced) - max(0, sizes.recorded - sizes.replaced))
    }

    /// - Parameter former: what the download that asks replaces. Its room becomes free at the end: until then the
    ///   download may use as much of what has to stay free, and needs no room for what others may write meanwhile.
    /// - Returns: 0 or less when there is room.
    private func missingOnMedium(_ former: Replaced?) throws(OfflineFailure) -> Int64 {
        let expected = Self.sum(expected().medium, former == nil ? Self.step : 0)
        let free: Int64
        do throws(SystemError) { free = try Folder.freeBytes(at: store.folder.path) } catch { throw .medium(error) }
        let floor = former.map { limits.freeBytes - Self.sum($0.bytes, Self.slack) } ?? limits.freeBytes
        return Self.sum(expected, max(0, floor)) - free
    }

    /// - Parameter total: of the download that asks; 0 when it is not known: then something has to be left, unless a
    ///   part of it is there, which may be all of it.
    /// - Returns: 0 or less when there is room.
    private func missingInBudget(_ job: OfflineJob, _ total: Int64) -> Int64 {
        guard let budget = limits.bytes else { return 0 }
        let expected = expected().budget
        let number = job.number
        let found = store.waitToRead { (rows) throws(DatabaseError) in
            (counted: try Self.counted(rows), own: try rows.sizes(of: number) ?? (0, 0))
        }
        guard let found else { return 0 }
        // A replacement that is not larger needs nothing, also where the copies are more than the budget.
        if total == 0 ? found.own.replaced > 0 : Self.difference(total, found.own) == 0 { return 0 }
        return Self.sum(Self.sum(found.counted, expected), total == 0 && found.own.recorded == 0 ? 1 : 0) - budget
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
    private func removePart(behind job: OfflineJob, _ missing: Room) throws(OfflineFailure) -> Bool {
        let runs = runs
        do throws(DatabaseError) {
            let removed = try store.waitToWrite { (rows) throws(DatabaseError) -> [UInt8]? in
                let (last, room) = try Self.parts(rows, behind: job, runs)
                guard let last, missing.isCovered(by: room) else { return nil }
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
    ) throws(DatabaseError) -> (last: OfflineJob?, room: Room) {
        var (last, room): (OfflineJob?, Room) = (nil, Room())
        for other in try rows.jobsWithPart(behind: job, limit: 100) where runs[other.number] == nil {
            if last == nil { last = other }
            guard let sizes = try rows.sizes(of: other.number) else { continue }
            room.medium = sum(room.medium, sizes.recorded)
            room.budget = sum(room.budget, max(0, sizes.recorded - sizes.replaced))
        }
        return (last, room)
    }
}
