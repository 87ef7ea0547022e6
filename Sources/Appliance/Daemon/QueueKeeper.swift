import Database
import Platform
import Queue

/// Passes changes of the queue, the position and the settings of clients to the storage thread. One write runs at a
/// time; changes meanwhile go into the next one. A write that a client waits for runs at once, the others within the
/// write budget.
///
/// Thread: the thread of `loop`.
// @unchecked: everything belongs to `loop`'s thread. The work that runs on the storage thread has a copy of its batch.
final class QueueKeeper: @unchecked Sendable {
    /// The content of one write: it is on the medium completely, or not at all.
    private struct Batch: Sendable {
        /// The number of the batch, in their order.
        var number = 0
        var queue: (contents: PlayQueue, isPlaying: Bool)?
        var position: (seconds: Double, entry: EntryID)?
        var settings: [SettingName: String?] = [:]

        var isEmpty: Bool { queue == nil && position == nil && settings.isEmpty }

        func write(to database: Database, _ written: WrittenQueue) throws(DatabaseError) {
            let store = QueueStore(database)
            if let queue { try written.write(queue.contents, isPlaying: queue.isPlaying, in: number, to: store) }
            if let position { try store.write(position: position.seconds, of: position.entry) }
            let rows = KeyValueStore(database, table: ApplianceState.settingTable)
            for (name, text) in settings { try rows.set(text.map { .text($0) }, for: name.path) }
        }
    }

    /// The values that distinguish one queue from another. Entries are compared by id: an entry never changes.
    private struct Handed: Equatable {
        var state: QueueChange.State
        var originalOrder: [EntryID]
        var shuffledOrder: [EntryID]
        var media: MusicMedia

        init(_ queue: PlayQueue, isPlaying: Bool) {
            state = QueueChange.State(queue, isPlaying: isPlaying)
            originalOrder = queue.originalOrder
            shuffledOrder = queue.shuffledOrder
            media = queue.media
        }
    }

    /// The delay after a failed write until the next attempt, if no change causes one before.
    private static let retryInterval: Int64 = 30_000_000_000

    private let loop: EventLoop
    /// Returns the queue for a write. Holding a copy would make every change of the queue copy it.
    private var queue: () -> (queue: PlayQueue, isPlaying: Bool)
    private var report: (DatabaseError?) -> Void
    private let storage: StorageThread
    /// Called on `loop`'s thread with findings about the state after the start.
    var found: (StateFinding) -> Void = { _ in }

    /// The rows in the database. Thread: storage.
    private let written: WrittenQueue
    /// The queue that was last passed to the storage thread; nil when everything has to be written.
    private var handed: Handed?
    private var lastNumber = 0
    private var position: (seconds: Double, entry: EntryID)?
    private var settings: [SettingName: String?] = [:]
    private var isWriting = false
    private var isOver = false
    private var hasFailed: Bool
    /// Callers that wait for the running write, and for the next one.
    private var waitingForThis: [() -> Void] = []
    private var waitingForNext: [() -> Void] = []
    private var retry: TimerToken?

    /// - Parameters:
    ///   - image: the queue's rows in the database.
    ///   - queue: the current queue, and whether it should play.
    ///   - report: called on `loop`'s thread with the error when writing begins to fail, and with nil when it works
    ///     again.
    init(
        _ storage: StorageThread, _ image: QueueImage, loop: EventLoop,
        queue: @escaping () -> (queue: PlayQueue, isPlaying: Bool), report: @escaping (DatabaseError?) -> Void
    ) {
        self.loop = loop
        self.report = report
        self.storage = storage
        self.queue = queue
        storage.join()
        // If the state could not be opened, everything is written as soon as that is possible.
        hasFailed = storage.problem != nil
        written = WrittenQueue(hasFailed ? QueueImage() : image)
        if hasFailed {
            retryLater()
        } else {
            let (queue, isPlaying) = queue()
            if image.isOf(queue, isPlaying: isPlaying) { handed = Handed(queue, isPlaying: isPlaying) }
        }
        storage.observe { [self] finding in
            // A database that was recovered, or began empty, gets the whole queue again.
            written.forget()
            loop.post { self.found(late: finding) }
        }
    }

    /// Writes the queue, which may have changed, and whether it should play.
    func keepQueue() { writeIfIdle() }

    /// Writes the position up to which the entry was heard.
    func keep(position seconds: Double, of entry: EntryID) {
        position = (seconds, entry)
        writeIfIdle()
    }

    /// - Parameter text: nil removes the value.
    func keep(_ setting: SettingName, _ text: String?) {
        settings.updateValue(text, forKey: setting)
        writeIfIdle()
    }

    /// Calls `action` once all earlier changes are on the medium, or could not be written. A client waits for it, so
    /// the write budget does not apply.
    func afterWriting(_ action: @escaping () -> Void) {
        waitingForNext.append(action)
        if isWriting { storage.hurry() }
        writeIfIdle()
    }

    /// Passes on the remaining changes, and ends the use of the storage. The last call.
    func shutDown() {
        loop.assertOnLoop()
        if isOver { return }
        if let retry { loop.cancel(retry) }
        retry = nil
        // After the running write, if there is one. Its result is not awaited.
        let batch = nextBatch()
        if !batch.isEmpty {
            storage.write(answerOn: nil) { [written] (database) throws(DatabaseError) in
                try batch.write(to: database, written)
            } answer: { error in
                if let error { Log.error("the queue could not be saved: \(error)") }
            }
        }
        storage.observe { [written] _ in written.forget() }
        storage.leave()
        isOver = true
        found = { _ in }
        queue = { (PlayQueue(), false) }
        report = { _ in }
    }

    // MARK: Writing

    private func writeIfIdle() {
        loop.assertOnLoop()
        if isOver { return answerTheRest() }
        guard !isWriting else { return }
        let batch = nextBatch()
        waitingForThis = waitingForNext
        waitingForNext = []
        guard !batch.isEmpty else { return endWaiting() }
        isWriting = true
        let canWait = waitingForThis.isEmpty && batch.settings.isEmpty
        storage.write(urgency: canWait ? .canWait : .now, answerOn: nil) { [written] (database) throws(DatabaseError) in
            try batch.write(to: database, written)
        } answer: { [self] error in
            written.ended(batch.number, error)
            loop.post { self.wrote(batch, error) }
        }
    }

    private func nextBatch() -> Batch {
        defer {
            position = nil
            settings = [:]
        }
        lastNumber += 1
        var batch = Batch(number: lastNumber, position: position, settings: settings)
        let (queue, isPlaying) = queue()
        let now = Handed(queue, isPlaying: isPlaying)
        if now != handed { batch.queue = (queue, isPlaying) }
        handed = now
        return batch
    }

    private func wrote(_ batch: Batch, _ error: DatabaseError?) {
        if isOver { return }
        isWriting = false
        if let error { failed(batch, error) } else if hasFailed { succeeded() }
        endWaiting()
        // After a failure the next attempt follows with the next change, or after `retryInterval`.
        if error == nil || !waitingForNext.isEmpty { writeIfIdle() }
    }

    /// Answers all callers after the end, when nothing is written any more.
    private func answerTheRest() {
        waitingForThis += waitingForNext
        waitingForNext = []
        endWaiting()
    }

    private func endWaiting() {
        let actions = waitingForThis
        waitingForThis = []
        for action in actions { action() }
    }

    private func found(late finding: StateFinding) {
        if isOver { return }
        handed = nil
        found(finding)
        writeIfIdle()
    }

    private func succeeded() {
        hasFailed = false
        report(nil)
    }

    /// Handles a batch of which nothing was written. Everything is retried with the next change, or after
    /// `retryInterval`.
    private func failed(_ batch: Batch, _ error: DatabaseError) {
        handed = nil
        position = position ?? batch.position
        for (name, text) in batch.settings where settings.index(forKey: name) == nil {
            settings.updateValue(text, forKey: name)
        }
        if !hasFailed { report(error) }
        hasFailed = true
        retryLater()
    }

    private func retryLater() {
        guard retry == nil else { return }
        retry = loop.schedule(after: Self.retryInterval) { [self] in
            retry = nil
            writeIfIdle()
        }
    }
}
