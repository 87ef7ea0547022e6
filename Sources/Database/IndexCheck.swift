import CLinux
import Platform

/// Compares all tables with their indexes once a day, one table at a time and only while the storage is idle. A damaged
/// index is rebuilt.
///
/// Thread: storage; `@unchecked Sendable` is safe for that reason.
final class IndexCheck: @unchecked Sendable {
    /// Delays in nanoseconds.
    private static let startDelay: Int64 = 600_000_000_000
    private static let tableDelay: Int64 = 1_000_000_000
    /// The time without work after which the storage counts as idle.
    private static let idleTime: Int64 = 2_000_000_000
    private static let dueDelay: Int64 = 3_600_000_000_000
    /// The time between two checks of all tables, in seconds.
    private static let interval: Int64 = 86_400
    /// The time of the last check in the table of `KeyValueStore`.
    private static let key = "indexCheck"

    private let storage: StorageThread
    private let seconds: @Sendable () -> Int64
    /// The tables of this round that were not compared yet.
    private var tables: [String] = []

    /// - Parameter seconds: returns the system's time, since 1970. It need not be right.
    init(_ storage: StorageThread, seconds: @escaping @Sendable () -> Int64) {
        self.storage = storage
        self.seconds = seconds
    }

    func start() { turn(after: Self.startDelay) }

    private func turn(after delay: Int64) {
        storage.schedule(after: delay) { [self] in turn() }
    }

    private func turn() {
        let idle = storage.idleTime
        guard idle >= Self.idleTime else { return turn(after: Self.idleTime - idle) }
        guard let file = storage.stateFile else { return }
        do throws(DatabaseError) {
            if tables.isEmpty {
                guard try isDue(file) else { return turn(after: Self.dueDelay) }
                tables = try file.tables()
                if tables.isEmpty { return turn(after: Self.dueDelay) }
            }
            if let table = tables.last {
                if try file.repairIndexes(of: table, unless: { [storage] in storage.hasWaitingWork }) {
                    storage.indexesRepaired()
                }
                tables.removeLast()
            }
        } catch {
            if error.kind == .interrupted { return turn(after: Self.idleTime) }
            Log.warning("the indexes of the state cannot be checked: \(error)")
            tables = []
            return turn(after: Self.dueDelay)
        }
        guard tables.isEmpty else { return turn(after: Self.tableDelay) }
        let now = seconds()
        storage.write(urgency: .canWait, answerOn: nil) { (database) throws(DatabaseError) in
            try KeyValueStore(database).set(.integer(now), for: Self.key)
        } answer: { error in
            if let error { Log.warning("the time of the check of the indexes is not stored: \(error)") }
        }
        turn(after: Self.dueDelay)
    }

    /// Returns whether a check is due. A check is also due after the clock was set back, because it costs little.
    private func isDue(_ file: StateFile) throws(DatabaseError) -> Bool {
        guard let database = file.readable, let last = try KeyValueStore(database).integer(Self.key) else {
            return true
        }
        let (passed, isBeyond) = seconds().subtractingReportingOverflow(last)
        return isBeyond || passed < 0 || passed >= Self.interval
    }
}
