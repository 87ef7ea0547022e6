/// A thread that blocks in requests and file access, and can be cancelled.
package final class CancellableThread: Sendable {
    private let cancellation: Cancellation
    private let thread: NamedThread

    package init(
        _ name: String, priority: NamedThread.Priority = .background,
        _ body: @escaping @Sendable (Cancellation) -> Void
    ) throws(SystemError) {
        let cancellation = try Cancellation()
        self.cancellation = cancellation
        thread = try NamedThread.start(name: name, priority: priority, stackSize: 256 << 10) { body(cancellation) }
    }

    package func cancel() { cancellation.cancel() }

    package func join() { thread.join() }
}
