import Database
import Library
import Platform

/// The favourites in memory, so that lists do not wait for the state.
///
/// Thread: any.
/// `@unchecked Sendable` is safe because `lock` guards the keys.
final class FavouriteSet: @unchecked Sendable {
    private let lock = Lock()
    /// As `Favourite.key`.
    private var keys: Set<Int64> = []

    func contains(_ key: Int64) -> Bool { lock.withLock { keys.contains(key) } }

    func set(_ key: Int64, _ isFavourite: Bool) {
        lock.withLock {
            if isFavourite { keys.insert(key) } else { keys.remove(key) }
        }
    }

    /// Hands favourites over to the new contents of their files.
    func move(_ changes: [ContentChange]) {
        lock.withLock {
            for change in changes where keys.remove(change.former) != nil { keys.insert(change.present) }
        }
    }

    /// Adds the favourites in the state. Thread: the database's.
    func load(_ database: Database?) {
        guard let database else { return }
        do throws(DatabaseError) {
            let stored = try FavouriteRows(database).keys()
            lock.withLock { keys.formUnion(stored) }
        } catch {
            Log.warning("the favourites cannot be read: \(error.description)")
        }
    }
}
