import Appliance
import CLinux
import Platform

/// The server of MPD's protocol: accepts clients at a port and a UNIX socket. `docs/mpd.md` describes its commands and
/// the differences from MPD.
///
/// Thread: the daemon's; `@unchecked Sendable` is safe for that reason.
public final class MPDServer: @unchecked Sendable {
    /// The most clients at once.
    static let clientLimit = 50
    private static let retryInterval: Int64 = 1_000_000_000
    /// The longest time for which command lists delay the report of changes, in nanoseconds.
    private static let mostDelay: Int64 = 1_000_000_000

    private let loop: EventLoop
    private let observers: DaemonObservers
    private let player: MPDPlayer
    private let acceptsAll: Bool
    private var listeners: [(socket: StreamSocket, file: SocketFile?)] = []
    private var sessions: [MPDSession] = []
    private var lastNumber: UInt64 = 0
    private var observer: UInt64 = 0
    private var retry: TimerToken?
    private var changes = MPDChanges()

    init(_ daemon: Daemon, passwords: MPDPasswords, permission: MPDPermission, acceptsAll: Bool) {
        loop = daemon.loop
        observers = daemon.observers
        self.acceptsAll = acceptsAll
        player = MPDPlayer(daemon, passwords: passwords, permission: permission)
        player.notify = { [self] parts, clients in note(parts, clients) }
        player.released = { [self] in notify() }
    }

    /// Opens the server that the configuration asks for. If the server cannot listen, the daemon publishes the problem
    /// `mpd`.
    /// - Returns: nil when no client may connect.
    public static func open(_ daemon: Daemon) -> MPDServer? {
        let configuration = daemon.settings.configuration
        guard configuration.mpdAddress != nil || configuration.mpdSocketPath != nil else { return nil }
        do throws(Refusal) {
            let server = MPDServer(
                daemon, passwords: try passwords(configuration), permission: configuration.mpdPermission,
                acceptsAll: configuration.mpdAcceptsAll)
            if let address = configuration.mpdAddress {
                server.listen(try port(configuration.mpdPort, of: address))
            }
            if let path = configuration.mpdSocketPath {
                let file = SocketFile(path: path, mode: configuration.socketMode, group: configuration.socketGroup)
                do throws(SocketFileError) { server.listen(try file.open(), file: file) } catch {
                    throw Refusal(message: error.description)
                }
            }
            server.start()
            return server
        } catch {
            daemon.problems.set(DaemonProblem.mpd, "clients of MPD cannot connect: \(error.message)")
            return nil
        }
    }

    private struct Refusal: Error { var message: String }

    private static func passwords(_ configuration: Configuration) throws(Refusal) -> MPDPasswords {
        guard let path = configuration.mpdPasswordFile else { return MPDPasswords() }
        let text: [UInt8]
        do throws(SystemError) { text = try File.contents(of: path, limit: 1 << 16) } catch {
            throw Refusal(message: error.description)
        }
        guard let passwords = MPDPasswords(text) else {
            throw Refusal(message: "\(path): each line must be a level (read, add, control or admin) and a password")
        }
        return passwords
    }

    private static func port(_ port: UInt16, of address: String) throws(Refusal) -> StreamSocket {
        let isAny = address.utf8.elementsEqual("any".utf8)
        do throws(SystemError) { return try StreamSocket(listeningAt: isAny ? "::" : address, port: port) } catch {
            // Falls back to IPv4, because a kernel may lack IPv6.
            if isAny, error.code == EAFNOSUPPORT || error.code == EADDRNOTAVAIL {
                do throws(SystemError) { return try StreamSocket(listeningAt: "0.0.0.0", port: port) } catch {
                    throw Refusal(message: error.description)
                }
            }
            throw Refusal(message: error.description)
        }
    }

    var clientCount: Int { sessions.count }

    /// The port at which the server listens; nil without one.
    package var port: UInt16? { listeners.compactMap { $0.socket.port }.first }

    /// Adds a listening socket. Its clients wait until `start`.
    /// - Parameter file: the file of a UNIX socket; nil for a port.
    func listen(_ socket: StreamSocket, file: SocketFile? = nil) { listeners.append((socket, file)) }

    /// Begins to accept clients once the version of the queue is known.
    func start() {
        loop.assertOnLoop()
        observer = observers.add { [self] in player.receive($0) }
        player.start { [self] in watch() }
    }

    /// Accepts no more clients, and disconnects the others. Idempotent.
    public func stop() {
        loop.assertOnLoop()
        for listener in listeners {
            loop.unwatch(listener.socket.descriptor)
            listener.file?.remove()
        }
        observers.remove(observer)
        listeners = []
        if let retry { loop.cancel(retry) }
        retry = nil
        if let deadline = changes.deadline { loop.cancel(deadline) }
        changes.deadline = nil
        for session in sessions { session.close() }
    }

    // MARK: Clients

    private func watch() {
        for listener in listeners {
            do throws(SystemError) {
                try loop.watch(listener.socket.descriptor, for: .readable) { [self] _ in accept(listener.socket) }
            } catch {
                return watchLater(error)
            }
        }
    }

    private func accept(_ listener: StreamSocket) {
        do throws(SystemError) {
            while let socket = try listener.accept() { welcome(socket, isLocal: listener.port == nil) }
        } catch {
            watchLater(error)
        }
    }

    /// Retries later, because the process has no file descriptor left.
    private func watchLater(_ error: SystemError) {
        Log.warning("clients of MPD's protocol have to wait for a second: \(error.description)")
        for listener in listeners { loop.unwatch(listener.socket.descriptor) }
        if let retry { loop.cancel(retry) }
        retry = loop.schedule(after: Self.retryInterval) { [self] in
            retry = nil
            watch()
        }
    }

    /// Accepts a client. A client outside of the private networks, or above the limit, is disconnected by the `deinit`
    /// of its socket.
    private func welcome(_ socket: StreamSocket, isLocal: Bool) {
        guard isLocal || acceptsAll || socket.isPeerPrivate else {
            return Log.info("a client of MPD's protocol outside of the private networks was refused ([mpd] clients)")
        }
        let address = isLocal ? [] : socket.peerAddress
        let network = ClientPlaces.network(of: address)
        switch ClientPlaces(limit: Self.clientLimit).decide(for: network, among: sessions.map { $0.place }) {
        case .welcome: break
        case .replace(let number):
            Log.info("a client of MPD's protocol made room: its address had most of \(Self.clientLimit) places")
            sessions.first { $0.number == number }?.close()
        case .refuse: return Log.info("a client of MPD's protocol was refused: \(Self.clientLimit) are connected")
        }
        lastNumber += 1
        let session = MPDSession(socket, number: lastNumber, address: address, player: player) { [self] number in
            sessions.removeAll { $0.number == number }
        }
        sessions.append(session)
        session.start()
    }

    // MARK: Changes

    private func note(_ parts: MPDSubsystems, _ clients: [UInt64]?) {
        if changes.add(parts, clients) { loop.post { [self] in notify() } }
    }

    /// Reports the changes at the end of the running command lists, but at the latest after a second. A list may wait
    /// for a medium, and another list may begin before its end.
    private func notify() {
        guard changes.areDue else { return }
        if player.listCount == 0 { return report() }
        if changes.deadline == nil { changes.deadline = loop.schedule(after: Self.mostDelay) { [self] in report() } }
    }

    private func report() {
        if let deadline = changes.deadline { loop.cancel(deadline) }
        changes.deadline = nil
        var all = changes.take()
        all.append((player.takeChanges(), nil))
        for session in sessions {
            var parts: MPDSubsystems = []
            for change in all where change.clients?.contains(session.number) ?? true { parts.formUnion(change.parts) }
            if !parts.isEmpty { session.changed(parts) }
        }
    }
}
