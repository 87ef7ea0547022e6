import CLinux
import Crypto
import Platform

/// A client of a port with TLS, from its acceptance to the end of the connection.
///
/// Thread: that of the front. `@unchecked Sendable` is safe because other threads never use it. It and the front refer
/// to each other until `end`.
final class TLSClient: @unchecked Sendable {
    /// The most time for a handshake, in nanoseconds.
    static let handshakeLimit: Int64 = 10_000_000_000
    /// How long the connection stays open after its last byte, in nanoseconds.
    static let lingerLimit: Int64 = 2_000_000_000
    /// The steps of one client before others have their turn.
    private static let stepsOfATurn = 16

    private enum Phase {
        /// The first byte shows whether the client speaks TLS.
        case greeting
        case pumping(TLSPump)
        /// Everything was sent. Bytes that still arrive are discarded: unread ones would reset the connection, and the
        /// client could lose the end of what was sent.
        case lingering
        case ended
    }

    private enum Limit { case handshake, none, lastBytes, linger }

    /// The number of the client, larger than those of earlier clients.
    let number: UInt64
    /// The 16 bytes of its address.
    let address: [UInt8]
    private let socket: StreamSocket
    private let front: TLSFront
    private var phase = Phase.greeting
    private var limit = Limit.none
    private var timer: TimerToken?
    /// Whether `proceedLater` waits for its turn.
    private var isPosted = false
    private var watchedClient: Readiness?
    private var watchedServer: Readiness?

    init(_ socket: StreamSocket, number: UInt64, address: [UInt8], front: TLSFront) {
        self.socket = socket
        self.number = number
        self.address = address
        self.front = front
    }

    /// The values by which `ClientPlaces` decides. The front sees no requests, so the oldest connection makes room.
    var place: ClientPlaces.Client {
        ClientPlaces.Client(
            number: number, network: ClientPlaces.network(of: address), lastRequest: Int64(clamping: number))
    }

    private var isEnded: Bool { if case .ended = phase { true } else { false } }

    func begin() {
        set(.handshake)
        watchClient(for: .readable)
    }

    /// Ends the connection at once. Idempotent.
    func end() {
        if isEnded { return }
        if case .pumping(let pump) = phase {
            watchServer(pump, for: nil)
            pump.sayGoodbye(front.buffer)
        }
        phase = .ended
        front.loop.unwatch(socket.descriptor)
        set(.none)
        front.ended(self)
    }

    private func clientIsReady(_ readiness: Readiness) {
        // The connection was reset, or both sides have ended.
        if !readiness.isDisjoint(with: [.error, .hangUp]) { return end() }
        switch phase {
        case .greeting: greet()
        case .pumping: proceed()
        case .lingering: discard()
        case .ended: break
        }
    }

    // MARK: The first byte

    private func greet() {
        let byte = tonearm_first_byte(socket.descriptor)
        if byte == Int32(TONEARM_NO_BYTE_YET) { return }
        if byte < 0 { return end() }
        // The type of a record of a handshake (RFC 8446, 5.1).
        guard byte == 0x16 else { return greetPlain() }
        do throws(CryptoError) {
            let pump = TLSPump(socket, try TLSServerSession(front.identity)) { [front, socket] in front.connect(socket)
            }
            phase = .pumping(pump)
            proceed()
        } catch {
            end()
        }
    }

    private func greetPlain() {
        if front.servesPlain(socket) {
            front.loop.unwatch(socket.descriptor)
            front.hand(over: socket, of: socket)
            return end()
        }
        Self.refusal.withUnsafeBytes { bytes in
            // The bytes fit into the buffer. The send fails only if the client has gone.
            _ = try? socket.send(bytes)
        }
        linger()
    }

    /// The answer to a client without TLS.
    private static let refusal: [UInt8] = {
        let text = "This port needs an encrypted connection: write https:// before the address.\n"
        return Array(
            ("HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
                + "Content-Length: \(text.utf8.count)\r\n\r\n\(text)").utf8)
    }()

    // MARK: Pumping

    private func proceed() {
        guard case .pumping(let pump) = phase else { return }
        for _ in 0..<Self.stepsOfATurn {
            switch pump.step(front.buffer) {
            case .moved: continue
            case .waiting: return wait(pump)
            case .finished: return finish(pump)
            case .broken: return end()
            }
        }
        wait(pump)
        // The session may have bytes for which no socket becomes ready.
        if !isPosted { front.loop.post { [self] in proceedLater() } }
        isPosted = true
    }

    private func proceedLater() {
        isPosted = false
        proceed()
    }

    private func wait(_ pump: TLSPump) {
        watchServer(pump, for: pump.serverReadiness)
        watchClient(for: pump.clientReadiness)
        guard case .pumping = phase, pump.server != nil else { return }
        set(pump.isFinishing ? .lastBytes : .none)
    }

    private func serverIsReady(_ pump: TLSPump, _ readiness: Readiness) {
        if !readiness.isDisjoint(with: [.error, .hangUp]) { pump.serverHungUp() }
        proceed()
    }

    // MARK: The end

    private func finish(_ pump: TLSPump) {
        watchServer(pump, for: nil)
        linger()
    }

    private func linger() {
        phase = .lingering
        socket.finishSending()
        set(.linger)
        watchClient(for: .readable)
    }

    private func discard() {
        for _ in 0..<Self.stepsOfATurn {
            var count: Int?
            do throws(SystemError) { count = try socket.receive(into: front.buffer) } catch { return end() }
            guard let count else { return }
            if count == 0 { return end() }
        }
    }

    // MARK: Waiting

    private func set(_ limit: Limit) {
        guard limit != self.limit else { return }
        self.limit = limit
        if let timer { front.loop.cancel(timer) }
        let nanoseconds: Int64? =
            switch limit {
            case .handshake: Self.handshakeLimit
            case .lastBytes: Int64(front.limits.idleSeconds) * 1_000_000_000
            case .linger: Self.lingerLimit
            case .none: nil
            }
        timer = nanoseconds.map { nanoseconds in
            front.loop.schedule(after: nanoseconds) { [self] in
                timer = nil
                end()
            }
        }
    }

    private func watchClient(for readiness: Readiness) {
        guard readiness != watchedClient, !isEnded else { return }
        watchedClient = readiness
        do throws(SystemError) {
            try front.loop.watch(socket.descriptor, for: readiness) { [self] in clientIsReady($0) }
        } catch {
            end()
        }
    }

    /// - Parameter readiness: nil to watch it no more.
    private func watchServer(_ pump: TLSPump, for readiness: Readiness?) {
        guard readiness != watchedServer, let server = pump.server else { return }
        watchedServer = readiness
        guard let readiness else { return front.loop.unwatch(server.descriptor) }
        do throws(SystemError) {
            try front.loop.watch(server.descriptor, for: readiness) { [self] in serverIsReady(pump, $0) }
        } catch {
            end()
        }
    }
}
