import Platform

/// One client: answers its requests in their order, and tells it what it has subscribed to.
///
/// Thread: the loop's.
final class ControlSession: @unchecked Sendable {
    /// Tells this client from all others, as long as the daemon runs.
    let number: UInt64
    private(set) var subscriptions: ControlEventSet = []
    /// When it last asked for something, or came; by the daemon's clock.
    private(set) var lastRequest: Int64

    private let connection: LineConnection
    private let requests: ControlRequests
    private let process: Int
    /// Its subscriptions have changed.
    private let subscribed: () -> Void

    /// - Parameter closed: called once, when the client is gone.
    init(
        _ socket: LocalSocket, number: UInt64, requests: ControlRequests, subscribed: @escaping () -> Void,
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
        connection.send(ControlMessages.refusal(.null, code: "idle", message))
        connection.close()
    }

    // MARK: Requests

    private func receive(_ line: LineSplitter.Line) {
        lastRequest = requests.daemon.clock.now()
        let line = ControlLine(line)
        switch line.request {
        case .failure(let error): send(ControlMessages.refusal(line.id, code: error.code, error.description))
        case .success(let request): perform(request, line.id)
        }
    }

    private func perform(_ request: ControlRequest, _ id: JSONValue) {
        if case .music(let paths, let place) = request { return add(paths, place, request, id) }
        answer(request, id) { () throws(ControlFailure) in try requests.perform(request, for: number) }
        // From here on: the status in the reply is that of now.
        switch request {
        case .subscribe(let events): subscriptions.formUnion(events)
        case .unsubscribe(let events): subscriptions.subtract(events)
        default: return
        }
        subscribed()
    }

    private func add(
        _ paths: [String], _ place: ControlRequest.MusicPlace, _ request: ControlRequest, _ id: JSONValue
    ) {
        connection.wait()
        MusicSearch.start(paths, loop: requests.daemon.loop) { [self] result in
            // Who asked may have gone since; it is done all the same.
            answer(request, id) { () throws(ControlFailure) in try requests.add(try result.get(), place) }
        }
    }

    /// Answers when what was asked for has really happened; until then the connection waits.
    private func answer(
        _ request: ControlRequest, _ id: JSONValue, _ perform: () throws(ControlFailure) -> [JSONValue.Member]
    ) {
        do throws(ControlFailure) {
            let reply = ControlMessages.reply(id, try perform())
            connection.wait()
            requests.whenDone(request) { [self] in
                send(reply)
                connection.goOn()
            }
        } catch {
            send(ControlMessages.refusal(id, code: error.code, error.message))
            connection.goOn()
        }
    }

    // MARK: Lines

    /// - Parameter place: of the event in the list of all.
    func tell(_ line: [UInt8], _ place: Int) {
        let event = ControlEventSet(place)
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
