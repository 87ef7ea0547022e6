import Appliance
import Platform

/// Changes that clients of MPD do not know yet. They are reported in the next turn of the loop, and those of a command
/// list at its end.
struct MPDChanges {
    /// A change, and the clients that it concerns; nil for all.
    typealias Change = (parts: MPDSubsystems, clients: [UInt64]?)

    private var waiting: [Change] = []
    private var isReportDue = false
    /// When they are reported though command lists run.
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
