import Appliance
import Platform

/// Changes that clients of MPD do not know yet. They are reported in the next turn of the loop, and the changes of a
/// command list at its end.
struct MPDChanges {
    /// A change, and the affected clients; nil for all clients.
    typealias Change = (parts: MPDSubsystems, clients: [UInt64]?)

    private var waiting: [Change] = []
    private var isReportDue = false
    /// The timer that reports the changes even while command lists run.
    var deadline: TimerToken?

    /// - Returns: whether the caller has to report all changes in the next turn.
    mutating func add(_ parts: MPDSubsystems, _ clients: [UInt64]?) -> Bool {
        if clients == nil, let last = waiting.indices.last, waiting[last].clients == nil {
            waiting[last].parts.formUnion(parts)
        } else {
            waiting.append((parts, clients))
        }
        defer { isReportDue = true }
        return !isReportDue
    }

    /// Whether there is anything to report.
    var areDue: Bool { isReportDue }

    /// Returns the changes to report now.
    mutating func take() -> [Change] {
        defer { (waiting, isReportDue) = ([], false) }
        return waiting
    }
}
