import Database
import Library
import PCM
import Platform
import Player
import Queue

/// The state that the daemon stores across restarts, and the problems that were found in it. One daemon uses the folder
/// at a time.
///
/// Thread: the thread that opens it, before the storage thread runs.
public struct ApplianceState: ~Copyable {
    /// The reason why the daemon cannot use the state. A folder that cannot be written is not such a reason: the state
    /// is then in memory.
    public enum Problem: Error, Equatable, Sendable, CustomStringConvertible {
        case heldByAnother(folder: String, process: Int?)
        /// A newer version of the program wrote it. Another start would fail too.
        case newerVersion(DatabaseError)
        case system(SystemError)

        public var description: String {
            switch self {
            case .heldByAnother(let folder, let process):
                let who = process.map { "another tonearm (process \($0))" } ?? "another tonearm"
                return
                    "\(folder): \(who) uses this folder. Stop that one, or set another folder with [player] state in "
                    + "the configuration."
            case .newerVersion(let error): return error.description
            case .system(let error): return "the state cannot be opened: \(error)"
            }
        }
    }

    /// The settings of clients, by their paths.
    package static let settingTable = "setting"
    /// The appliance's tables.
    static let schema = SchemaModule(
        "appliance",
        [
            Migration(1, QueueStore.schema), Migration(2, KeyValueStore.schema(settingTable)),
            Migration(3, QueueStore.mediaSchema),
        ])
    /// Version 0.1 had a file of its own for the appliance.
    static let predecessor = Predecessor(
        "appliance.db", module: schema, number: 2,
        tables: [
            .init("queue_entry"), .init("queue_order"), .init("queue_shuffled_order"), .init("queue_state"),
            .init("queue_position"), .init("configuration", as: settingTable),
        ])

    public let path: String
    /// The storage thread. The player uses it too: its tables are in the same file.
    public let storage: StorageThread
    /// The stored queue.
    let contents: QueueStore.Contents
    /// The settings of clients.
    let settings: [SettingName: String]
    /// The settings of the last good start; nil when none are stored.
    public let lastGood: Configuration?
    /// Problems that the user should know about.
    let problems: [DaemonProblem]
    /// Whether any stored data was lost.
    let isDamaged: Bool

    /// Opens the folder, or creates it. A damaged state is recovered as far as it can be read. A state that cannot be
    /// written is read, and then held only in memory.
    /// - Parameter servers: the tables of servers in the state.
    public init(_ path: String, servers: [SchemaModule] = []) throws(Problem) {
        let storage: StorageThread
        do throws(StorageThread.Refusal) {
            storage = try StorageThread(
                "\(path)/\(Player.databaseName)",
                modules: Player.schemas + servers + [
                    Self.schema, DatabaseCacheIndex.schema, Offlining.schema, PlayRows.schema, LastGoodSettings.schema,
                ],
                predecessor: Self.predecessor)
        } catch {
            switch error {
            case .held(let process): throw .heldByAnother(folder: path, process: process)
            case .newerSchema(let error): throw .newerVersion(error)
            case .system(let error): throw .system(error)
            }
        }
        var losses = storage.findings.map { $0.description }
        var contents = QueueStore.Contents.empty
        var settings: [SettingName: String] = [:]
        var lastGood: Configuration?
        do throws(DatabaseError) {
            contents =
                try storage.read { (database) throws(DatabaseError) in try QueueStore(database).contents() } ?? contents
            settings =
                try storage.read { (database) throws(DatabaseError) in try Self.settings(in: database) } ?? settings
            lastGood =
                try storage.read { (database) throws(DatabaseError) in try LastGoodSettings.read(database) } ?? nil
        } catch {
            losses.append("the queue and the settings cannot be read: \(error)")
        }
        if let loss = contents.loss {
            Log.warning("\(path): \(loss)")
            losses.append(loss)
        }
        var problems: [DaemonProblem] = []
        if let problem = storage.problem {
            problems.append(DaemonProblem(subject: DaemonProblem.storage, message: Self.inMemory(problem)))
        }
        isDamaged = !losses.isEmpty
        if !losses.isEmpty {
            problems.append(DaemonProblem(subject: DaemonProblem.damage, message: losses.joined(separator: " ")))
        }
        self.path = path
        self.storage = storage
        self.contents = contents
        self.settings = settings
        self.lastGood = lastGood
        self.problems = problems
    }

    private static func inMemory(_ problem: DatabaseError) -> String {
        "the state is kept in memory and is lost with the next start: \(problem)"
    }

    /// Returns the configuration in force when `file` is that of the configuration file: the values of clients override
    /// it.
    public func inForce(_ file: Configuration) -> Configuration { file.overruled(by: settings) }

    /// Returns the values of clients. If data was lost, the maximum that is stored with the volume replaces the
    /// setting. So the music never becomes louder than it could be before.
    func clientValues(above file: Configuration, engine: PlaybackEngineConfig) -> [SettingName: String] {
        var values = settings
        let stored = engine.maximumVolume
        if isDamaged, stored.percent < 100, !file.overruled(by: values).isSet(.maximumVolume) {
            values[.maximumVolume] = "\(stored.percent) %"
        }
        return values
    }

    private static func settings(in database: Database) throws(DatabaseError) -> [SettingName: String] {
        let store = KeyValueStore(database, table: settingTable)
        var settings: [SettingName: String] = [:]
        for name in SettingName.allCases { settings[name] = try store.text(name.path) }
        return settings
    }
}
