import Crypto
import Platform

/// Moves the bytes of one TLS connection: encrypted ones from and to the client, plain ones from and to the HTTP
/// server. A side that does not read stops the side that sends, so the memory is bounded.
///
/// Thread: that of the front.
final class TLSPump {
    /// The result of one step.
    enum Step {
        case moved
        /// Nothing can be done until one of the sockets is ready.
        case waiting
        /// All was sent, and no more follows.
        case finished
        /// The client has closed or broken the connection.
        case broken
    }

    private enum State {
        case handshake, open
        /// No more plain bytes are moved; the output still has to be sent.
        case ending
    }

    /// More than the bytes that the kernel holds between the front and the HTTP server.
    private static let lastSteps = 64

    private let client: StreamSocket
    private var session: TLSServerSession
    private var state = State.handshake
    /// Makes the connection to the HTTP server; nil when it does not take one.
    private let connect: () -> StreamSocket?
    /// Plain bytes that the HTTP server has not taken yet.
    private var requests = ByteQueue(capacity: 4096)
    /// Whether the client has ended its side.
    private var hasClientEnded = false
    /// Whether the HTTP server was notified of the client's end.
    private var hasFinishedRequests = false

    /// The end of the HTTP server's connection, from the handshake on.
    private(set) var server: StreamSocket?
    /// Whether the HTTP server has closed its end. Reading its last bytes does not wait.
    private var isServerGone = false

    init(_ client: StreamSocket, _ session: consuming TLSServerSession, connect: @escaping () -> StreamSocket?) {
        self.client = client
        self.session = session
        self.connect = connect
    }

    // Without a deinit, Embedded Swift would release the stored owners in another module.
    deinit {}

    /// Whether only bytes are left that the HTTP server has sent already.
    var isFinishing: Bool { state == .ending || isServerGone }

    /// The readiness of the client's socket that a step needs.
    var clientReadiness: Readiness {
        var readiness: Readiness = []
        if !session.output.isEmpty { readiness.insert(.writable) }
        let wantsInput =
            switch state {
            case .handshake: session.output.isEmpty
            case .open: requests.isEmpty && !hasClientEnded
            case .ending: false
            }
        if wantsInput, !session.isInputFull { readiness.insert(.readable) }
        return readiness
    }

    /// The readiness of the server's socket that a step needs; nil when it need not be watched.
    var serverReadiness: Readiness? {
        guard server != nil, state == .open, !isServerGone else { return nil }
        var readiness: Readiness = []
        if !requests.isEmpty { readiness.insert(.writable) }
        if session.output.isEmpty { readiness.insert(.readable) }
        return readiness
    }

    /// Notes that the HTTP server has closed its end.
    func serverHungUp() { isServerGone = true }

    /// Sends the last bytes and the end of the connection to the client, if there is room for them now.
    func sayGoodbye(_ buffer: UnsafeMutableRawBufferPointer) {
        for _ in 0..<Self.lastSteps {
            guard state != .handshake, case .moved = step(buffer) else { break }
        }
        if state == .open, session.output.isEmpty { session.close() }
        state = .ending
        _ = try? sendOutput()
    }

    /// Moves bytes in both directions, without waiting.
    /// - Parameter buffer: memory for plain bytes, of `TLSServerSession.writeLimit`.
    func step(_ buffer: UnsafeMutableRawBufferPointer) -> Step {
        do throws(SystemError) {
            var hasMoved = try sendOutput()
            switch state {
            case .handshake: hasMoved = try shakeHands() || hasMoved
            case .open:
                hasMoved = try moveRequests() || hasMoved
                if state == .open { hasMoved = moveAnswers(buffer) || hasMoved }
            case .ending: if session.output.isEmpty { return .finished }
            }
            return hasMoved ? .moved : .waiting
        } catch {
            return .broken
        }
    }

    /// - Returns: whether bytes were moved, as all of these functions.
    private func sendOutput() throws(SystemError) -> Bool {
        let output = session.output
        guard !output.isEmpty, let count = try client.send(output) else { return false }
        session.sent(count)
        return true
    }

    private func receiveInput() throws(SystemError) -> Bool {
        let room = session.inputRoom()
        guard !room.isEmpty, let count = try client.receive(into: room) else { return false }
        if count == 0 { hasClientEnded = true }
        session.received(count)
        return true
    }

    private func shakeHands() throws(SystemError) -> Bool {
        switch session.handshake() {
        case .done:
            server = connect()
            state = .open
            if server == nil {
                session.close()
                state = .ending
            }
            return true
        case .failed:
            state = .ending
            return true
        case .waiting:
            guard session.output.isEmpty else { return false }
            let hasMoved = try receiveInput()
            if hasClientEnded { state = .ending }
            return hasMoved
        }
    }

    /// Moves bytes from the client to the server.
    private func moveRequests() throws(SystemError) -> Bool {
        var hasMoved = giveRequests()
        if requests.isEmpty, !hasClientEnded {
            switch session.read(into: requests.room()) {
            case .bytes(let count):
                requests.added(count)
                hasMoved = true
            case .waiting: hasMoved = try receiveInput() || hasMoved
            case .end:
                hasClientEnded = true
                hasMoved = true
            case .failed:
                state = .ending
                return true
            }
        }
        if hasClientEnded, requests.isEmpty, !hasFinishedRequests {
            hasFinishedRequests = true
            server?.finishSending()
        }
        return hasMoved
    }

    private func giveRequests() -> Bool {
        guard !requests.isEmpty, let server else { return false }
        do throws(SystemError) {
            guard let count = try server.send(requests.bytes) else { return false }
            requests.removed(count)
        } catch {
            // The server reads no more; its answer may still be on the way.
            requests.removeAll()
            hasClientEnded = true
        }
        return true
    }

    /// Moves bytes from the server to the client.
    private func moveAnswers(_ buffer: UnsafeMutableRawBufferPointer) -> Bool {
        guard session.output.isEmpty, let server else { return false }
        var count: Int?
        // Closing a local socket with unread bytes resets the connection after the bytes that were sent.
        do throws(SystemError) { count = try server.receive(into: buffer) } catch { count = 0 }
        guard let count else { return false }
        if count == 0 {
            session.close()
            state = .ending
        } else if !session.write(UnsafeRawBufferPointer(rebasing: buffer[..<count])) {
            state = .ending
        }
        return true
    }
}
