import Database

/// What the database holds of the queue, for finding the rows that a change is about. With 100,000 entries that takes
/// milliseconds, so the storage thread does it, on a copy of the queue that shares its memory.
///
/// Thread: the storage thread's. `@unchecked Sendable` is safe for that reason: the loop only hands it on.
final class WrittenQueue: @unchecked Sendable {
    private var image: QueueImage
    /// What a write has changed whose transaction has not ended yet.
    private var pending: (number: Int, image: QueueImage)?

    init(_ image: QueueImage) { self.image = image }

    /// Writes what differs. It may be called again for the same write, when the transaction was rolled back because of
    /// another's work.
    /// - Parameter number: of the write; a later one has a greater number.
    func write(
        _ queue: PlayQueue, isPlaying: Bool, in number: Int, to store: QueueStore
    ) throws(DatabaseError) {
        // An earlier write of the same transaction, if there is one, is what this one continues.
        var image = pending.map { $0.number < number ? $0.image : self.image } ?? self.image
        if let change = image.change(to: queue, isPlaying: isPlaying) { try store.writeRows(change) }
        pending = (number, image)
    }

    /// The database may have other rows than were written: the next write replaces all of them.
    func forget() {
        image = QueueImage()
        pending = nil
    }

    /// The transaction of the write has ended.
    func ended(_ number: Int, _ error: DatabaseError?) {
        if error != nil {
            forget()
        } else if let written = pending, written.number == number {
            image = written.image
            pending = nil
        }
    }
}
