import Appliance
import Database
import Platform

/// The first unused version of the queue, in the state. Versions are reserved in blocks. So a change of the queue need
/// not store its version, and no version is used twice.
///
/// Thread: any; `answer` is called on the storage thread.
struct MPDVersionRow: Sendable {
    /// The versions that are reserved at once.
    static let block: UInt32 = 100_000
    private static let key = "mpd.version"

    let storage: StorageThread

    /// Reserves a block.
    /// - Parameter answer: gets the first version of the block.
    func reserve(_ answer: @escaping @Sendable (UInt32) -> Void) {
        storage.query { [self] database in
            let first = database.map { read($0) } ?? 1
            storage.write(answerOn: nil) { (database) throws(DatabaseError) in
                try KeyValueStore(database, table: ApplianceState.settingTable)
                    .set(.integer(Int64(first + Self.block)), for: Self.key)
            } answer: { error in
                if let error { Log.warning("the version of the queue was not stored: \(error.description)") }
                answer(first)
            }
        }
    }

    private func read(_ database: Database) -> UInt32 {
        do throws(DatabaseError) {
            let stored = try KeyValueStore(database, table: ApplianceState.settingTable).integer(Self.key) ?? 1
            // Begins again before 31 bits overflow, because clients read no more.
            return stored < 1 || stored > Int64(Int32.max) - 2 * Int64(Self.block) ? 1 : UInt32(stored)
        } catch {
            Log.warning("the version of the queue cannot be read: \(error.description)")
            return 1
        }
    }
}
