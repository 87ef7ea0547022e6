import Database
import Platform

/// Writes the queue, the position and what clients have set, on a thread of its own: a write waits for the medium, and
/// the daemon must not. One write is under way at a time; what changes meanwhile goes into the next one.
///
/// Thread: that of `loop`, but for the writing itself.
final class QueueKeeper: @unchecked Sendable {
    /// Everything of one write: it is on the medium whole, or not at all.
    private struct Batch {
        var change: QueueChange?
        var position: (seconds: Double, entry: EntryID)?
        var settings: [SettingName: String?] = [:]

        var isEmpty: Bool { change == nil && position == nil && settings.isEmpty }
    }

    /// How long after a failed write the next one is tried when nothing else asks for one.
    private static let retryInterval: Int64 = 30_000_000_000

    private let loop: EventLoop
    /// Asked for when it is written: a copy that is held would make every change of the queue copy it.
    private var queue: () -> (queue: PlayQueue, isPlaying: Bool)
    private var report: (DatabaseError?) -> Void
    private let storageLoop: EventLoop
    private let storageThread: NamedThread
    // Of the storage thread.
    private let database: Database
    private let store: QueueStore

    private var image: QueueImage
    private var position: (seconds: Double, entry: EntryID)?
    private var settings: [SettingName: String?] = [:]
    private var isWriting = false
    private var isOver = false
    private var hasFailed = false
    /// What waits for the write that is under way, and for the one after it.
    private var waitingForThis: [() -> Void] = []
    private var waitingForNext: [() -> Void] = []
    private var retry: TimerToken?

    /// - Parameters:
    ///   - image: what the database holds.
    ///   - queue: the queue as it is now, and whether it is meant to play.
    ///   - report: called on `loop`'s thread when writing begins to fail, and with nil when it works again.
    init(
        _ database: Database, _ image: QueueImage, loop: EventLoop,
        queue: @escaping () -> (queue: PlayQueue, isPlaying: Bool), report: @escaping (DatabaseError?) -> Void
    ) throws(SystemError) {
        self.loop = loop
        self.report = report
        self.database = database
        store = QueueStore(database)
        self.image = image
        self.queue = queue
        let storageLoop = try EventLoop()
        self.storageLoop = storageLoop
        storageThread = try NamedThread.start(name: "queue", stackSize: 256 * 1024) { storageLoop.run() }
    }

    /// The queue, or whether it is meant to play, may have changed.
    func keepQueue() { writeIfIdle() }

    /// The entry was heard up to there.
    func keep(position seconds: Double, of entry: EntryID) {
        position = (seconds, entry)
        writeIfIdle()
    }

    /// - Parameter text: nil forgets it.
    func keep(_ setting: SettingName, _ text: String?) {
        settings.updateValue(text, forKey: setting)
        writeIfIdle()
    }

    /// Calls `action` once everything up to now is on the medium, or could not be brought there.
    func afterWriting(_ action: @escaping () -> Void) {
        waitingForNext.append(action)
        writeIfIdle()
    }

    /// Writes what is still to be written, and ends the thread. The last use.
    func shutDown() {
        if let retry { loop.cancel(retry) }
        retry = nil
        // After the write that may be under way, whose outcome this does not wait for.
        let batch = nextBatch()
        storageLoop.post { [self] in
            if let error = write(batch) { Log.error("the queue could not be saved: \(error)") }
        }
        storageLoop.stop()
        storageThread.join()
        isOver = true
        queue = { (PlayQueue(), false) }
        report = { _ in }
    }

    // MARK: Writing

    private func writeIfIdle() {
        guard !isWriting else { return }
        let batch = nextBatch()
        waitingForThis = waitingForNext
        waitingForNext = []
        guard !batch.isEmpty else { return endWaiting() }
        isWriting = true
        storageLoop.post { [self] in
            let error = write(batch)
            loop.post { self.wrote(batch, error) }
        }
    }

    private func nextBatch() -> Batch {
        defer {
            position = nil
            settings = [:]
        }
        let (queue, isPlaying) = queue()
        return Batch(change: image.change(to: queue, isPlaying: isPlaying), position: position, settings: settings)
    }

    private func write(_ batch: Batch) -> DatabaseError? {
        do throws(DatabaseError) {
            try database.transaction { () throws(DatabaseError) in
                if let change = batch.change { try store.writeRows(change) }
                if let position = batch.position { try store.write(position: position.seconds, of: position.entry) }
                let settings = KeyValueStore(database)
                for (name, text) in batch.settings { try settings.set(text.map { .text($0) }, for: name.path) }
            }
            return nil
        } catch {
            return error
        }
    }

    private func wrote(_ batch: Batch, _ error: DatabaseError?) {
        if isOver { return }
        isWriting = false
        if let error { failed(batch, error) } else if hasFailed { succeeded() }
        endWaiting()
        // After a failure the medium is left in peace until something changes.
        if error == nil || !waitingForNext.isEmpty { writeIfIdle() }
    }

    private func endWaiting() {
        let actions = waitingForThis
        waitingForThis = []
        for action in actions { action() }
    }

    private func succeeded() {
        hasFailed = false
        report(nil)
    }

    /// Nothing of it was written, and everything is tried again: with the next change, or after a while.
    private func failed(_ batch: Batch, _ error: DatabaseError) {
        image = QueueImage()
        position = position ?? batch.position
        for (name, text) in batch.settings where settings.index(forKey: name) == nil {
            settings.updateValue(text, forKey: name)
        }
        if !hasFailed { report(error) }
        hasFailed = true
        guard retry == nil else { return }
        retry = loop.schedule(after: Self.retryInterval) { [self] in
            retry = nil
            writeIfIdle()
        }
    }
}
