import Platform

/// All current problems, each under its subject.
///
/// Thread: the daemon's.
public final class DaemonProblems {
    /// All problems, the oldest first.
    public private(set) var all: [DaemonProblem] = []
    private let changed: () -> Void

    /// - Parameter changed: called after each change.
    init(changed: @escaping () -> Void) { self.changed = changed }

    /// Sets a problem or its end, and logs it.
    /// - Parameter message: nil when the problem is resolved. Names in it may come from files and devices: it is made
    ///   visible.
    public func set(_ subject: String, _ message: String?) {
        let message = message.map { VisibleText.visible($0) }
        guard replace(subject, message) else { return }
        // The engine logs problems of the device.
        if !subject.utf8.elementsEqual(DaemonProblem.device.utf8) {
            if let message { Log.warning("\(subject): \(message)") } else { Log.notice("\(subject): resolved") }
        }
        changed()
    }

    /// - Returns: whether the problems changed.
    private func replace(_ subject: String, _ message: String?) -> Bool {
        let index = all.firstIndex { $0.subject.utf8.elementsEqual(subject.utf8) }
        switch (index, message) {
        case (nil, nil):
            return false
        case (let index?, nil):
            all.remove(at: index)
        case (nil, let message?):
            all.append(DaemonProblem(subject: subject, message: message))
        case (let index?, let message?):
            if all[index].message.utf8.elementsEqual(message.utf8) { return false }
            all[index].message = message
        }
        return true
    }
}
