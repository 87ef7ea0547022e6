import Database
import Platform
import Playback

/// The limits of the room for offline copies.
public struct OfflineLimits: Equatable, Sendable {
    /// The budget for all files together, in bytes; nil: the whole medium.
    public var bytes: Int64?
    /// The bytes that stay free on the file system.
    public var freeBytes: Int64 = 256 << 20
    /// The percentage of `bytes` from which a problem is published.
    public var warningPercent = 90
    /// The most downloads in the queue.
    public var downloads = 100_000

    public init() {}
}

/// Reserves and frees room for offline copies. The streaming cache is emptied first, then automatic downloads are
/// removed. A product that the user requested is never removed. A running download has reserved the room that it still
/// needs, so that parallel downloads do not all stop before their ends. A replacement needs only the difference to its
/// copy (docs/decisions/room-for-a-replacement.md).
///
/// Thread: a download's; blocks on the medium.
/// `@unchecked Sendable` is safe because `lock` guards the mutable state.
package final class OfflineSpace: @unchecked Sendable {
    /// Removes data from the cache, and answers whether there was any.
    package typealias CacheEviction = @Sendable (_ answer: @escaping @Sendable (Bool) -> Void) -> Void

    /// The most bytes that a download writes until it asks again, while the length of the content is unknown.
    private static let step: Int64 = 8 << 20
    /// The bytes of the seals of a file, as a share of its content: 16 in a chunk of 64 KiB.
    private static let sealShare: Int64 = 4096
    /// The bytes that a download may need beyond its content, and a replacement beyond its copy: whole blocks, and a
    /// chunk that is not recorded.
    private static let slack: Int64 = 256 << 10

    let limits: OfflineLimits
    private let store: OfflineStore
    private let evictCache: CacheEviction?
    /// Returns seconds since 1970; nil while the time is unknown.
    private let now: @Sendable () -> Int64?
    let refusals: OfflineRefusals
    /// Held while a download reserves: two downloads must not be given the same room.
    private let lock = Lock()
    /// The running downloads by number, and the final size of each in bytes, as far as it is known. Guarded by `lock`.
    private var runs: [Int64: Int64] = [:]
    /// Guarded by `lock`.
    private var evicted: (@Sendable (_ referenceId: String) -> Void)?

    /// - Parameters:
    ///   - clock: the clock for the age of refusals.
    ///   - now: returns seconds since 1970, for the choice of the copy to remove; nil while the time is unknown.
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

    /// Reserves the bytes that a download still needs, until `end`. Bytes that it records meanwhile are not counted
    /// twice.
    /// - Parameter total: the least size of its content in bytes; 0 when it is unknown. The largest size ever given
    ///   counts, also from a refused run: so the service is not asked for content that does not fit.
    /// - Throws: `.noSpace`; `.tooLarge` when removing others would not help; `.medium` when the free space cannot be
    ///   read.
    func claim(_ download: QueuedDownload, upTo total: Int64 = 0) throws(OfflineFailure) {
        if let budget = limits.bytes, total > budget { throw .tooLarge(bytes: total, budget: budget) }
        try reserve(download, total)
    }

    /// Reserves room for content of unknown length, of which `count` bytes have arrived.
    /// - Throws: as `claim`, and `.tooLarge` when `count` is more than the budget.
    func claimMore(_ download: QueuedDownload, after count: Int64) throws(OfflineFailure) {
        try checkArrived(count)
        try reserve(download, min(Self.sum(count, Self.step), limits.bytes ?? .max))
    }

    /// Checks the budget before bytes of such content are written.
    /// - Throws: `.tooLarge` when `count` is more than the budget.
    func checkArrived(_ count: Int64) throws(OfflineFailure) {
        if let budget = limits.bytes, count > budget { throw .tooLarge(bytes: count, budget: budget) }
    }

    private func reserve(_ download: QueuedDownload, _ total: Int64) throws(OfflineFailure) {
        try lock.withLock { () throws(OfflineFailure) in
            let former = runs[download.number]
            let total = max(total, former ?? refusals.total(of: download))
            runs[download.number] = total
            do throws(OfflineFailure) {
                try makeRoom(for: download, total)
                refusals.remove(download)
            } catch {
                runs[download.number] = former
                if error == .noSpace { refusals.add(download, total) }
                throw error
            }
        }
    }

    /// Calls `evicted` for each offline copy that is removed to make room; nil ends that. Thread of the call: a
    /// download's.
    func observeEvictions(_ evicted: (@Sendable (_ referenceId: String) -> Void)?) {
        lock.withLock { self.evicted = evicted }
    }

    /// Ends the reservation of a run; others may use the rest.
    func end(_ download: QueuedDownload) { lock.withLock { runs[download.number] = nil } }

    /// A number of bytes in the budget and on the medium: missing ones, or ones that can be freed.
    private struct Room {
        var budget: Int64 = 0
        var medium: Int64 = 0

        /// Whether nothing is missing, for a value of missing bytes.
        var isEnough: Bool { budget <= 0 && medium <= 0 }

        func isCovered(by other: Room) -> Bool {
            (budget <= 0 || budget <= other.budget) && (medium <= 0 || medium <= other.medium)
        }
    }

    /// Makes room for a download. Removes no offline copy when that would not be enough. Under the lock.
    private func makeRoom(for download: QueuedDownload, _ total: Int64) throws(OfflineFailure) {
        // A download that can never fit takes no room from others.
        if let budget = limits.bytes, total > budget { throw .noSpace }
        let removable = removable(for: download)
        guard Room(budget: missingInBudget(download, total)).isCovered(by: removable) else { throw .noSpace }
        var former = replaced(by: download)
        while try missingOnMedium(former) > 0, evictFromCache() {}
        let givenUp = former.map { $0.isPlayable ? 0 : $0.bytes } ?? 0
        let enough = Room(budget: removable.budget, medium: Self.sum(removable.medium, givenUp))
        guard Room(medium: try missingOnMedium(former)).isCovered(by: enough) else { throw .noSpace }
        while true {
            // The size must be known before offline copies are removed for it.
            var missing = Room(
                budget: total > 0 ? missingInBudget(download, total) : 0, medium: try missingOnMedium(former))
            if total == 0 { missing.medium -= givenUp }
            if missing.isEnough { break }
            if missing.medium > 0, total > 0, let copy = former, !copy.isPlayable, copy.bytes > 0 {
                try giveUp(copy.item)
                former?.bytes = 0
                continue
            }
            if try evictChosen() { continue }
            guard try removePart(after: download, missing) else { throw .noSpace }
        }
    }

    /// Returns the room that can be freed for a download: automatic downloads, and the parts of downloads that come
    /// after it. Under the lock.
    private func removable(for download: QueuedDownload) -> Room {
        let runs = runs
        let found = store.waitToRead { (rows) throws(DatabaseError) -> Room in
            let (chosen, parts) = (try rows.chosenBytes(), try Self.parts(rows, after: download, runs).room)
            return Room(budget: Self.sum(chosen, parts.budget), medium: Self.sum(chosen, parts.medium))
        }
        return found ?? Room()
    }

    /// The copy that a download replaces.
    private struct Replaced {
        var item: OfflineItem
        /// A copy that plays is never removed before the new one is complete.
        var isPlayable: Bool
        /// The size of its file; 0 when there is none.
        var bytes: Int64
    }

    /// Returns the copy that a download replaces. Under the lock.
    private func replaced(by download: QueuedDownload) -> Replaced? {
        let product = download.product
        let stored = store.waitToRead { (rows) throws(DatabaseError) in try rows.item(product) }
        guard let item = stored ?? nil else { return nil }
        return Replaced(
            item: item, isPlayable: !item.isDamaged && item.validity.holds(at: now()),
            bytes: store.fileLength(of: item.content) ?? 0)
    }

    /// Removes a copy that cannot be played. Under the lock.
    private func giveUp(_ item: OfflineItem) throws(OfflineFailure) {
        do throws(DatabaseError) {
            guard try store.waitToWrite({ (rows) throws(DatabaseError) in try rows.giveUp(item) }) else { return }
            Log.info("\(item.product.text) cannot be played, and is removed: the medium has no room beside it")
            // Power loss here: the file stays until the product is complete again, or deleted.
            store.removeFiles([item.content])
        } catch {
            throw OfflineFailure(error)
        }
    }

    /// Returns the most bytes that offline copies may use: the budget, or the used bytes plus the room of the medium if
    /// that is less. nil when neither is known.
    func most(beside used: Int64) -> Int64? {
        do throws(SystemError) {
            let free = try Folder.freeBytes(at: store.folder.path)
            return min(limits.bytes ?? .max, Self.sum(used, max(0, free - limits.freeBytes)))
        } catch {
            return limits.bytes
        }
    }

    /// Returns the bytes of offline copies and unfinished downloads.
    static func used(_ rows: OfflineRows) throws(DatabaseError) -> Int64 {
        sum(try rows.total(), try rows.unfinishedBytes())
    }

    private static func sum(_ first: Int64, _ second: Int64) -> Int64 {
        let (sum, overflow) = first.addingReportingOverflow(second)
        return overflow ? .max : sum
    }

    /// Returns the bytes that count in the budget. A download that replaces a copy counts only with its bytes beyond
    /// the size of that copy.
    static func counted(_ rows: OfflineRows) throws(DatabaseError) -> Int64 {
        sum(try rows.total(), try rows.unfinishedDifference())
    }

    /// Returns the bytes that running downloads will still write: all of them, and those that count in the budget.
    /// Under the lock.
    private func expected() -> Room {
        let runs = runs
        let found = store.waitToRead { (rows) throws(DatabaseError) -> Room in
            var expected = Room()
            for (number, total) in runs {
                // A finished or deleted download has no row, and needs no more room.
                guard let sizes = try rows.sizes(of: number) else { continue }
                expected.medium = Self.sum(expected.medium, max(0, total - sizes.recorded))
                expected.budget = Self.sum(expected.budget, Self.difference(total, sizes))
            }
            return expected
        }
        // If the rows cannot be read, assume 0: a full disk fails the write.
        return found ?? Room()
    }

    /// Returns the bytes that a download still needs in the budget. The copy that it replaces does not count against
    /// it.
    private static func difference(_ total: Int64, _ sizes: (recorded: Int64, replaced: Int64)) -> Int64 {
        max(0, max(0, total - sizes.replaced) - max(0, sizes.recorded - sizes.replaced))
    }

    /// Returns the bytes that are missing on the medium.
    /// - Parameter former: the copy that the asking download replaces. Its room becomes free at the end. Until then the
    ///   download may use as much of the reserved free space, and needs no room for the writes of others.
    /// - Returns: 0 or less when there is room.
    private func missingOnMedium(_ former: Replaced?) throws(OfflineFailure) -> Int64 {
        let content = expected().medium
        let expected = Self.sum(content, former == nil ? content / Self.sealShare + Self.slack : 0)
        let free: Int64
        do throws(SystemError) { free = try Folder.freeBytes(at: store.folder.path) } catch { throw .medium(error) }
        let floor = former.map { limits.freeBytes - Self.sum($0.bytes, Self.slack) } ?? limits.freeBytes
        return Self.sum(expected, max(0, floor)) - free
    }

    /// Returns the bytes that are missing in the budget.
    /// - Parameter total: the size of the asking download; 0 when it is unknown. Then at least one byte has to be free,
    ///   unless a part of the download is there, which may be all of it.
    /// - Returns: 0 or less when there is room.
    private func missingInBudget(_ download: QueuedDownload, _ total: Int64) -> Int64 {
        guard let budget = limits.bytes else { return 0 }
        let expected = expected().budget
        let number = download.number
        let found = store.waitToRead { (rows) throws(DatabaseError) in
            (counted: try Self.counted(rows), own: try rows.sizes(of: number) ?? (0, 0))
        }
        guard let found else { return 0 }
        // A replacement that is not larger needs nothing, even when the copies exceed the budget.
        if total == 0 ? found.own.replaced > 0 : Self.difference(total, found.own) == 0 { return 0 }
        return Self.sum(Self.sum(found.counted, expected), total == 0 && found.own.recorded == 0 ? 1 : 0) - budget
    }

    /// Removes data from the streaming cache. Any thread.
    /// - Parameter answer: gets whether there was any. Called on any thread.
    func evictFromCache(_ answer: @escaping @Sendable (Bool) -> Void) {
        if let evictCache { evictCache(answer) } else { answer(false) }
    }

    private func evictFromCache() -> Bool {
        guard let evictCache else { return false }
        let answer = FutureValue<Bool>()
        evictCache { answer.set($0) }
        return answer.wait()
    }

    /// Removes the automatic download that is worth least. Under the lock.
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

    /// Removes the part of the last download after `download`, if all such parts together would free enough. Otherwise
    /// parts that never complete could block all downloads. Under the lock: none of these downloads begins meanwhile.
    private func removePart(after download: QueuedDownload, _ missing: Room) throws(OfflineFailure) -> Bool {
        let runs = runs
        do throws(DatabaseError) {
            let removed = try store.waitToWrite { (rows) throws(DatabaseError) -> [UInt8]? in
                let (last, room) = try Self.parts(rows, after: download, runs)
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

    /// Returns the last download after `download` that has a part on the medium and does not run, and the bytes of all
    /// such parts.
    private static func parts(
        _ rows: OfflineRows, after download: QueuedDownload, _ runs: [Int64: Int64]
    ) throws(DatabaseError) -> (last: QueuedDownload?, room: Room) {
        var (last, room): (QueuedDownload?, Room) = (nil, Room())
        for other in try rows.downloadsWithPart(after: download, limit: 100) where runs[other.number] == nil {
            if last == nil { last = other }
            guard let sizes = try rows.sizes(of: other.number) else { continue }
            room.medium = sum(room.medium, sizes.recorded)
            room.budget = sum(room.budget, max(0, sizes.recorded - sizes.replaced))
        }
        return (last, room)
    }
}
