import Appliance
import Platform
import Queue

/// One client: answers its requests in order, and sends the events to which the client has subscribed.
///
/// Thread: everything runs on the loop's thread; `@unchecked Sendable` is safe for that reason.
final class JSONSession: @unchecked Sendable {
    /// Identifies this client as long as the daemon runs.
    let number: UInt64
    /// The user of the client; nil when it is unknown.
    let user: UInt32?
    private let rights: ClientRights
    /// Whether a reply contains the id of its request. A connection with a single request needs none.
    private let showsIDs: Bool
    private(set) var subscriptions: RemoteEventSet = []
    /// The time of the client's last request, or of its connection, by the daemon's clock.
    private(set) var lastRequest: Int64

    /// The music that the client has collected for its next request that adds music.
    private var collected = FoundMusic()
    private let connection: LineConnection
    private let requests: RequestExecution
    private let searches: MusicSearches
    /// The search for which the client waits.
    private var search: MusicSearch?
    /// The id of a request whose answer is still to come.
    private var pending: JSONValue?
    /// Cancels the work for the pending request when its answer is not needed any more.
    private var cancelPending: (() -> Void)?
    private let clock: any MonotonicClock
    private let process: Int
    /// Called when the client's subscriptions have changed.
    private let subscribed: () -> Void

    /// - Parameter closed: called once, when the client has disconnected.
    init(
        _ socket: StreamSocket, number: UInt64, user: UInt32?, rights: ClientRights, showsIDs: Bool,
        requests: RequestExecution, searches: MusicSearches, loop: EventLoop, clock: any MonotonicClock,
        subscribed: @escaping () -> Void, closed: @escaping (UInt64) -> Void
    ) {
        self.number = number
        self.user = user
        self.rights = rights
        self.showsIDs = showsIDs
        self.requests = requests
        self.searches = searches
        self.subscribed = subscribed
        self.clock = clock
        process = socket.peerProcess
        lastRequest = clock.now()
        connection = LineConnection(socket, loop: loop)
        connection.handlers.receive = { [self] in receive($0) }
        connection.handlers.staysAfterEnd = { [self] in !subscriptions.isEmpty }
        connection.handlers.hungUp = { [self] in cancelWork() }
        connection.handlers.closed = { [self] in
            cancelWork()
            subscriptions = []
            requests.forget(number)
            closed(number)
        }
    }

    /// Cancels all work for a client that has disconnected.
    private func cancelWork() {
        search?.cancel()
        cancelPending?()
    }

    func start() { connection.start() }
    func close() { connection.close() }

    /// Closes the connection because the daemon ends, and first answers a pending request about offline copies.
    func end() {
        if let id = pending {
            pending = nil
            refuse(id, RemoteFailure.ending.reason.rawValue, RemoteFailure.ending.message)
        }
        connection.close()
    }

    /// Whether the client waits for no event and no reply, and holds no focus.
    var isIdle: Bool { subscriptions.isEmpty && !connection.isWaiting && !requests.holdsSomething(for: number) }

    /// Disconnects an idle client to make room for another one.
    func makeRoom() {
        let message = "closed: the connection was idle and the client limit ([control] clients) was reached"
        connection.send(ReplyLines.refusal(shown(.null), code: "idle", message))
        connection.close()
    }

    /// Disconnects a client of a user with many clients, for a client of another user.
    func endForOthers() {
        let message =
            "closed: another user has connected, and the client limit ([control] clients) was reached. Your user has "
            + "the most clients: use fewer connections, or raise the limit."
        connection.send(ReplyLines.refusal(shown(.null), code: "too-many-clients", message))
        connection.close()
    }

    /// Disconnects a client of root, for another client of root.
    func endForRoot() {
        let message = "closed: root has connected again, and the client limit ([control] clients) was reached"
        connection.send(ReplyLines.refusal(shown(.null), code: "too-many-clients", message))
        connection.close()
    }

    // MARK: Requests

    private func receive(_ line: LineSplitter.Line) {
        lastRequest = clock.now()
        let line = RequestLine(line)
        if let kind = line.kind, !rights.allows(kind) {
            return refuse(line.id, RemoteFailure.guest.reason.rawValue, RemoteFailure.guest.message)
        }
        switch line.request {
        case .failure(let error): refuse(line.id, error.code, error.description)
        case .success(let request): perform(request, line)
        }
    }

    private func perform(_ request: RemoteRequest, _ line: RequestLine) {
        switch request {
        case .subscribe(let events):
            answer(line) { () throws(RemoteFailure) in RequestOutcome(reply: requests.statusReply) }
            // The reply contains the status up to here. Events report all later changes.
            subscriptions.formUnion(events)
            subscribed()
        case .unsubscribe(let events):
            answer(line) { () throws(RemoteFailure) in RequestOutcome(reply: requests.statusReply) }
            subscriptions.subtract(events)
            subscribed()
        case .immediate(let request):
            answer(line) { () throws(RemoteFailure) in try requests.perform(request, for: number, rights) }
        case .music(let paths, let use): find(paths, for: use, line)
        case .later(let request): performLater(line) { requests.later.perform(request, $0) }
        }
    }

    private func find(_ paths: [String], for use: RemoteRequest.MusicUse, _ line: RequestLine) {
        let room = if case .queue(let place) = use { requests.room(for: place) } else { PlayQueue.capacity }
        let search: MusicSearch
        do throws(SystemError) {
            search = try MusicSearch(paths, limit: room - collected.count, musicPaths: requests.musicPaths)
        } catch {
            return refuse(line.id, RemoteFailure.Reason.system.rawValue, error.description)
        }
        connection.wait()
        self.search = search
        searches.begin(search) { [self] result in
            self.search = nil
            // The client has disconnected: nothing is added.
            if search.isCancelled { return connection.resume() }
            switch use {
            case .playlist(let name): addToPlaylist(name, result, line)
            case .collection:
                answer(line) { () throws(RemoteFailure) in
                    collected.add(try result.get())
                    return RequestOutcome(reply: .collected(count: collected.count, skipped: collected.skipped))
                }
            case .queue(let place):
                answer(line) { () throws(RemoteFailure) in
                    collected.add(try result.get())
                    let music = collected
                    collected = FoundMusic()
                    return try requests.add(music, place)
                }
            }
        }
    }

    /// Sends the reply when it is ready. The connection waits until then.
    /// - Parameter begin: begins the request, and returns a closure that cancels it.
    private func performLater(
        _ line: RequestLine, _ begin: (@escaping (Result<RemoteReply, RemoteFailure>) -> Void) -> (() -> Void)?
    ) {
        connection.wait()
        pending = line.id
        cancelPending = begin { [self] result in
            // The client already has its answer, because the daemon ends.
            guard pending != nil else { return }
            pending = nil
            cancelPending = nil
            switch result {
            case .success(let reply): send(ReplyLines.reply(shown(line.id), reply))
            case .failure(let error): refuse(line.id, error.reason.rawValue, error.message)
            }
            connection.resume()
        }
    }

    /// Adds the collected and the found music to a stored playlist.
    private func addToPlaylist(_ name: String, _ found: Result<FoundMusic, RemoteFailure>, _ line: RequestLine) {
        var music = collected
        collected = FoundMusic()
        performLater(line) { answer in
            switch found {
            case .failure(let error): answer(.failure(PlaylistExecution.failure(error)))
            case .success(let found):
                music.add(found)
                requests.later.playlists.add(music, to: name) { answer($0.map { .playlist($0) }) }
            }
            return nil
        }
    }

    /// Answers when the effect of the request is complete. The connection waits until then.
    private func answer(_ line: RequestLine, _ perform: () throws(RemoteFailure) -> RequestOutcome) {
        do throws(RemoteFailure) {
            let outcome = try perform()
            let reply = ReplyLines.reply(shown(line.id), outcome.reply, notice: line.notice)
            connection.wait()
            requests.when(outcome.completion) { [self] in
                send(reply)
                connection.resume()
            }
        } catch {
            refuse(line.id, error.reason.rawValue, error.message)
            connection.resume()
        }
    }

    private func refuse(_ id: JSONValue, _ code: String, _ message: String) {
        // Discards the collected music, which would be only a part of the request.
        collected = FoundMusic()
        send(ReplyLines.refusal(shown(id), code: code, message))
    }

    private func shown(_ id: JSONValue) -> JSONValue? { showsIDs ? id : nil }

    // MARK: Lines

    /// Sends an event that the client has subscribed to.
    /// - Parameter line: the encoded event.
    func notify(_ event: RemoteEventSet, _ line: [UInt8]) {
        guard subscriptions.contains(event) else { return }
        // Skips a position for a slow client, because the next one replaces it.
        if event == .position, !connection.isDrained { return }
        send(line)
    }

    private func send(_ line: [UInt8]) {
        if connection.send(line) { return }
        Log.info("control client \(number) (process \(process)) does not read what it has subscribed to; it is cut off")
        connection.close()
    }
}
