import Appliance
import Queue

/// The version of the queue, and the positions that have changed since an earlier version.
///
///     var versions = MPDQueueVersions(startingAt: 1)
///     versions.update(queue.playOrder)       // true: version 2
///     versions.changes(since: 1)             // all positions
struct MPDQueueVersions {
    /// The version in 31 bits, because clients read no more. It only grows, also across restarts.
    private(set) var version: UInt32
    /// The entries at this version.
    private var order: [EntryID] = []
    /// For each position, the version in which its entry last changed.
    private var changedIn: [UInt32] = []
    /// The first version of this start. A client with an older version gets all positions.
    private let first: UInt32

    /// - Parameter first: greater than any version of a former start.
    init(startingAt first: UInt32) {
        self.first = first
        version = first
    }

    /// Notes the current order.
    /// - Returns: whether it has changed.
    mutating func update(_ new: [EntryID]) -> Bool {
        if new == order { return false }
        version += 1
        for place in 0..<min(new.count, order.count) where new[place] != order[place] { changedIn[place] = version }
        if new.count < changedIn.count {
            changedIn.removeLast(changedIn.count - new.count)
        } else {
            changedIn.append(contentsOf: repeatElement(version, count: new.count - changedIn.count))
        }
        order = new
        return true
    }

    /// Notes that the entries at these positions have changed in another way than by moving.
    mutating func touch(_ places: some Sequence<Int>) {
        version += 1
        for place in places where place < changedIn.count { changedIn[place] = version }
    }

    /// Returns the positions that have changed since `version`, within a range. For an unknown version, returns all
    /// positions in the range.
    func changes(since version: UInt32, in range: Range<Int>) -> [Int] {
        let range = range.clamped(to: 0..<changedIn.count)
        let isUnknown = version < first || version > self.version
        return range.filter { isUnknown || changedIn[$0] > version }
    }
}
