/// The work that was posted to an event loop, in order, and the signal that there is some.
///
/// Thread: any, except the audio thread. `@unchecked Sendable` is safe because `lock` guards the work.
final class PostedWork: @unchecked Sendable {
    enum Work {
        case call(@Sendable () -> Void)
        case stop
    }

    /// Readable while there is work.
    var descriptor: Int32 { wakeUp.descriptor }

    private let wakeUp: WakeUp
    private let lock = Lock()
    private var waiting: [Work] = []

    /// - Throws: when the process or the system has no file descriptor left.
    init() throws(SystemError) { wakeUp = try WakeUp() }

    func add(_ work: Work) {
        lock.withLock {
            if waiting.isEmpty { wakeUp.signal() }
            waiting.append(work)
        }
    }

    /// Takes the work that was posted so far.
    func take() -> [Work] {
        lock.withLock {
            // Clears under the lock, because a post in between would cause an empty wake-up.
            if !waiting.isEmpty { wakeUp.clear() }
            defer { waiting = [] }
            return waiting
        }
    }

    /// Puts work back that was taken, before the work that was posted since.
    func putBack(_ rest: ArraySlice<Work>) {
        guard !rest.isEmpty else { return }
        lock.withLock {
            if waiting.isEmpty { wakeUp.signal() }
            waiting.insert(contentsOf: rest, at: 0)
        }
    }
}
