import Appliance
import CLinux
import Platform

/// The control socket: accepts clients, answers their requests, and sends them events. `docs/control.md` documents the
/// protocol (docs/decisions/json-lines.md).
///
/// Thread: everything runs on the thread of the daemon's loop; `@unchecked Sendable` is safe for that reason.
public final class JSONSocketServer: @unchecked Sendable {
    /// The most clients at once, plus one for root. Lowering the limit disconnects no client.
    public var clientLimit: Int

    private static let retryInterval: Int64 = 1_000_000_000
    /// A client that sends no request for this long may be disconnected to make room for another one.
    private static let silenceLimit: Int64 = 10_000_000_000

    private let loop: EventLoop
    private let clock: any MonotonicClock
    let clients: JSONSessions
    /// Returns the user at the other end; nil when it is unknown.
    private let userOf: (StreamSocket) -> UInt32?
    private let file: SocketFile
    private var listener: StreamSocket?
    private var retry: TimerToken?

    /// - Parameters:
    ///   - path: the path of the socket; its folder is created when it is missing.
    ///   - mode: the mode of the socket, the lowest nine bits.
    ///   - group: the group of the socket; nil for the process's own. A missing group is only a warning.
    ///   - version: the version of the program, for the request `version`.
    ///   - userOf: returns the user who has connected; tests replace it.
    public init(
        daemon: Daemon, path: String, mode: UInt32, group: String?, clientLimit: Int, version: String,
        userOf: @escaping (StreamSocket) -> UInt32? = { $0.peerUser }
    ) {
        loop = daemon.loop
        clock = daemon.environment.clock
        clients = JSONSessions(daemon, version: version)
        self.clientLimit = clientLimit
        file = SocketFile(path: path, mode: mode, group: group)
        self.userOf = userOf
    }

    /// The number of connected clients.
    public var clientCount: Int { sessions.count }

    private var sessions: [JSONSession] { clients.sessions }

    /// Begins to listen.
    /// - Throws: when the socket cannot be created.
    public func start() throws(SocketFileError) {
        loop.assertOnLoop()
        guard listener == nil else { return }
        listener = try file.open()
        clients.start()
        listen()
    }

    /// Accepts no more clients, disconnects the others, and removes the socket. Idempotent.
    public func stop() {
        loop.assertOnLoop()
        guard let listener else { return }
        loop.unwatch(listener.descriptor)
        self.listener = nil
        file.remove()
        if let retry { loop.cancel(retry) }
        retry = nil
        clients.stop()
    }

    // MARK: Clients

    private func listen() {
        guard let listener else { return }
        do throws(SystemError) {
            try loop.watch(listener.descriptor, for: .readable) { [self] _ in accept() }
        } catch {
            listenLater(error)
        }
    }

    private func accept() {
        guard let listener else { return }
        do throws(SystemError) {
            while let socket = try listener.accept() { welcome(socket) }
        } catch {
            loop.unwatch(listener.descriptor)
            listenLater(error)
        }
    }

    /// Retries later, because the process has no file descriptor left.
    private func listenLater(_ error: SystemError) {
        Log.warning("control clients have to wait for a second: \(error.description)")
        retry = loop.schedule(after: Self.retryInterval) { [self] in
            retry = nil
            listen()
        }
    }

    private func welcome(_ socket: StreamSocket) {
        let user = userOf(socket)
        if !hasPlace(for: user) { longestSilent?.makeRoom() }
        if !hasPlace(for: user) {
            if user == 0 {
                if let client = longestSubscribed { client.makeRoom() } else { rootClientTooMany?.endForRoot() }
            } else {
                clientTooMany(beside: user)?.endForOthers()
            }
        }
        guard hasPlace(for: user) else { return turnAway(socket) }
        clients.begin(socket, user: user)
    }

    /// Returns whether another client can connect. One more connection is reserved for root, so that root can always
    /// find the cause of a problem.
    private func hasPlace(for user: UInt32?) -> Bool {
        if user == 0 { return sessions.count <= clientLimit }
        return sessions.count - (sessions.contains { $0.user == 0 } ? 1 : 0) < clientLimit
    }

    /// Returns the client with the oldest request of another user who has at least two clients more than `user`. So no
    /// user locks out others, and two users do not disconnect each other's clients in turn.
    private func clientTooMany(beside user: UInt32?) -> JSONSession? {
        func places(of user: UInt32?) -> Int { sessions.lazy.filter { $0.user == user }.count }
        let others = sessions.filter { $0.user != 0 && $0.user != user }
        guard let most = others.map({ places(of: $0.user) }).max(), most >= places(of: user) + 2 else { return nil }
        return others.filter { places(of: $0.user) == most }.min { $0.lastRequest < $1.lastRequest }
    }

    /// The client with the oldest request, if root has several. The newest connection of root gets root's reserved
    /// connection, even when root uses all connections.
    private var rootClientTooMany: JSONSession? {
        let clients = sessions.filter { $0.user == 0 }
        return clients.count > 1 ? clients.min { $0.lastRequest < $1.lastRequest } : nil
    }

    /// The client to disconnect first; nil when none is idle.
    private var longestSilent: JSONSession? {
        let latest = clock.now() - Self.silenceLimit
        return sessions.filter { $0.isIdle && $0.lastRequest <= latest }.min { $0.lastRequest < $1.lastRequest }
    }

    /// The subscribed client to disconnect for root, so that subscribers without requests do not lock root out.
    private var longestSubscribed: JSONSession? {
        let latest = clock.now() - Self.silenceLimit
        return sessions.filter { $0.lastRequest <= latest }.min { $0.lastRequest < $1.lastRequest }
    }

    private func turnAway(_ socket: StreamSocket) {
        let line = ReplyLines.refusal(
            .null, code: "too-many-clients", "\(clientLimit) clients are connected already ([control] clients)")
        line.withUnsafeBytes { bytes in
            // The line fits into the buffer of a new connection. The send fails only if the client has disconnected.
            do throws(SystemError) { _ = try socket.send(bytes) } catch {}
        }
    }
}
