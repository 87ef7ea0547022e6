import Platform

/// All current problems, each under its subject.
///
/// Thread: the daemon's.
public final class DaemonProblems {
    /// All problems, the oldest first. If the system reports the fault of the card, the problem that the queue cannot
    /// be saved is left out.
    public var all: [DaemonProblem] {
        guard known.contains(where: { $0.subject.utf8.elementsEqual("system storage".utf8) }) else { return known }
        return known.filter { !$0.subject.utf8.elementsEqual(DaemonProblem.storage.utf8) }
    }
    private var known: [DaemonProblem] = []
    private let changed: () -> Void

    /// - Parameter changed: called after each change.
    init(changed: @escaping () -> Void) { self.changed = changed }

    /// Sets a problem or its end, and logs it.
    /// - Parameter message: nil when the problem is resolved. Names in the message may come from files and devices, so
    ///   invisible characters in it are made visible.
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
        let index = known.firstIndex { $0.subject.utf8.elementsEqual(subject.utf8) }
        switch (index, message) {
        case (nil, nil):
            return false
        case (let index?, nil):
            known.remove(at: index)
        case (nil, let message?):
            known.append(DaemonProblem(subject: subject, message: message))
        case (let index?, let message?):
            if known[index].message.utf8.elementsEqual(message.utf8) { return false }
            known[index].message = message
        }
        return true
    }
}
