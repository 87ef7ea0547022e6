import Database
import Platform

/// The products that were lost with the device's key, and may still be missing.
///
/// Thread: control.
/// `@unchecked Sendable` is safe because only control uses its mutable state.
final class LostProducts: @unchecked Sendable {
    private let store: OfflineStore
    private let loop: EventLoop
    private var count = 0

    init(_ store: OfflineStore, loop: EventLoop) {
        self.store = store
        self.loop = loop
    }

    /// Checks whether the device's key still opens the copies.
    /// - Parameter lostNow: called with their number when products are lost that were whole at the last start.
    func check(_ lostNow: @escaping @Sendable (Int) -> Void) {
        store.checkKey { [self] lost, isNew in
            guard lost > 0 else { return }
            Log.error(
                "the key of this device is another one than before: \(lost) offline copies cannot be read, and are "
                    + "downloaded again")
            loop.post { [self] in
                count = lost
                if isNew { lostNow(lost) }
            }
        }
    }

    /// - Parameter answer: gets the number of products that are still missing.
    func count(_ answer: @escaping @Sendable (Int) -> Void) {
        loop.assertOnLoop()
        // Counting reads all rows.
        guard count > 0 else { return answer(0) }
        store.read(answerOn: loop) { (rows) throws(DatabaseError) in
            try rows.damagedCount()
        } _: { [self] missing in
            count = min(count, missing ?? count)
            answer(count)
        }
    }
}
