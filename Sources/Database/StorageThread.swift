import CLinux
import Platform

/// The storage thread: owns the one database of the state, runs posted work in batches of one transaction each, and
/// answers on the caller's loop. Modules have their own tables in the same file.
///
///     let storage = try StorageThread("/var/lib/player/state.db", modules: modules)
///     storage.join()
///     storage.write(answerOn: loop) { (database) throws(DatabaseError) in
///         try KeyValueStore(database, table: "setting").set(.text("60 %"), for: "maximum")
///     } answer: { error in
///         print(error?.description ?? "on the medium")
///     }
///     storage.leave()
///
/// It also starts when the file cannot be used. Then the state is read from a copy, or is empty. Each write fails with
/// the reason, and each later write tries to open the file again.
///
/// Thread: `read` only on the opening thread, before the first `write`. Everything else: any thread.
// @unchecked: `lock` guards the shared state; the rest belongs to `loop`'s thread once it runs.
public final class StorageThread: @unchecked Sendable {
    /// Why there is no storage.
    public enum Refusal: Error, Equatable, Sendable {
        /// Another process uses the folder; its number, if known.
        case held(process: Int?)
        /// A newer version of the program wrote the file.
        case newerSchema(DatabaseError)
        case system(SystemError)
    }

    /// Work that runs inside a transaction, on the storage thread. It runs again when the transaction fails because of
    /// other work in it, or of damage.
    public typealias Work = @Sendable (Database) throws(DatabaseError) -> Void
    public typealias Answer = @Sendable (DatabaseError?) -> Void

    /// How soon a write has to run.
    public enum Urgency: Sendable {
        /// At once: a caller waits for it.
        case now
        /// When the write budget allows it.
        case canWait
        /// With the next other write, so that the processor and the medium do not wake up for it. The second of these
        /// writes makes both `canWait`.
        case withNext
    }

    private let loop: StorageLoop
    private let lock = Lock()
    // Guarded by `lock`.
    private var waiting = WaitingJobs()
    private var users = StorageUsers()
    // Belongs to the storage thread once it runs, before that to the opening thread.
    private var file: StateFile?
    private var budget: WriteBudget
    private var timer: TimerToken?
    private var indexCheck: IndexCheck?

    private let opening: StorageOpening
    private let laterFindings = StateFindings()

    /// The database file; nil stores nothing.
    public var path: String? { opening.path }
    /// The damage that was found at the start.
    public var findings: [StateFinding] { opening.findings }
    /// Why the file could not be used at the start; nil when it could.
    public var problem: DatabaseError? { opening.problem }

    /// Opens the state.
    /// - Parameters:
    ///   - path: the path of the database file; nil stores nothing.
    ///   - modules: all modules with tables in it.
    ///   - predecessor: a file of an earlier version to migrate.
    ///   - isShared: whether other processes may use the file at the same time. Only a process with the folder's lock
    ///     checks and recovers it.
    ///   - loop: a loop for tests; `clock` is its clock.
    /// - Throws: only errors that another start would find again; see `Refusal`.
    public init(
        _ path: String?, modules: [SchemaModule], predecessor: Predecessor? = nil, isShared: Bool = false,
        loop: EventLoop? = nil, clock: any MonotonicClock = SystemMonotonicClock()
    ) throws(Refusal) {
        do throws(SystemError) {
            self.loop = try StorageLoop(loop, clock: clock)
        } catch {
            throw .system(error)
        }
        budget = WriteBudget(at: clock.now())
        guard let path else {
            opening = StorageOpening(path: nil, findings: [], problem: nil)
            return
        }
        let file = try StateFile(
            path, StateDatabase(modules: modules, predecessor: predecessor), laterFindings, isShared: isShared)
        opening = StorageOpening(path: path, findings: laterFindings.take(), problem: file.problem)
        self.file = file
    }

    /// Reads at the start: from the file, or from its readable copy.
    /// - Returns: nil when there is no file, or it cannot be read.
    public func read<Result>(
        _ body: (Database) throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result? {
        precondition(!loop.isStarted, "StorageThread.read: the thread runs already")
        guard let file, let database = file.readable else { return nil }
        do throws(DatabaseError) { return try body(database) } catch {
            file.leaveUnread()
            throw error
        }
    }

    /// Calls `report` with findings after the start: damage that a write meets, or a file that appears. It runs on the
    /// storage thread, before the work of that write, and at once for earlier findings.
    public func observe(_ report: @escaping @Sendable (StateFinding) -> Void) { laterFindings.observe(report) }

    // MARK: Users

    /// Begins a use of the storage, until `leave`.
    public func join() { lock.withLock { users.count += 1 } }

    /// Ends a use. The last one writes all waiting work, moves the log into the file, and closes it: a plain copy of
    /// the file is then a backup. Blocks on the medium.
    public func leave() {
        guard lock.withLock({ users.leave() }) else { return }
        loop.end { [self] in runJobs() }
        indexCheck = nil
        file?.close()
        file = nil
    }

    // MARK: Writing

    /// Runs `work` in a transaction, as soon as `urgency` says. Other waiting work shares the transaction. A power cut
    /// leaves all changes of the work or none.
    /// - Parameters:
    ///   - answerOn: the caller's loop; nil calls `answer` on the storage thread.
    ///   - answer: called with nil once the work is on the medium, or with the error when none of it is.
    public func write(
        urgency: Urgency = .now, answerOn loop: EventLoop?, _ work: @escaping Work, answer: @escaping Answer
    ) {
        let (error, waits) = lock.withLock {
            waiting.add(StorageJob(work: work, loop: loop, answer: answer), urgency)
            return (self.loop.start(), waiting.waitsForNext)
        }
        if let error {
            Log.error("the storage thread cannot be started: \(error)")
            return fail(DatabaseError(error, path: file?.path ?? ""))
        }
        if !waits { self.loop.post { [self] in runWhenAllowed() } }
    }

    /// Makes a write that waits for the next one `canWait`.
    public func endWaitForNext() {
        if lock.withLock({ waiting.endWaitForNext() }) { loop.post { [self] in runWhenAllowed() } }
    }

    /// Runs `work` on the storage thread without a transaction, for files that belong to a module. Works also without a
    /// database.
    /// - Returns: whether it will run; false after the last `leave`, or when the system has no thread left.
    @discardableResult
    public func perform(_ work: @escaping @Sendable () -> Void) -> Bool {
        let (willRun, error) = lock.withLock { () -> (Bool, SystemError?) in
            if users.isClosed { return (false, nil) }
            let error = loop.start()
            // Under the lock, so that it runs before the end that `leave` posts.
            if error == nil { loop.post(work) }
            return (error == nil, error)
        }
        if let error { Log.error("the storage thread cannot be started: \(error)") }
        return willRun
    }

    /// Reads on the storage thread, at once and without a transaction. Work that waits for the write budget continues
    /// to wait.
    /// - Parameter body: gets nil when the file cannot be used.
    public func query(_ body: @escaping @Sendable (Database?) -> Void) {
        if !perform({ [self] in body(file?.readable) }) { body(nil) }
    }

    /// Runs the work now that waits for the write budget.
    public func hurry() {
        lock.withLock { waiting.isUrgent = true }
        loop.post { [self] in runWhenAllowed() }
    }

    /// Calls `action` on the storage thread after `nanoseconds`. Call it only on the storage thread, for example from
    /// an answer.
    public func schedule(after nanoseconds: Int64, _ action: @escaping @Sendable () -> Void) {
        loop.schedule(after: nanoseconds, action)
    }

    // MARK: Indexes

    /// Compares all tables with their indexes from now on, at most once a day, while the storage is idle. The tables
    /// must include that of `KeyValueStore`.
    /// - Parameter seconds: returns the system's time, since 1970; tests replace it.
    public func checkIndexes(seconds: @escaping @Sendable () -> Int64 = { Int64(time(nil)) }) {
        perform { [self] in
            guard indexCheck == nil else { return }
            let check = IndexCheck(self, seconds: seconds)
            indexCheck = check
            check.start()
        }
    }

    /// Calls `repaired` when damaged indexes were repaired: queries may then find more rows. Called on the storage
    /// thread, until the last `leave`.
    public func observeRepairs(_ repaired: @escaping @Sendable () -> Void) {
        lock.withLock { if !users.isClosed { users.repairObservers.append(repaired) } }
    }

    func indexesRepaired() {
        for observer in lock.withLock({ users.repairObservers }) { observer() }
    }

    /// The time since the last work ended, in nanoseconds. On the storage thread.
    var idleTime: Int64 { loop.idleTime }

    /// Whether work waits for the storage thread. Any thread.
    var hasWaitingWork: Bool { loop.hasWaitingWork }

    /// The file of the state, on the storage thread; nil without a file, and at the end.
    var stateFile: StateFile? { file }

    private func fail(_ error: DatabaseError) {
        for job in lock.withLock({ waiting.take() }) { answer(job, error) }
    }

    // MARK: On the storage thread

    private func runWhenAllowed() {
        loop.assertOnLoop()
        let (isEmpty, isUrgent) = lock.withLock { (waiting.isEmpty, waiting.isUrgent) }
        guard !isEmpty else { return }
        let delay = isUrgent ? 0 : budget.delay(at: loop.now)
        if delay == 0 { return runJobs() }
        guard timer == nil else { return }
        timer = loop.schedule(after: delay) { [self] in
            timer = nil
            runWhenAllowed()
        }
    }

    private func runJobs() {
        if let timer { loop.cancel(timer) }
        timer = nil
        let jobs = lock.withLock { waiting.take() }
        guard !jobs.isEmpty else { return }
        budget.spend(at: loop.now)
        guard let file else {
            for job in jobs { answer(job, nil) }
            return
        }
        func write() -> DatabaseError? {
            file.write { database throws(DatabaseError) in
                for job in jobs { try job.work(database) }
            }
        }
        var error = write()
        // The next opening repairs the damage if possible, so the caller need not retry.
        if error?.kind == .corrupt { error = write() }
        if let error, error.concernsOneWork, jobs.count > 1 {
            // One of the jobs caused the error, but it is not known which.
            for job in jobs { answer(job, file.write(job.work)) }
        } else {
            for job in jobs { answer(job, error) }
        }
    }

    private func answer(_ job: StorageJob, _ error: DatabaseError?) {
        guard let loop = job.loop else { return job.answer(error) }
        loop.post { job.answer(error) }
    }
}

/// The result of the opening of a state.
private struct StorageOpening {
    var path: String?
    var findings: [StateFinding]
    var problem: DatabaseError?
}

extension DatabaseError {
    /// Whether the statement is wrong, and not the file or the medium.
    fileprivate var concernsOneWork: Bool { kind == .constraint || kind == .misuse }
}
