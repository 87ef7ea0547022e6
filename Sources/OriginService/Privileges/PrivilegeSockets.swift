import HTTPServer
import Platform

/// The WebSockets of all players, on one thread, and their privileges (docs/service.md, "Streaming privileges"). One
/// origin is one subscription.
///
/// Thread: any. `stop` must be called before the server ends.
/// `@unchecked Sendable` is safe because `lock` guards `places`, and only the loop's thread uses the other mutable
/// state.
final class PrivilegeSockets: @unchecked Sendable {
    private struct Player {
        var socket: ServedWebSocket
        /// The name for users.
        var name: String
        /// The name for programs.
        var session: String
        /// The player's own name for itself, which all of its connections have.
        var identity: String?
        /// The number of its last press.
        var press: Int64 = 0
    }

    /// The most open ones.
    static let most = 100
    /// How long players have for the answer to the end of the service, in nanoseconds.
    private static let timeToEnd: Int64 = 1_000_000_000

    private let loop: EventLoop
    private let thread: NamedThread
    private let limits: WebSocketMachine.Limits
    /// Returns milliseconds since 1970.
    private let now: @Sendable () -> Int64
    private let lock = Lock()
    /// Guarded by `lock`.
    private var places = ConnectionPlaces()
    private var players: [UInt64: Player] = [:]
    private var sessions: PrivilegedSessions
    private var nextNumber: UInt64 = 0

    /// - Parameter sessions: how many players may be privileged at once; nil for all.
    init(
        sessions: Int?, limits: WebSocketMachine.Limits = .ofServer, now: @escaping @Sendable () -> Int64
    ) throws(SystemError) {
        self.limits = limits
        self.now = now
        self.sessions = PrivilegedSessions(limit: sessions)
        let loop = try EventLoop()
        self.loop = loop
        thread = try NamedThread.start(name: "privileges") { loop.run() }
    }

    /// Whether there is room for another WebSocket.
    var hasRoom: Bool { lock.withLock { places.hasRoom } }

    /// The number of players that are notified of each other's presses. A connection that was just taken is not yet
    /// one of them.
    var connectionCount: Int { lock.withLock { places.openCount } }

    /// Takes a connection whose upgrade was answered.
    func add(_ socket: UpgradedSocket, client: String, fault: DeliveryFault.SocketFault?) {
        let isTaken = lock.withLock {
            guard places.take() else { return false }
            loop.post { [self] in open(socket, client, fault) }
            return true
        }
        if !isTaken { Self.refuse(socket) }
    }

    /// Ends a connection that was answered before the service ended and arrives afterwards. It ends like all others.
    private static func refuse(_ socket: UpgradedSocket) {
        let frames = [
            WebSocketFrame(.text, Array(PrivilegeMessage.reconnect.utf8)), WebSocketFrame(closing: 1001),
        ]
        // Nothing was sent before: there is room for both.
        _ = socket.send(frames.flatMap { $0.bytes(mask: nil) })
        socket.close()
    }

    /// Asks all players to connect again, and closes all. Waits until they have answered, a second at most. Idempotent.
    func stop() {
        guard lock.withLock({ places.close() }) else { return }
        loop.post { [self] in beginEnd() }
        thread.join()
    }

    // MARK: On the loop's thread

    private func open(_ socket: UpgradedSocket, _ client: String, _ fault: DeliveryFault.SocketFault?) {
        let number = nextNumber
        nextNumber += 1
        let served = ServedWebSocket(socket, on: loop, limits: limits) { [self] text in
            received(text, from: number)
        } ended: { [self] in
            ended(number)
        }
        players[number] = Player(socket: served, name: client, session: SystemRandomSource().uuid())
        lock.withLock { places.openCount = players.count }
        switch fault {
        case .drop: return served.end()
        case .reconnect: served.send(PrivilegeMessage.reconnect)
        case .garbage:
            served.send("garbage \u{0}{\"type\":")
            served.send(bytes: [UInt8](repeating: 0xFF, count: 16))
        case nil: break
        }
        served.proceed()
    }

    private func received(_ text: String, from number: UInt64) {
        guard let action = PrivilegeMessage.action(text, now: now()) else { return }
        players[number]?.identity = action.player
        players[number]?.press = action.press ?? 0
        let isSame = { [players] (other: UInt64) in action.player != nil && players[other]?.identity == action.player }
        // A former connection of the player may not have ended yet.
        for holder in sessions.holders where holder.session != number && isSame(holder.session) {
            sessions.end(holder.session)
        }
        // The system's clock may be set back.
        switch sessions.press(number, startedAt: loop.now / 1_000_000 - action.age) {
        case .unlimited: break
        case .refused(let holder): notify([number], of: holder)
        case .privileged: notify(players.keys.filter { !sessions.isPrivileged($0) && !isSame($0) }, of: number)
        }
    }

    private func notify(_ numbers: [UInt64], of holder: UInt64) {
        guard let player = players[holder], let press = sessions.holders.first(where: { $0.session == holder })
        else { return }
        for number in numbers {
            guard let receiver = players[number] else { continue }
            receiver.socket.send(
                PrivilegeMessage.notification(
                    name: player.name, session: player.session, age: loop.now / 1_000_000 - press.startedAt,
                    press: receiver.identity == nil && receiver.press == 0 ? nil : receiver.press, now: now()))
        }
    }

    private func ended(_ number: UInt64) {
        guard players.removeValue(forKey: number) != nil else { return }
        sessions.end(number)
        let isLast = lock.withLock {
            places.openCount = players.count
            return places.leave()
        }
        if isLast { loop.stop() }
    }

    private func beginEnd() {
        guard !players.isEmpty else { return loop.stop() }
        loop.schedule(after: Self.timeToEnd) { [self] in
            for player in Array(players.values) { player.socket.end() }
        }
        for player in Array(players.values) {
            player.socket.send(PrivilegeMessage.reconnect)
            player.socket.close(code: 1001)
        }
    }
}

/// The connections that were taken and have not ended: a limited number.
private struct ConnectionPlaces {
    /// The number of connections that are players.
    var openCount = 0
    private var count = 0
    private var isClosed = false

    var hasRoom: Bool { count < PrivilegeSockets.most && !isClosed }

    /// Takes a place.
    /// - Returns: false when there is none.
    mutating func take() -> Bool {
        guard hasRoom else { return false }
        count += 1
        return true
    }

    /// Gives a place back.
    /// - Returns: whether it was the last one after `close`.
    mutating func leave() -> Bool {
        count -= 1
        return isClosed && count == 0
    }

    /// Gives no more places.
    /// - Returns: false when it was closed before.
    mutating func close() -> Bool {
        defer { isClosed = true }
        return !isClosed
    }
}

extension WebSocketMachine.Limits {
    /// A lost player is detected after 70 s. Players that receive pings send none of their own (docs/playback.md, 20).
    static var ofServer: Self {
        var limits = Self()
        limits.pingInterval = 50_000_000_000
        return limits
    }
}
