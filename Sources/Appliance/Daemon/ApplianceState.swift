import Database
import Platform
import Player

/// The folder for everything that outlives a start, held by one daemon at a time, with what was found in it.
///
/// Thread: the one that opens it. `database` is the keeper's afterwards.
public struct ApplianceState: ~Copyable {
    /// Why the daemon cannot use it.
    public enum Problem: Error, Equatable, Sendable, CustomStringConvertible {
        case heldByAnother(folder: String, process: Int?)
        case system(SystemError)
        case database(DatabaseError)

        public var description: String {
            switch self {
            case .heldByAnother(let folder, let process):
                let who = process.map { "another tonearm (process \($0))" } ?? "another tonearm"
                return "\(folder): \(who) uses this folder. Stop that one, or give this one another folder: [player] "
                    + "state in the configuration."
            case .system(let error): return "the state cannot be kept: \(error)"
            case .database(let error): return "the state cannot be kept: \(error)"
            }
        }
    }

    private static let migrations = [Migration(1, QueueStore.schema), Migration(2, KeyValueStore.schema)]

    public let path: String
    /// Queue, position, and what clients have set.
    let database: Database
    /// The queue as it was kept.
    let contents: QueueStore.Contents
    /// What clients have set.
    let settings: [SettingName: String]
    let lock: LockFile

    /// Makes the folder where it is missing. A database that is damaged beyond reading is put aside, and an empty one
    /// takes its place: an appliance that has lost its queue plays the next one, an appliance that does not start plays
    /// nothing.
    public init(_ path: String) throws(Problem) {
        let lock = try Self.lock(path)
        // The player's own; small enough to be looked through.
        try Self.opening("\(path)/\(Player.databaseName)") { (database) throws(DatabaseError) in
            try database.check()
        }
        let state = try Self.opening("\(path)/appliance.db") { (database) throws(DatabaseError) in
            try database.migrate(Self.migrations)
            return (database, try QueueStore(database).contents(), try Self.settings(in: database))
        }
        self.lock = lock
        self.path = path
        (database, contents, settings) = state
    }

    private static func lock(_ path: String) throws(Problem) -> LockFile {
        do throws(SystemError) { try Folder.create(path, mode: 0o700) } catch { throw .system(error) }
        do throws(LockFile.Refusal) {
            return try LockFile("\(path)/lock")
        } catch {
            switch error {
            case .held(let process): throw .heldByAnother(folder: path, process: process)
            case .system(let error): throw .system(error)
            }
        }
    }

    /// What holds when `file` is the configuration file's: the values that clients have set are above it.
    public func inForce(_ file: Configuration) -> Configuration { file.overruled(by: settings) }

    private static func settings(in database: Database) throws(DatabaseError) -> [SettingName: String] {
        let store = KeyValueStore(database)
        var settings: [SettingName: String] = [:]
        for name in SettingName.allCases { settings[name] = try store.text(name.path) }
        return settings
    }

    /// Opens a database and reads it, or a new one in place of a damaged one.
    private static func opening<Result>(
        _ path: String, _ read: (Database) throws(DatabaseError) -> Result
    ) throws(Problem) -> Result {
        do throws(DatabaseError) {
            do throws(DatabaseError) {
                return try read(try Database(path: path))
            } catch {
                guard error.kind == .corrupt else { throw error }
                Log.error(
                    "\(path) is damaged (\(error.message)): it is \(path).damaged from now on, and a new one begins")
            }
            do throws(SystemError) { try putAside(path) } catch { throw DatabaseError(error, path: path) }
            return try read(try Database(path: path))
        } catch {
            throw .database(error)
        }
    }

    private static func putAside(_ path: String) throws(SystemError) {
        for suffix in ["-wal", "-shm", ""] where FileKind(at: path + suffix) != nil {
            try Folder.renameFile(path + suffix, to: "\(path).damaged\(suffix)")
        }
    }
}
