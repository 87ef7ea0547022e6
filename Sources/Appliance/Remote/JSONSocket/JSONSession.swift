import Platform

/// One client: answers its requests in their order, and tells it what it has subscribed to.
///
/// Thread: the loop's.
final class JSONSession: @unchecked Sendable {
    /// Tells this client from all others, as long as the daemon runs.
    let number: UInt64
    private(set) var subscriptions: RemoteEventSet = []
    /// When it last asked for something, or came; by the daemon's clock.
    private(set) var lastRequest: Int64

    /// What it has collected for its next request that brings music into the queue.
    private var collected = FoundMusic()
    private let connection: LineConnection
    private let requests: RequestExecution
    private let process: Int
    /// Its subscriptions have changed.
    private let subscribed: () -> Void

    /// - Parameter closed: called once, when the client is gone.
    init(
        _ socket: LocalSocket, number: UInt64, requests: RequestExecution, subscribed: @escaping () -> Void,
        closed: @escaping (UInt64) -> Void
    ) {
        self.number = number
        self.requests = requests
        self.subscribed = subscribed
        process = socket.peerProcess
        lastRequest = requests.daemon.clock.now()
        connection = LineConnection(socket, loop: requests.daemon.loop)
        connection.receive = { [self] in receive($0) }
        connection.staysAfterEnd = { [self] in !subscriptions.isEmpty }
        connection.closed = { [self] in
            subscriptions = []
            requests.forget(number)
            closed(number)
        }
    }

    func start() { connection.start() }
    func close() { connection.close() }

    /// Whether it waits for nothing that the daemon would have to tell it or do for it.
    var isIdle: Bool { subscriptions.isEmpty && !connection.isWaiting && !requests.holdsSomething(for: number) }

    /// Ends an idle client for another one.
    func makeRoom() {
        let message = "closed after a long silence: another client needed the place ([control] clients)"
        connection.send(ReplyLines.refusal(.null, code: "idle", message))
        connection.close()
    }

    // MARK: Requests

    private func receive(_ line: LineSplitter.Line) {
        lastRequest = requests.daemon.clock.now()
        let line = RequestLine(line)
        switch line.request {
        case .failure(let error): refuse(line.id, error.code, error.description)
        case .success(let request): perform(request, line.id)
        }
    }

    private func perform(_ request: RemoteRequest, _ id: JSONValue) {
        switch request {
        case .collect(let paths), .music(let paths, _): return find(paths, for: request, id)
        default: break
        }
        answer(request, id) { () throws(RemoteFailure) in try requests.perform(request, for: number) }
        // From here on: the status in the reply is that of now.
        switch request {
        case .subscribe(let events): subscriptions.formUnion(events)
        case .unsubscribe(let events): subscriptions.subtract(events)
        default: return
        }
        subscribed()
    }

    private func find(_ paths: [String], for request: RemoteRequest, _ id: JSONValue) {
        connection.wait()
        MusicSearch.start(paths, loop: requests.daemon.loop) { [self] result in
            // Who asked may have gone since; it is done all the same.
            answer(request, id) { () throws(RemoteFailure) in
                collected.add(try result.get())
                return try useCollected(for: request)
            }
        }
    }

    private func useCollected(for request: RemoteRequest) throws(RemoteFailure) -> [JSONValue.Member] {
        if case .music(_, let place) = request {
            let music = collected
            collected = FoundMusic()
            return try requests.add(music, place)
        }
        if collected.files.count > PlayQueue.capacity { throw RemoteFailure(.full(limit: PlayQueue.capacity)) }
        return [.init("collected", JSONValue(collected.files.count)), .init("skipped", JSONValue(collected.skipped))]
    }

    /// Answers when what was asked for has really happened; until then the connection waits.
    private func answer(
        _ request: RemoteRequest, _ id: JSONValue, _ perform: () throws(RemoteFailure) -> [JSONValue.Member]
    ) {
        do throws(RemoteFailure) {
            let reply = ReplyLines.reply(id, try perform())
            connection.wait()
            requests.whenDone(request) { [self] in
                send(reply)
                connection.goOn()
            }
        } catch {
            refuse(id, error.code, error.message)
            connection.goOn()
        }
    }

    private func refuse(_ id: JSONValue, _ code: String, _ message: String) {
        // It would be a part only of what was meant.
        collected = FoundMusic()
        send(ReplyLines.refusal(id, code: code, message))
    }

    // MARK: Lines

    /// - Parameter place: of the event in the list of all.
    func tell(_ line: [UInt8], _ place: Int) {
        let event = RemoteEventSet(place)
        guard subscriptions.contains(event) else { return }
        // The next position tells all that this one does.
        if event == .position, !connection.isDrained { return }
        send(line)
    }

    private func send(_ line: [UInt8]) {
        if connection.send(line) { return }
        Log.info("control client \(number) (process \(process)) does not read what it has subscribed to; it is cut off")
        connection.close()
    }
}
