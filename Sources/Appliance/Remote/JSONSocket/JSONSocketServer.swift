import CLinux
import Platform

/// The control socket: takes clients, answers what they ask, and tells them what happens. `docs/control.md` documents
/// what goes over it.
///
/// Thread: that of the daemon's loop, everything.
public final class JSONSocketServer: @unchecked Sendable {
    /// How many clients may be connected at once. Who is connected stays when it becomes less.
    public var clientLimit: Int

    private static let positionInterval: Int64 = 1_000_000_000
    private static let retryInterval: Int64 = 1_000_000_000
    /// A client that has asked for nothing for as long makes room for another.
    private static let silenceLimit: Int64 = 10_000_000_000

    private let daemon: Daemon
    private let requests: RequestExecution
    private let file: SocketFile
    private var listener: LocalSocket?
    private var retry: TimerToken?
    private var observer: UInt64 = 0
    private var sessions: [JSONSession] = []
    private var lastNumber: UInt64 = 0
    /// Runs only while somebody wants to know the position and it changes.
    private var positionTimer: TimerToken?

    private var loop: EventLoop { daemon.loop }

    /// - Parameters:
    ///   - path: of the socket; its folder is made where it is missing.
    ///   - mode: of the socket, the lowest nine bits.
    ///   - group: that it is given to; nil for the process's own. One that does not exist is a warning.
    ///   - version: the program's, for the request `version`.
    public init(
        daemon: Daemon, path: String, mode: UInt32, group: String?, clientLimit: Int, version: String
    ) {
        self.daemon = daemon
        self.clientLimit = clientLimit
        file = SocketFile(path: path, mode: mode, group: group)
        requests = RequestExecution(daemon: daemon, version: version)
    }

    /// How many clients are connected.
    public var clientCount: Int { sessions.count }

    /// Begins to listen.
    /// - Throws: when the socket cannot be made.
    public func start() throws(SocketFileError) {
        guard listener == nil else { return }
        listener = try file.open()
        observer = daemon.observe { [self] in receive($0) }
        listen()
    }

    /// Takes no more clients, parts from those that are there, and removes the socket. Idempotent.
    public func stop() {
        guard let listener else { return }
        loop.unwatch(listener.descriptor)
        self.listener = nil
        file.remove()
        daemon.ignore(observer)
        if let retry { loop.cancel(retry) }
        retry = nil
        for session in sessions { session.close() }
        updatePositionTimer()
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

    /// The process has no descriptor left, which does not change by trying again at once.
    private func listenLater(_ error: SystemError) {
        Log.warning("control clients have to wait: \(error.description)")
        retry = loop.schedule(after: Self.retryInterval) { [self] in
            retry = nil
            listen()
        }
    }

    private func welcome(_ socket: LocalSocket) {
        if sessions.count >= clientLimit { longestSilent?.makeRoom() }
        guard sessions.count < clientLimit else { return turnAway(socket) }
        lastNumber += 1
        let session = JSONSession(
            socket, number: lastNumber, requests: requests, subscribed: { [self] in updatePositionTimer() },
            closed: { [self] in forget($0) })
        sessions.append(session)
        session.start()
    }

    /// The client that can be parted from first; nil when none can.
    private var longestSilent: JSONSession? {
        let latest = daemon.clock.now() - Self.silenceLimit
        return sessions.filter { $0.isIdle && $0.lastRequest <= latest }.min { $0.lastRequest < $1.lastRequest }
    }

    private func turnAway(_ socket: LocalSocket) {
        let line = ReplyLines.refusal(
            .null, code: "too-many-clients", "\(clientLimit) clients are connected already ([control] clients)")
        line.withUnsafeBytes { bytes in
            // A line fits into the buffer of a new connection, unless its client is gone.
            do throws(SystemError) { _ = try socket.send(bytes) } catch {}
        }
    }

    private func forget(_ number: UInt64) {
        sessions.removeAll { $0.number == number }
        updatePositionTimer()
    }

    // MARK: Events

    private func receive(_ event: DaemonEvent) {
        switch event {
        case .state: tell(.state)
        case .track: tell(.track)
        case .queue: tell(.queue)
        case .positionJumped: tell(.position)
        case .volume: tell(.volume)
        case .configuration: tell(.configuration)
        case .problems: tell(.problems)
        case .failed(let entry, let error): tell(.failed, ReplyLines.members(failed: entry, error))
        }
        if event == .state { updatePositionTimer() }
    }

    /// - Parameter members: what is told; nil for the part of the status that the event is about.
    private func tell(_ event: RemoteEventSet, _ members: [JSONValue.Member]? = nil) {
        guard sessions.contains(where: { $0.subscriptions.contains(event) }) else { return }
        let place = event.rawValue.trailingZeroBitCount
        let line =
            if event == .configuration {
                ReplyLines.event(
                    place, with: [ReplyLines.settings(SettingName.allCases, of: daemon.configuration)])
            } else if let members {
                ReplyLines.event(place, with: members)
            } else {
                ReplyLines.event(place, requests.status)
            }
        // A copy: telling may end a session.
        for session in sessions { session.tell(line, place) }
    }

    private func updatePositionTimer() {
        let isWanted = sessions.contains { $0.subscriptions.contains(.position) } && daemon.status.playback == .playing
        if !isWanted, let timer = positionTimer {
            loop.cancel(timer)
            positionTimer = nil
        } else if isWanted, positionTimer == nil {
            positionTimer = loop.schedule(after: Self.positionInterval) { [self] in
                positionTimer = nil
                tell(.position)
                updatePositionTimer()
            }
        }
    }
}
