import Appliance
import Queue

/// The version of the queue, and which positions have changed since an earlier one.
///
///     var versions = MPDQueueVersions(startingAt: 1)
///     versions.update(queue.playOrder)       // true: version 2
///     versions.changes(since: 1)             // all positions
struct MPDQueueVersions {
    /// 31 bits, as clients read it. It only grows, also across restarts.
    private(set) var version: UInt32
    /// The entries at this version.
    private var order: [EntryID] = []
    /// For each position the version in which another entry came there.
    private var changedIn: [UInt32] = []
    /// A client with an older version gets everything: it is of a former start.
    private let first: UInt32

    /// - Parameter first: greater than any version of a former start.
    init(startingAt first: UInt32) {
        self.first = first
        version = first
    }

    /// Reports the present order.
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

    /// Reports that values of the entries at these positions have changed, which are not their places.
    mutating func touch(_ places: some Sequence<Int>) {
        version += 1
        for place in places where place < changedIn.count { changedIn[place] = version }
    }

    /// Returns the positions that have changed since `version`, within a range. For an unknown version, these are all.
    func changes(since version: UInt32, in range: Range<Int>) -> [Int] {
        let range = range.clamped(to: 0..<changedIn.count)
        let isUnknown = version < first || version > self.version
        return range.filter { isUnknown || changedIn[$0] > version }
    }
}
