import CCurl
import Platform

/// A WebSocket from its connection to its end: moves bytes between libcurl and the values that understand them.
///
/// Thread: network.
final class RunningWebSocket {
    let connection: ServerConnection
    private let sink: any WebSocketSink
    private let address: WebAddress
    private let settings: NetworkSettings
    private let loop: EventLoop
    private var upgrade: WebSocketUpgrade
    /// nil until the server has accepted.
    private var machine: WebSocketMachine?
    private var output = UnsentBytes()
    private var timer: TimerToken?
    /// Called once, before the sink is notified of the end.
    private var whenEnded: (() -> Void)?

    /// The bytes of one read, and the number of reads before other work has its turn.
    private static let receiveSize = 16_384
    private static let receivesPerTurn = 4

    init(
        _ request: WebSocketRequest, to address: WebAddress, into sink: any WebSocketSink,
        connection: ServerConnection, settings: NetworkSettings, on loop: EventLoop, whenEnded: @escaping () -> Void
    ) {
        self.connection = connection
        self.sink = sink
        self.address = address
        self.settings = settings
        self.loop = loop
        self.whenEnded = whenEnded
        upgrade = WebSocketUpgrade(
            address, headers: request.headers, userAgent: settings.userAgent, nonce: SystemRandomSource().bytes(16))
    }

    // MARK: The connection

    func start(on multi: MultiHandle) {
        connection.configure()
        connection.handle.set(CURLOPT_CONNECT_ONLY, 1)
        connection.handle.set(CURLOPT_HTTPPROXYTUNNEL, 1)
        connection.prepare(for: address)
        if let error = connection.start(on: multi) { end(.failed(error)) }
    }

    /// libcurl has connected, or failed.
    func connected(_ code: CURLcode) {
        guard code == CURLE_OK, connection.handle.descriptor != CURL_SOCKET_BAD else { return fail(code) }
        output.append(upgrade.request)
        proceed()
    }

    private func fail(_ code: CURLcode) { end(.failed(connection.error(code, isSecure: address.isSecure))) }

    /// Reads and sends as much as possible, and waits for the rest.
    private func proceed() {
        // Without the connection the descriptor may already be another one's.
        let descriptor = connection.handle.descriptor
        let hasMore = read()
        write()
        guard whenEnded != nil else { return }
        do throws(SystemError) {
            let readiness: Readiness = output.isEmpty ? .readable : [.readable, .writable]
            try loop.watch(descriptor, for: readiness) { [self] _ in proceed() }
        } catch {
            return end(.failed(.library(code: Int(error.code), reason: error.description)))
        }
        rearm()
        // The TLS library may hold bytes that epoll(7) does not report.
        if hasMore { loop.schedule(after: 0) { [self] in if whenEnded != nil { proceed() } } }
    }

    /// - Returns: whether there may be more to read.
    private func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: Self.receiveSize)
        for _ in 0..<Self.receivesPerTurn {
            let (code, count) = buffer.withUnsafeMutableBytes { connection.handle.receive(into: $0) }
            if code == CURLE_AGAIN { return false }
            if code != CURLE_OK || count == 0 {
                lost(code)
                return false
            }
            buffer.withUnsafeBytes { received(UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
            if whenEnded == nil { return false }
        }
        return true
    }

    private func write() {
        guard whenEnded != nil else { return }
        if let code = output.send({ connection.handle.send($0) }) { lost(code) }
    }

    /// The connection has ended. After `close` this is not a failure.
    private func lost(_ code: CURLcode) {
        if case .ended(.closedHere)? = machine?.disconnected().first { return end(.cancelled) }
        if code == CURLE_OK { end(.failed(.connection(.lost))) } else { fail(code) }
    }

    // MARK: Bytes and texts

    private func received(_ bytes: UnsafeRawBufferPointer) {
        if let outputs = machine?.receive(bytes, at: loop.now) { return handle(outputs) }
        connection.progress()
        switch upgrade.receive(bytes, now: settings.clock.now().seconds) {
        case .more: break
        case .failed(let error): end(.failed(error))
        case .refused(let head):
            if let refusal = connection.judge(head) { return end(.failed(refusal)) }
            end(.refused(status: head.status, retryAfter: head.retryAfter))
        case .accepted(let head, let used):
            if let refusal = connection.judge(head) { return end(.failed(refusal)) }
            // From here on the pings limit the silence.
            connection.pause()
            var limits = WebSocketMachine.Limits()
            limits.pingInterval = Int64(settings.webSocketPingInterval) * 1_000_000
            limits.patience = Int64(settings.webSocketPingTimeout) * 1_000_000
            machine = WebSocketMachine(.client, limits: limits, at: loop.now)
            sink.opened()
            received(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(used)))
        }
    }

    func send(_ text: String) {
        handle(machine?.send(text) ?? [])
        flush()
    }

    /// Begins the close handshake; without an open WebSocket it ends at once.
    func close(code: UInt16) {
        guard machine != nil else { return end(.cancelled) }
        handle(machine?.close(code: code, at: loop.now) ?? [])
        flush()
    }

    private func flush() { if machine != nil, whenEnded != nil { proceed() } }

    private func handle(_ outputs: [WebSocketMachine.Output]) {
        for output in outputs {
            switch output {
            case .send(let frame):
                let mask = SystemRandomSource().bytes(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                self.output.append(frame.bytes(mask: mask))
            case .text(let text): sink.received(text)
            case .ended(let end):
                // The close frame. An error no longer matters.
                _ = self.output.send { connection.handle.send($0) }
                self.end(WebSocketEnd(end))
            }
        }
        if output.isTooLong { end(.failed(.connection(.lost))) }
    }

    // MARK: Time and the end

    private func rearm() {
        if let timer { loop.cancel(timer) }
        timer = nil
        guard let deadline = machine?.deadline else { return }
        timer = loop.schedule(after: deadline - loop.now) { [self] in
            timer = nil
            handle(machine?.timePassed(at: loop.now) ?? [])
            flush()
        }
    }

    /// Closes the connection and ends the WebSocket, in any state. Idempotent.
    func end(_ end: WebSocketEnd) {
        guard let whenEnded else { return }
        self.whenEnded = nil
        whenEnded()
        let descriptor = connection.handle.descriptor
        // Before libcurl closes it.
        if descriptor != CURL_SOCKET_BAD { loop.unwatch(descriptor) }
        if let timer { loop.cancel(timer) }
        timer = nil
        connection.end()
        connection.multi?.close()
        sink.closed(end)
    }
}

extension WebSocketEnd {
    fileprivate init(_ end: WebSocketMachine.End) {
        switch end {
        case .closed(let code): self = .closed(code: code)
        case .closedHere: self = .cancelled
        case .fault(let fault): self = .failed(.webSocket(fault))
        case .silence: self = .failed(.timeOut(.body))
        case .lost: self = .failed(.connection(.lost))
        }
    }
}

/// Bytes that wait until the connection takes them.
private struct UnsentBytes {
    /// More unsent bytes mean that the server does not read.
    private static let limit = 262_144

    private var bytes: [UInt8] = []
    /// The size of the last attempt, when the connection took nothing. The next one must be the same.
    private var attempt: Int?

    var isEmpty: Bool { bytes.isEmpty }
    var isTooLong: Bool { bytes.count > Self.limit }

    mutating func append(_ more: [UInt8]) { bytes += more }

    /// Sends as much as possible.
    /// - Returns: the error that ends the connection; nil without one.
    mutating func send(_ send: (UnsafeRawBufferPointer) -> (code: CURLcode, count: Int)) -> CURLcode? {
        while !bytes.isEmpty {
            let size = attempt ?? bytes.count
            let (code, count) = bytes.withUnsafeBytes { send(UnsafeRawBufferPointer(rebasing: $0.prefix(size))) }
            attempt = code == CURLE_AGAIN ? size : nil
            if code == CURLE_AGAIN { return nil }
            if code != CURLE_OK { return code }
            bytes.removeFirst(count)
        }
        return nil
    }
}
