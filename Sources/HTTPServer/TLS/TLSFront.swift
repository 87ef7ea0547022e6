import CLinux
import Crypto
import Platform

/// TLS in front of an HTTP server that has none: accepts the clients of a port, and gives the server a local connection
/// for each that has finished its handshake (docs/decisions/tls-of-the-page.md).
///
/// Thread: one of its own for all clients, which sleeps while nothing is to be moved; `stop` is for the owner.
/// `@unchecked Sendable` is safe because only this thread uses the state between `start` and `stop`.
final class TLSFront: @unchecked Sendable {
    /// The buffer of the kernel for each direction between it and the server.
    private static let pairBytes: Int32 = 32 << 10

    let identity: TLSIdentity
    let limits: HTTPServer.Limits
    let loop: EventLoop
    /// For plain bytes that are on their way.
    let buffer: UnsafeMutableRawBufferPointer
    private let listener: ClientListener
    private let plainAddress: (@Sendable () -> String?)?
    /// Passes a descriptor and its client to the HTTP server, which copies the descriptor.
    private let add: (_ descriptor: Int32, _ client: Int32) -> Bool
    private(set) var clients: [TLSClient] = []
    private var isRefusing = false
    private var thread: NamedThread?

    /// - Parameters:
    ///   - listener: a socket that listens.
    ///   - plainAddress: returns the address at which HTTP without TLS is served too; nil for nowhere.
    ///   - add: called on the front's thread.
    init(
        on listener: StreamSocket, _ identity: TLSIdentity, limits: HTTPServer.Limits, loop: EventLoop,
        plainAddress: (@Sendable () -> String?)?, add: @escaping (Int32, Int32) -> Bool
    ) {
        self.identity = identity
        self.limits = limits
        self.loop = loop
        self.plainAddress = plainAddress
        self.add = add
        self.listener = ClientListener(listener, on: loop)
        buffer = .allocate(byteCount: TLSServerSession.writeLimit, alignment: 16)
    }

    deinit { buffer.deallocate() }

    /// Starts the thread.
    /// - Throws: when no thread can be made.
    func start() throws(SystemError) {
        loop.post { [self] in
            listener.listen { [self] socket in welcome(socket) }
        }
        thread = try NamedThread.start(name: "web tls", stackSize: 256 << 10) { [loop] in loop.run() }
    }

    /// Gives the HTTP server no more connections from the return of this call on.
    func refuseMore() {
        guard thread != nil else { return }
        let answer = Condition()
        // Safe: `answer` guards it.
        nonisolated(unsafe) var isDone = false
        loop.post { [self] in
            isRefusing = true
            listener.stop()
            answer.update { isDone = true }
        }
        answer.wait { isDone }
    }

    /// Sends what the HTTP server has sent, as far as clients take it now, and ends all connections and the thread.
    /// Idempotent.
    func stop() {
        guard let thread else { return }
        loop.post { [self] in
            for client in clients { client.end() }
        }
        loop.stop()
        thread.join()
        self.thread = nil
    }

    // MARK: On its thread

    /// Takes a client, if there is room for it. Otherwise its connection ends at once.
    private func welcome(_ socket: StreamSocket) {
        let address = socket.peerAddress
        var ofAddress = 0
        for client in clients where client.address == address { ofAddress += 1 }
        guard ofAddress < Int(limits.ofAddress) else { return }
        let places = ClientPlaces(limit: Int(limits.connections))
        switch places.decide(for: ClientPlaces.network(of: address), among: clients.map { $0.place }) {
        case .welcome: break
        case .replace(let number): clients.first { $0.number == number }?.end()
        case .refuse: return
        }
        let client = TLSClient(socket, number: (clients.last?.number ?? 0) + 1, address: address, front: self)
        clients.append(client)
        client.begin()
    }

    // MARK: For its clients

    /// Whether a client without TLS is served.
    func servesPlain(_ client: StreamSocket) -> Bool {
        guard let address = plainAddress?() else { return false }
        return FileName.withBytes(of: address) { tonearm_is_connected_to(client.descriptor, $0) == 1 }
    }

    /// Connects a client with the HTTP server.
    /// - Returns: the end for the plain bytes; nil when the server does not take the connection.
    func connect(_ client: StreamSocket) -> StreamSocket? {
        do throws(SystemError) {
            let (own, served) = try StreamSocket.pair(seconds: 0)
            tonearm_limit_buffers(own.descriptor, Self.pairBytes)
            tonearm_limit_buffers(served.descriptor, Self.pairBytes)
            return hand(over: served, of: client) ? own : nil
        } catch {
            Log.warning("a browser was not served: \(error.description)")
            return nil
        }
    }

    /// Gives the HTTP server a connection.
    @discardableResult
    func hand(over socket: StreamSocket, of client: StreamSocket) -> Bool {
        !isRefusing && add(socket.descriptor, client.descriptor)
    }

    func ended(_ client: TLSClient) {
        clients.removeAll { $0 === client }
        // Each had more than 50 KiB, which the process would hold.
        if clients.isEmpty { malloc_trim(0) }
    }
}
