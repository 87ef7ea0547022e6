/// Callers that wait for the end of a write: the callers of the running write, and those of the next one.
///
/// Thread: the owner's.
final class WaitingCallers {
    private var ofThis: [() -> Void] = []
    private var ofNext: [() -> Void] = []

    /// Whether no caller waits for the running write.
    var isEmpty: Bool { ofThis.isEmpty }

    /// Whether a caller waits for the next write.
    var hasNext: Bool { !ofNext.isEmpty }

    func add(_ action: @escaping () -> Void) { ofNext.append(action) }

    /// Notes that the next write begins.
    func begin() {
        ofThis = ofNext
        ofNext = []
    }

    /// Calls the callers of the running write, because it has ended.
    func end() {
        let actions = ofThis
        ofThis = []
        for action in actions { action() }
    }

    /// Calls all callers, because no write follows.
    func endAll() {
        ofThis += ofNext
        ofNext = []
        end()
    }
}
