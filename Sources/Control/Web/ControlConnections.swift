import Appliance
import Platform

/// The connections of web requests to the daemon. Each is a client of the control protocol (docs/control.md) inside of
/// the process. So a request over HTTP has the same effect, limits and errors as one at the
/// socket (docs/decisions/web-server.md).
///
/// Thread: any; the threads of the web server's connections block in it. `@unchecked Sendable` is safe because `lock`
/// guards the state.
final class ControlConnections: @unchecked Sendable {
    private let lock = Lock()
    /// The web server's end of a connection.
    private struct Asking {
        let socket: StreamSocket
        let session: WebSessionRows.Hash?
    }

    /// The web server's ends of all connections, by their descriptors; nil when the server has ended.
    private var open: [Int32: Asking]? = [:]
    private let serve: @Sendable (StreamSocket, ClientRights) -> Void

    /// - Parameter serve: passes the daemon's end of a new connection to the daemon; called on any thread.
    init(serve: @escaping @Sendable (StreamSocket, ClientRights) -> Void) { self.serve = serve }

    /// Connects.
    /// - Parameters:
    ///   - seconds: how long a read or a write waits.
    ///   - session: the session whose end ends the connection; nil for none.
    ///   - rights: the rights of the browser.
    /// - Throws: EMFILE, ENFILE, ENOMEM; ENOTCONN when the server has ended.
    func connect(
        seconds: Int, session: WebSessionRows.Hash?, rights: ClientRights
    ) throws(SystemError) -> ControlConnection {
        let (served, asking) = try StreamSocket.pair(seconds: seconds)
        let isOpen = lock.withLock {
            open?[asking.descriptor] = Asking(socket: asking, session: session)
            return open != nil
        }
        guard isOpen else { throw SystemError(code: 107, operation: "connect to", subject: "the daemon") }
        serve(served, rights)
        return ControlConnection(asking) { [self] in forget($0) }
    }

    private func forget(_ descriptor: Int32) {
        // Drops the last reference outside of the lock, because that closes the descriptor.
        let forgotten = lock.withLock { open?.removeValue(forKey: descriptor) }
        _ = forgotten
    }

    /// Ends the connections of a session. Threads that wait for a line of them receive the end.
    func end(session: WebSessionRows.Hash) {
        // Done under the lock, so that no descriptor is closed and reused meanwhile.
        lock.withLock {
            for asking in (open ?? [:]).values where asking.session == session { asking.socket.shutDown() }
        }
    }

    /// Ends all connections, and makes no new one. Threads that wait for a line receive the end.
    func close() {
        let all = lock.withLock {
            defer { open = nil }
            return open ?? [:]
        }
        for asking in all.values { asking.socket.shutDown() }
    }
}

/// A client of the control protocol inside of the process. Releasing the object closes the connection, which cancels
/// the work for it.
///
/// Thread: one at a time.
final class ControlConnection {
    enum Line: Equatable {
        /// A line without its line end.
        case line([UInt8])
        /// No line has arrived in time.
        case nothing
        case end
    }

    private let socket: StreamSocket
    private let closed: (Int32) -> Void
    private var received: [UInt8] = []
    /// The number of first bytes of `received` that contain no line end.
    private var searched = 0

    fileprivate init(_ socket: StreamSocket, closed: @escaping (Int32) -> Void) {
        self.socket = socket
        self.closed = closed
    }

    deinit { closed(socket.descriptor) }

    /// Sends a request.
    /// - Returns: false when the connection has ended.
    func send(_ request: JSONValue) -> Bool {
        var line = Array(request.serialized().utf8)
        line.append(UInt8(ascii: "\n"))
        var sent = 0
        while sent < line.count {
            let count = line[sent...].withUnsafeBytes { bytes -> Int? in
                do throws(SystemError) { return try socket.send(bytes) } catch { return nil }
            }
            guard let count else { return false }
            sent += count
        }
        return true
    }

    /// Waits for the next line.
    func next() -> Line {
        while true {
            if let end = received[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(received[..<end])
                received.removeSubrange(...end)
                searched = 0
                return .line(line)
            }
            searched = received.count
            var chunk = [UInt8](repeating: 0, count: 16 << 10)
            let count = chunk.withUnsafeMutableBytes { buffer -> Int? in
                // Treats a failed connection as ended.
                do throws(SystemError) { return try socket.receive(into: buffer) } catch { return 0 }
            }
            guard let count else { return .nothing }
            if count == 0 { return .end }
            received += chunk[..<count]
        }
    }
}
