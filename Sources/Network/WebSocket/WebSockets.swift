import CCurl
import Platform

/// All WebSockets of a `Network`, on its thread.
/// `@unchecked Sendable` is safe because only the loop's thread uses it after `init`.
final class WebSockets: @unchecked Sendable {
    private let settings: NetworkSettings
    private let authorities: CertificateAuthorities
    private let peers: KnownPeers
    private let loop: EventLoop
    private var running: [UInt64: RunningWebSocket] = [:]
    private var isOfflineMode = false
    private var isClosed = false

    /// - Parameter transfers: shares its authorities and known addresses.
    init(_ settings: NetworkSettings, with transfers: Transfers, on loop: EventLoop) {
        self.settings = settings
        self.loop = loop
        authorities = transfers.authorities
        peers = transfers.peers
    }

    func open(_ request: WebSocketRequest, _ number: UInt64, into sink: any WebSocketSink) {
        loop.assertOnLoop()
        if isClosed { return sink.closed(.cancelled) }
        if isOfflineMode { return sink.closed(.failed(.offlineMode)) }
        guard let address = request.address else { return sink.closed(.failed(.invalidRequest(.url))) }
        if let header = request.headers.first(where: { !$0.isValid }) {
            return sink.closed(.failed(.invalidRequest(.header(name: header.name))))
        }
        // A handle of its own: docs/decisions/websocket.md.
        let multi = MultiHandle(on: loop, maximumConnectionsPerHost: 1, maximumIdleConnections: 1) {
            [self] _, code in running[number]?.connected(code)
        }
        guard let handle = EasyHandle(), let multi else { return sink.closed(.failed(.outOfMemory)) }
        let way = TransferWay(
            settings.links, proxy: settings.proxy, peers: peers, mayUseMeteredLink: request.mayUseMeteredLink)
        let connection = ServerConnection(
            handle, settings: settings, verification: ServerVerification(authorities, clock: settings.clock), way: way,
            on: loop
        ) { [self] phase in running[number]?.end(.failed(.timeOut(phase))) }
        let new = RunningWebSocket(
            request, to: address, into: sink, connection: connection, settings: settings, on: loop
        ) { [self] in running[number] = nil }
        running[number] = new
        new.start(on: multi)
    }

    func send(_ text: String, on number: UInt64) {
        loop.assertOnLoop()
        running[number]?.send(text)
    }

    func close(_ number: UInt64, code: UInt16) {
        loop.assertOnLoop()
        running[number]?.close(code: code)
    }

    /// Ends all, for ever.
    func close() {
        isClosed = true
        endAll(.cancelled) { _ in true }
    }

    /// Ends the WebSockets of a link that is gone.
    func linkChanged() { endAll(.failed(.connection(.lost))) { !$0.isAlive || !$0.mayKeepItsRoute } }

    /// Ends those that may not use the link of their current route.
    func routesChanged() { endAll(.failed(.connection(.lost))) { !$0.mayKeepItsRoute } }

    func setOfflineMode(_ isOn: Bool) {
        isOfflineMode = isOn
        if isOn { endAll(.failed(.offlineMode)) { _ in true } }
    }

    private func endAll(_ end: WebSocketEnd, where isAffected: (ServerConnection) -> Bool) {
        loop.assertOnLoop()
        for socket in Array(running.values) where isAffected(socket.connection) { socket.end(end) }
    }
}
