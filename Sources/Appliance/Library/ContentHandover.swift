import Database
import Library
import Platform

/// Hands the changes of contents of the index over to the counts and favourites in the state. The index stores a change
/// until the state has it, so that a power cut loses none. Handing a change over twice is harmless.
///
/// Thread: the library's; `@unchecked Sendable` is safe because `lock` guards what the storage thread sets.
final class ContentHandover: @unchecked Sendable {
    private let storage: StorageThread
    private let favourites: FavouriteSet
    /// The number of the last change that was sent.
    private var sent: Int64 = 0
    private let lock = Lock()
    /// The number up to which the state has all changes.
    private var stored: Int64 = 0
    /// Whether a write has failed: later writes then do not prove that the state has the earlier changes.
    private var hasFailed = false

    init(_ storage: StorageThread, _ favourites: FavouriteSet) {
        self.storage = storage
        self.favourites = favourites
    }

    /// Sends the new changes. Call it after transactions of the index.
    func run(_ index: MusicIndex) {
        do throws(DatabaseError) {
            let stored: Int64 = lock.withLock { self.stored }
            let (changes, last) = try index.contentChanges(after: sent)
            if changes.isEmpty {
                if stored > 0 { try index.forgetContentChanges(upTo: stored) }
                lock.withLock { if self.stored == stored { self.stored = 0 } }
                return
            }
            sent = last
            favourites.move(changes)
            storage.write(urgency: .canWait, answerOn: nil) { (database) throws(DatabaseError) in
                try PlayRows(database).move(changes)
            } answer: { [self] error in
                // Moves them also in memory, where the favourites may have been loaded meanwhile.
                favourites.move(changes)
                lock.withLock {
                    if error != nil { hasFailed = true }
                    if !hasFailed { self.stored = last }
                }
            }
        } catch {
            Log.warning("the play counts of changed files cannot follow them yet: \(error.description)")
        }
    }
}
