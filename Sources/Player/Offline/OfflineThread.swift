import Network
import Platform

/// A thread that blocks in requests and file access, and can be cancelled.
final class OfflineThread: Sendable {
    private let cancellation: Cancellation
    private let thread: NamedThread

    init(
        _ name: String, priority: NamedThread.Priority = .background,
        _ body: @escaping @Sendable (Cancellation) -> Void
    ) throws(SystemError) {
        let cancellation = try Cancellation()
        self.cancellation = cancellation
        thread = try NamedThread.start(name: name, priority: priority, stackSize: 256 << 10) { body(cancellation) }
    }

    func cancel() { cancellation.cancel() }

    func join() { thread.join() }
}
