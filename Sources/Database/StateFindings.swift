import Platform

/// The findings in the state. Each is logged, and stored until it is taken or observed.
///
/// Thread: any.
// @unchecked: `lock` guards everything.
final class StateFindings: @unchecked Sendable {
    private let lock = Lock()
    private var waiting: [StateFinding] = []
    private var report: (@Sendable (StateFinding) -> Void)?

    func add(_ finding: StateFinding) {
        Log.error(finding.description)
        let report = lock.withLock {
            if self.report == nil { waiting.append(finding) }
            return self.report
        }
        report?(finding)
    }

    func take() -> [StateFinding] {
        lock.withLock {
            defer { waiting = [] }
            return waiting
        }
    }

    /// Calls `report` with the findings that were not taken, and with each later finding.
    func observe(_ report: @escaping @Sendable (StateFinding) -> Void) {
        lock.withLock { self.report = report }
        for finding in take() { report(finding) }
    }
}
