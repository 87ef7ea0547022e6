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

    public init() {}
}

/// The room that is left for what is kept. The streaming cache gives way first, then what the appliance itself chose
/// to keep; nothing that a person asked for is ever removed.
///
/// Thread: a download's; blocks on the medium.
final class OfflineSpace: Sendable {
    /// Removes something from the cache, and answers whether there was anything.
    typealias CacheEviction = @Sendable (_ answer: @escaping @Sendable (Bool) -> Void) -> Void

    /// A download asks for so much more than it knows that it needs: what it writes until it asks again.
    private static let step: Int64 = 8 << 20

    let limits: OfflineLimits
    private let store: OfflineStore
    private let evictCache: CacheEviction?
    private let now: @Sendable () -> Int64

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

    /// - Parameter bytes: that are going to be written.
    /// - Throws: `.noSpace`; `.medium` when the free space cannot be found out.
    func claim(_ bytes: Int64) throws(OfflineFailure) {
        let needed = bytes.addingReportingOverflow(Self.step)
        guard !needed.overflow else { throw .noSpace }
        // What can never have room takes none from others.
        if let budget = limits.bytes, needed.partialValue > budget { throw .noSpace }
        while try !isOnMedium(needed.partialValue) {
            if evictFromCache() { continue }
            guard try evictChosen() else { throw .noSpace }
        }
        while !isInBudget(needed.partialValue) {
            guard try evictChosen() else { throw .noSpace }
        }
    }

    /// How many bytes are kept, and whether that is more than the warning allows.
    static func used(_ rows: OfflineRows) throws(DatabaseError) -> Int64 {
        let (sum, overflow) = try rows.total().addingReportingOverflow(try rows.unfinishedBytes())
        return overflow ? .max : sum
    }

    private func isInBudget(_ bytes: Int64) -> Bool {
        guard let budget = limits.bytes else { return true }
        guard let used = store.waitToRead({ (rows) throws(DatabaseError) in try Self.used(rows) }) else { return true }
        return bytes <= budget && used <= budget - bytes
    }

    private func isOnMedium(_ bytes: Int64) throws(OfflineFailure) -> Bool {
        do throws(SystemError) {
            let free = try Folder.freeBytes(at: store.folder)
            return free >= limits.freeBytes && free - limits.freeBytes >= bytes
        } catch {
            throw .medium(error)
        }
    }

    private func evictFromCache() -> Bool {
        guard let evictCache else { return false }
        let answer = Answer<Bool>()
        evictCache { answer.set($0) }
        return answer.wait()
    }

    /// Removes the one product that the appliance chose to keep and that is worth least.
    private func evictChosen() throws(OfflineFailure) -> Bool {
        let now = now()
        do throws(DatabaseError) {
            let removed = try store.waitToWrite { (rows) throws(DatabaseError) -> [[UInt8]]? in
                guard let product = try rows.leastWorthKeeping(now: now) else { return nil }
                return try rows.remove(product)?.contents
            }
            guard let removed else { return false }
            store.removeFiles(removed)
            return true
        } catch {
            throw .state(error)
        }
    }
}
