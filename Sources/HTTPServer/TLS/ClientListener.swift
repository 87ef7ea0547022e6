import Platform

/// Accepts the clients of a socket that listens. When the process has no file descriptor left, it retries.
///
/// Thread: that of the loop.
final class ClientListener {
    private static let retryInterval: Int64 = 1_000_000_000
    private static let acceptsOfATurn = 16

    private let socket: StreamSocket
    private let loop: EventLoop
    private var retry: TimerToken?

    /// - Parameter socket: a socket that listens.
    init(_ socket: StreamSocket, on loop: EventLoop) {
        self.socket = socket
        self.loop = loop
    }

    /// Calls `welcome` with each client until `stop`. The loop holds `welcome` until then.
    func listen(_ welcome: @escaping (StreamSocket) -> Void) {
        retry = nil
        do throws(SystemError) {
            try loop.watch(socket.descriptor, for: .readable) { [self] _ in accept(welcome) }
        } catch {
            listenLater(error, welcome)
        }
    }

    /// Accepts no more clients.
    func stop() {
        loop.unwatch(socket.descriptor)
        if let retry { loop.cancel(retry) }
    }

    private func accept(_ welcome: @escaping (StreamSocket) -> Void) {
        do throws(SystemError) {
            // Others have their turn, too.
            for _ in 0..<Self.acceptsOfATurn {
                guard let client = try socket.accept() else { return }
                welcome(client)
            }
        } catch {
            loop.unwatch(socket.descriptor)
            listenLater(error, welcome)
        }
    }

    /// Retries later, because the process has no file descriptor left.
    private func listenLater(_ error: SystemError, _ welcome: @escaping (StreamSocket) -> Void) {
        Log.warning("browsers have to wait for a second: \(error.description)")
        retry = loop.schedule(after: Self.retryInterval) { [self] in listen(welcome) }
    }
}
