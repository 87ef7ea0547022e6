import Appliance
import Platform
import Queue

/// The clients of the control protocol: answers their requests, and sends them the events to which they have
/// subscribed. `docs/control.md` documents the protocol.
///
/// Thread: everything runs on the thread of the daemon's loop; `@unchecked Sendable` is safe for that reason.
final class JSONSessions: @unchecked Sendable {
    private static let positionInterval: Int64 = 1_000_000_000

    private let loop: EventLoop
    private let clock: any MonotonicClock
    private let queue: QueueConductor
    private let observers: DaemonObservers
    /// Only tests change `requests` and `searches`, before a client connects.
    var requests: RequestExecution
    var searches: MusicSearches
    private var observer: UInt64 = 0
    private(set) var sessions: [JSONSession] = []
    private let nextNumber: () -> UInt64
    /// The timer for positions; set only while the position changes and a client has subscribed to it.
    private var positionTimer: TimerToken?

    /// - Parameter version: the version of the program, for the request `version`.
    init(_ daemon: Daemon, version: String) {
        loop = daemon.loop
        clock = daemon.environment.clock
        queue = daemon.queue
        observers = daemon.observers
        requests = RequestExecution(daemon, version: version)
        searches = MusicSearches(loop: loop)
        nextNumber = { daemon.focus.newHolder() }
    }

    /// Begins to send events.
    func start() {
        loop.assertOnLoop()
        observer = observers.add { [self] in receive($0) }
    }

    /// Disconnects all clients. Those that wait for a reply get one first.
    func stop() {
        loop.assertOnLoop()
        observers.remove(observer)
        for session in sessions { session.end() }
        updatePositionTimer()
    }

    /// Takes a connected client.
    /// - Parameters:
    ///   - user: the user of the client; nil when it is unknown.
    ///   - showsIDs: whether a reply has the id of its request.
    func begin(_ socket: StreamSocket, user: UInt32?, rights: ClientRights = .all, showsIDs: Bool = true) {
        let session = JSONSession(
            socket, number: nextNumber(), user: user, rights: rights, showsIDs: showsIDs, requests: requests,
            searches: searches, loop: loop, clock: clock, subscribed: { [self] in updatePositionTimer() },
            closed: { [self] in forget($0) })
        sessions.append(session)
        session.start()
    }

    private func forget(_ number: UInt64) {
        sessions.removeAll { $0.number == number }
        updatePositionTimer()
    }

    // MARK: Events

    private func receive(_ change: DaemonEvent) {
        notify(change)
        if change == .state { updatePositionTimer() }
    }

    private func notify(_ change: DaemonEvent) {
        let kind = RemoteEventSet(change)
        guard sessions.contains(where: { $0.subscriptions.contains(kind) }) else { return }
        let line = ReplyLines.event(requests.event(change))
        // Iterate over a copy: sending may end a session.
        for session in sessions { session.notify(kind, line) }
    }

    private func updatePositionTimer() {
        let isWanted = sessions.contains { $0.subscriptions.contains(.position) } && queue.playback == .playing
        if !isWanted, let timer = positionTimer {
            loop.cancel(timer)
            positionTimer = nil
        } else if isWanted, positionTimer == nil {
            positionTimer = loop.schedule(after: Self.positionInterval) { [self] in
                positionTimer = nil
                notify(.positionJumped)
                updatePositionTimer()
            }
        }
    }
}
