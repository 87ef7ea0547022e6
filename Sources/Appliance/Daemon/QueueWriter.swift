import Database
import Platform
import Queue

/// Passes changes of the queue, the position and the settings of clients to the storage thread. One write runs at a
/// time; changes meanwhile go into the next one. A write for which a client waits runs at once. Other writes obey the
/// write budget.
///
/// Thread: the thread of `loop`.
// @unchecked: everything belongs to `loop`'s thread. The work that runs on the storage thread has a copy of its batch.
final class QueueWriter: @unchecked Sendable {
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

    /// The changes that no write has taken.
    private struct Changes {
        /// The queue that was last passed to the storage thread; nil when everything has to be written.
        var handed: Handed?
        var position: (seconds: Double, entry: EntryID)?
        var settings: [SettingName: String?] = [:]
        private var lastNumber = 0

        /// Returns all changes, with the queue if it differs from the one that was passed last.
        mutating func take(_ present: (queue: PlayQueue, isPlaying: Bool)) -> Batch {
            lastNumber += 1
            var batch = Batch(number: lastNumber, position: position, settings: settings)
            let now = Handed(present.queue, isPlaying: present.isPlaying)
            if now != handed { batch.queue = (present.queue, present.isPlaying) }
            (handed, position, settings) = (now, nil, [:])
            return batch
        }

        /// Puts back a batch that was not written. Later changes override it.
        mutating func putBack(_ batch: Batch) {
            handed = nil
            position = position ?? batch.position
            for (name, text) in batch.settings where settings.index(forKey: name) == nil {
                settings.updateValue(text, forKey: name)
            }
        }
    }

    /// The delay after a failed write until the next attempt, if no change causes an earlier one.
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
    private var changes = Changes()
    private var writer: CoalescingWriter
    private let waiting = WaitingCallers()
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
        // If the state could not be opened, everything is written as soon as possible.
        writer = CoalescingWriter(hasFailed: storage.problem != nil)
        written = WrittenQueue(writer.hasFailed ? QueueImage() : image)
        if writer.hasFailed {
            retryLater()
        } else {
            let (queue, isPlaying) = queue()
            if image.isOf(queue, isPlaying: isPlaying) { changes.handed = Handed(queue, isPlaying: isPlaying) }
        }
        storage.observe { [self] finding in
            // A database that was recovered, or began empty, gets the whole queue again.
            written.forget()
            loop.post { self.found(late: finding) }
        }
    }

    /// Writes the queue and whether it should play, if they have changed.
    func keepQueue() { writeIfIdle() }

    /// Writes the position up to which the entry was heard.
    func keep(position seconds: Double, of entry: EntryID) {
        changes.position = (seconds, entry)
        writeIfIdle()
    }

    /// - Parameter text: nil removes the value.
    func keep(_ setting: SettingName, _ text: String?) {
        changes.settings.updateValue(text, forKey: setting)
        writeIfIdle()
    }

    /// Calls `action` once all earlier changes are on the medium, or could not be written. A client waits for it, so
    /// the write budget does not apply.
    func afterWriting(_ action: @escaping () -> Void) {
        waiting.add(action)
        if writer.isWriting { storage.hurry() }
        writeIfIdle()
    }

    /// Passes on the remaining changes, and ends the use of the storage. No other call may follow.
    func shutDown() {
        loop.assertOnLoop()
        if writer.isClosed { return }
        if let retry { loop.cancel(retry) }
        retry = nil
        // Posts the write after the running one, if there is one. Its result is not awaited.
        let batch = changes.take(queue())
        if !batch.isEmpty {
            storage.write(answerOn: nil) { [written] (database) throws(DatabaseError) in
                try batch.write(to: database, written)
            } answer: { error in
                if let error { Log.error("the queue could not be saved: \(error)") }
            }
        }
        storage.observe { [written] _ in written.forget() }
        storage.leave()
        writer.close()
        found = { _ in }
        queue = { (PlayQueue(), false) }
        report = { _ in }
    }

    // MARK: Writing

    private func writeIfIdle() {
        loop.assertOnLoop()
        if writer.isClosed { return waiting.endAll() }
        guard writer.change() else { return }
        let batch = changes.take(queue())
        writer.take()
        waiting.begin()
        guard !batch.isEmpty else {
            writer.skip()
            return waiting.end()
        }
        let canWait = waiting.isEmpty && batch.settings.isEmpty
        storage.write(urgency: canWait ? .canWait : .now, answerOn: nil) { [written] (database) throws(DatabaseError) in
            try batch.write(to: database, written)
        } answer: { [self] error in
            written.ended(batch.number, error)
            loop.post { self.wrote(batch, error) }
        }
    }

    private func wrote(_ batch: Batch, _ error: DatabaseError?) {
        if writer.isClosed { return }
        if writer.end(succeeded: error == nil) { report(error) }
        if error != nil {
            changes.putBack(batch)
            retryLater()
        }
        waiting.end()
        // After a failure the next attempt follows with the next change, or after `retryInterval`.
        if error == nil || waiting.hasNext { writeIfIdle() }
    }

    private func found(late finding: StateFinding) {
        if writer.isClosed { return }
        changes.handed = nil
        found(finding)
        writeIfIdle()
    }

    private func retryLater() {
        guard retry == nil else { return }
        retry = loop.schedule(after: Self.retryInterval) { [self] in
            retry = nil
            writeIfIdle()
        }
    }
}
