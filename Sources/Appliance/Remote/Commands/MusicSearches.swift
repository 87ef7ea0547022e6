import Platform

/// The searches for music of all clients: two run at once, the others wait for their turn.
///
/// Thread: everything runs on the loop's thread. `@unchecked Sendable` is safe because the thread of a search only
/// posts to the loop.
final class MusicSearches: @unchecked Sendable {
    /// More would only make the disk seek.
    static let limit = 2

    private struct Waiting {
        let search: MusicSearch
        let found: (Result<FoundMusic, RemoteFailure>) -> Void
    }

    private let loop: EventLoop
    private let run: @Sendable (MusicSearch) -> Result<FoundMusic, RemoteFailure>
    private var waiting: [Waiting] = []
    private(set) var runningCount = 0

    /// - Parameter run: the work of a search's thread.
    init(
        loop: EventLoop,
        run: @escaping @Sendable (MusicSearch) -> Result<FoundMusic, RemoteFailure> = { $0.run() }
    ) {
        self.loop = loop
        self.run = run
    }

    var waitingCount: Int { waiting.count }

    /// Starts a search, or queues it behind others.
    /// - Parameter found: called once, later, also for a search that is cancelled.
    func begin(_ search: MusicSearch, _ found: @escaping (Result<FoundMusic, RemoteFailure>) -> Void) {
        loop.assertOnLoop()
        waiting.append(Waiting(search: search, found: found))
        proceed()
    }

    private func proceed() {
        while runningCount < Self.limit, !waiting.isEmpty { start(waiting.removeFirst()) }
    }

    private func start(_ next: Waiting) {
        runningCount += 1
        // Safe: it goes to the search's thread and back, and is not called there.
        nonisolated(unsafe) let found = next.found
        let search = next.search
        let (loop, run) = (loop, run)
        do throws(SystemError) {
            _ = try NamedThread.start(name: "music search", priority: .background, stackSize: 256 << 10) {
                let result = run(search)
                loop.post { self.end(found, result) }
            }
        } catch {
            let failure = RemoteFailure(.system, error.description)
            loop.post { self.end(found, .failure(failure)) }
        }
    }

    private func end(
        _ found: (Result<FoundMusic, RemoteFailure>) -> Void, _ result: Result<FoundMusic, RemoteFailure>
    ) {
        runningCount -= 1
        found(result)
        proceed()
    }
}
