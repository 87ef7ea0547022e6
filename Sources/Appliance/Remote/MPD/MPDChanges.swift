/// Changes that clients of MPD do not know yet. They are reported in the next turn of the loop.
struct MPDChanges {
    /// A change, and the clients that it concerns; nil for all.
    typealias Change = (parts: MPDSubsystems, clients: [UInt64]?)

    private var waiting: [Change] = []
    private var isReportDue = false
    /// Whether command lists have changed the queue, which is reported at their end.
    private var hasChangedQueue = false

    /// - Returns: whether the caller has to report all changes in the next turn.
    mutating func add(_ parts: MPDSubsystems, _ clients: [UInt64]?) -> Bool {
        waiting.append((parts, clients))
        defer { isReportDue = true }
        return !isReportDue
    }

    /// Returns the changes to report now.
    /// - Parameter duringLists: whether command lists run: then changes of the queue wait.
    mutating func take(duringLists: Bool) -> [Change] {
        isReportDue = false
        var all = waiting
        waiting = []
        if duringLists {
            for place in all.indices where all[place].parts.contains(.playlist) {
                all[place].parts.remove(.playlist)
                hasChangedQueue = true
            }
        } else if hasChangedQueue {
            hasChangedQueue = false
            all.append((.playlist, nil))
        }
        return all
    }
}
