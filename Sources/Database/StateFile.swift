import CLinux
import Platform

/// The file of the state with the folder's lock. It is open; while it cannot be used, opening is retried.
///
/// Thread: one at a time: first the opening thread, then the storage thread.
final class StateFile {
    let path: String
    private let opening: StateDatabase
    private let isShared: Bool
    private var folderLock: LockFile?
    private var database: Database?
    /// The readable data, while the file cannot be used.
    private var snapshot: Database?
    private var isUnread = false
    /// Whether a write has met damage that the next opening may not find, because it may be in an index.
    private var isSuspect = false

    private let findings: StateFindings
    /// Why the file cannot be used; nil when it can.
    private(set) var problem: DatabaseError?

    init(
        _ path: String, _ opening: StateDatabase, _ findings: StateFindings, isShared: Bool
    ) throws(StorageThread.Refusal) {
        self.path = path
        self.opening = opening
        self.findings = findings
        self.isShared = isShared
        do throws(LockFile.Refusal) {
            try lockFolder()
        } catch {
            // A folder that cannot be written has no lock file; the state is in memory then.
            if case .held(let process) = error, !isShared { throw .held(process: process) }
        }
        do throws(DatabaseError) { try open() } catch {
            if case .newerSchema = error.kind { throw .newerSchema(error) }
            problem = error
            Log.error("the state is kept in memory: \(error)")
            // This holds even if no file is seen: its medium may be mounted later, or its folder may become readable.
            isUnread = !readSnapshot()
        }
    }

    /// The database for reads.
    var readable: Database? { database ?? snapshot }

    /// Notes that a read at the start has failed. The file is put aside before the first write.
    func leaveUnread() {
        database = nil
        snapshot = nil
        isUnread = true
    }

    private func lockFolder() throws(LockFile.Refusal) {
        guard folderLock == nil else { return }
        let folder = Folder.containing(path)
        do throws(SystemError) { try Folder.create(folder, mode: 0o700) } catch { throw .system(error) }
        folderLock = try LockFile("\(folder)/lock")
    }

    private func open(knownDamage: String? = nil) throws(DatabaseError) {
        if folderLock == nil, isShared {
            // Another process uses the folder, and has checked the file.
            let database = try Database(path: path)
            try database.migrate(opening.modules)
            self.database = database
            return
        }
        let opened = try opening.open(path, knownDamage: knownDamage)
        for finding in opened.findings { findings.add(finding) }
        database = opened.database
    }

    // MARK: Indexes

    /// Returns the tables of the file; none while it cannot be used.
    func tables() throws(DatabaseError) -> [String] { try database?.tables() ?? [] }

    /// Compares a table with its indexes. A damaged index is rebuilt. If that does not help, the file is recovered as
    /// for any other damage.
    /// - Parameter isWanted: returns whether other work waits.
    /// - Returns: whether damage was found and repaired.
    /// - Throws: `.interrupted` when other work waits.
    func repairIndexes(of table: String, unless isWanted: @escaping () -> Bool) throws(DatabaseError) -> Bool {
        guard let database else { return false }
        var damage: String
        do throws(DatabaseError) {
            guard let found = try database.indexDamage(of: table, unless: isWanted) else { return false }
            damage = found
            try database.reindex(table)
            if let rest = try database.indexDamage(of: table, unless: { false }) {
                damage = rest
            } else {
                Log.warning("\(path): an index of \(table) was damaged (\(found)) and was made anew")
                return true
            }
        } catch {
            guard error.isDamage || error.kind == .constraint else { throw error }
            damage = error.message
        }
        // The connection is closed first: the file is replaced.
        self.database = nil
        try recover(damage)
        return true
    }

    private func recover(_ damage: String) throws(DatabaseError) {
        do throws(DatabaseError) { try open(knownDamage: damage) } catch {
            // The next write opens the file, and checks the indexes again.
            isSuspect = true
            _ = readSnapshot()
            throw error
        }
    }

    // MARK: Reading without write access

    /// Opens a copy in a temporary folder, to read from a medium that is read-only or full. So the queue, the volume
    /// and the offline copies can be used.
    /// - Returns: false when no part can be read.
    private func readSnapshot() -> Bool {
        guard FileKind(at: path) == .file else { return false }
        for folder in Self.temporaryFolders {
            let name = "\(folder)/tonearm-state-\(hexadecimal(SystemRandomSource().bytes(8)))"
            do throws(SystemError) { try Folder.create(name, mode: 0o700) } catch { continue }
            defer { Self.remove(name) }
            do throws(DatabaseError) {
                try copy(to: name)
                let opened = try opening.open("\(name)/\(DatabaseFiles(path).name)")
                // Damage is found again when the file itself can be written.
                for finding in opened.findings { findings.add(finding.ofCopy(of: Folder.containing(path))) }
                // The files can be removed: the connection keeps them open.
                snapshot = opened.database
                return true
            } catch {
                Log.warning("\(path) cannot be read by way of \(name): \(error)")
            }
        }
        return false
    }

    private func copy(to folder: String) throws(DatabaseError) {
        do throws(SystemError) {
            var names = [DatabaseFiles(path).name]
            if let predecessor = opening.predecessor { names.append(predecessor.name) }
            for name in names {
                try DatabaseFiles("\(Folder.containing(path))/\(name)").copy(to: "\(folder)/\(name)")
            }
        } catch {
            throw DatabaseError(error, path: path)
        }
    }

    private static var temporaryFolders: [String] {
        var folders: [String] = []
        for name in ["RUNTIME_DIRECTORY", "SQLITE_TMPDIR", "TMPDIR"] {
            if let value = getenv(name) { folders.append(String(cString: value)) }
        }
        return folders + ["/dev/shm", "/tmp"]
    }

    private static func remove(_ folder: String) {
        do throws(SystemError) {
            for entry in try Folder.entries(of: folder) { try Folder.removeFile("\(folder)/\(entry.name)") }
            rmdir(folder)
        } catch {
            Log.warning("\(folder) cannot be removed: \(error)")
        }
    }

    // MARK: Writing

    /// Runs `work` in a transaction.
    /// - Returns: the error when no change is on the medium; nil when all changes are.
    func write(_ work: (Database) throws(DatabaseError) -> Void) -> DatabaseError? {
        do throws(DatabaseError) {
            let database = try usable()
            try database.transaction { () throws(DatabaseError) in try work(database) }
            // Reserved only now, so that a start does not wait for it. If that fails, each commit makes the log longer.
            try? database.reserveLog()
            return nil
        } catch {
            // After damage, or when the medium was removed, the connection has to be reopened.
            if error.needsReopening, database != nil {
                database = nil
                if error.kind == .corrupt { isSuspect = true }
                // The medium may have become read-only: its data can still be read.
                if error.kind != .corrupt { _ = readSnapshot() }
            }
            return error
        }
    }

    private func usable() throws(DatabaseError) -> Database {
        if let database { return database }
        do throws(LockFile.Refusal) { try lockFolder() } catch {
            switch error {
            case .held:
                if !isShared {
                    throw DatabaseError(kind: .busy, message: "another process uses the folder", path: path)
                }
            case .system(let error): throw DatabaseError(error, path: path)
            }
        }
        // Without the lock, another process has the file and has read it.
        if isUnread, folderLock != nil { try putUnreadAside() }
        try open()
        snapshot = nil
        problem = nil
        isUnread = false
        if isSuspect {
            isSuspect = false
            for table in try tables() { _ = try repairIndexes(of: table, unless: { false }) }
        }
        guard let database else { throw DatabaseError(kind: .notAccessible, message: "not open", path: path) }
        return database
    }

    /// Puts a file aside that was never read, so that the state in memory does not overwrite it.
    private func putUnreadAside() throws(DatabaseError) {
        do throws(SystemError) {
            let files = DatabaseFiles(path)
            if files.exist {
                findings.add(StateFinding(kind: .foundLate, path: path, aside: try files.putAside("unread")))
            }
            isUnread = false
        } catch {
            throw DatabaseError(error, path: path)
        }
    }

    /// Moves all pages into the one file and closes it.
    func close() {
        guard let database else { return }
        do throws(DatabaseError) { try database.checkpoint() } catch {
            // The log stays next to the file and is complete: no data is lost.
            if error.kind != .busy { Log.warning("the log stays beside the database: \(error)") }
        }
        self.database = nil
        folderLock = nil
    }
}

extension DatabaseError {
    fileprivate var needsReopening: Bool {
        switch kind {
        case .corrupt, .notAccessible, .inputOutput: true
        default: false
        }
    }
}
