import Database

/// The queue's rows in the database, to find the rows that a change affects. This takes milliseconds with 100,000
/// entries. So the storage thread does it, on a copy that shares the queue's memory.
///
/// Thread: storage. `@unchecked Sendable` is safe because the loop only passes it on.
package final class WrittenQueue: @unchecked Sendable {
    private var image: QueueImage
    /// The rows of a write whose transaction has not ended yet.
    private var pending: (number: Int, image: QueueImage)?

    package init(_ image: QueueImage) { self.image = image }

    /// Writes the differences. It may be called again for the same write, if the transaction was rolled back because of
    /// other work.
    /// - Parameter number: the number of the write; a later write has a greater number.
    package func write(
        _ queue: PlayQueue, isPlaying: Bool, in number: Int, to store: QueueStore
    ) throws(DatabaseError) {
        // Continue from an earlier write of the same transaction, if there is one.
        var image = pending.map { $0.number < number ? $0.image : self.image } ?? self.image
        if let change = image.change(to: queue, isPlaying: isPlaying) { try store.writeRows(change) }
        pending = (number, image)
    }

    /// Makes the next write replace all rows, because the database may not have the rows that were written.
    package func forget() {
        image = QueueImage()
        pending = nil
    }

    /// Handles the end of the write's transaction.
    package func ended(_ number: Int, _ error: DatabaseError?) {
        if error != nil {
            forget()
        } else if let written = pending, written.number == number {
            image = written.image
            pending = nil
        }
    }
}
