import CCurl
import CLinux
import Platform
import Synchronization

/// All transfers of a `Network`, on its thread.
/// `@unchecked Sendable` is safe because only the loop's thread uses it after `init`.
final class Transfers: @unchecked Sendable {
    private let settings: NetworkSettings
    let authorities: CertificateAuthorities
    private let loop: EventLoop
    /// Retains this object, as the timers of running transfers do; nil after `close`.
    private var connections: Connections?
    /// Connections of earlier links, until their last transfer ends.
    private var retired: [MultiHandle] = []
    private var isOfflineMode = false
    let peers = KnownPeers()
    private var running: [UInt64: RunningTransfer] = [:]
    /// 0 until `run`.
    private let thread = Atomic<UInt>(0)

    /// - Throws: `.authorities`, `.noAuthority`, `.library`.
    init(_ settings: NetworkSettings, on loop: EventLoop) throws(NetworkSetupError) {
        self.settings = settings
        self.loop = loop
        authorities = try CertificateAuthorities(system: settings.caFile, extra: settings.extraCAFile)
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK else { throw .library("libcurl does not start") }
        connections = newConnections()
        guard connections != nil else { throw .library("out of memory") }
    }

    private func newConnections() -> Connections? {
        guard let any = newMulti(), let unmetered = newMulti() else { return nil }
        return Connections(any: any, unmetered: unmetered)
    }

    private func newMulti() -> MultiHandle? {
        MultiHandle(
            on: loop, maximumConnectionsPerHost: settings.maximumConnectionsPerHost,
            maximumIdleConnections: settings.maximumIdleConnections
        ) { [self] handle, code in
            ended(RunningTransfer.from(tonearm_curl_context(handle)), code)
        }
    }

    /// Runs the network thread until its end.
    func run() {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        // A TLS library may write to a connection that the other side has closed: SIGPIPE would end the process.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        loop.run()
    }

    /// Whether the calling thread is the network thread. Any thread, at any time: before `run`, the loop would report
    /// the thread that made it.
    var isCurrentThread: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    func start(_ request: TransferRequest, _ transfer: Transfer, into sink: any TransferSink) {
        loop.assertOnLoop()
        guard let connections, !transfer.isCancelled else { return sink.ended(.cancelled) }
        if isOfflineMode { return sink.ended(.offlineMode) }
        guard let address = WebAddress(request.url) else { return sink.ended(.invalidRequest(.url)) }
        if let header = request.invalidHeader { return sink.ended(.invalidRequest(.header(name: header))) }
        if let range = request.range, range.fieldValue == nil { return sink.ended(.invalidRequest(.range)) }
        guard let handle = EasyHandle() else { return sink.ended(.outOfMemory) }
        let number = transfer.number
        let way = TransferWay(
            settings.links, proxy: settings.proxy, peers: peers, mayUseMeteredLink: request.mayUseMeteredLink,
            localHosts: request.localHosts)
        let connection = ServerConnection(
            handle, settings: settings, verification: ServerVerification(authorities, clock: settings.clock), way: way,
            firstByteTimeout: request.firstByteTimeout, longestSilence: request.longestSilence, on: loop
        ) { [self] phase in
            if let transfer = running[number] { end(transfer, .timeOut(phase)) }
        }
        let new = RunningTransfer(
            request, to: address, transfer, into: sink, connection: connection, settings: settings)
        running[number] = new
        new.configure()
        perform(new, on: connections[new])
    }

    private func perform(_ transfer: RunningTransfer, on multi: MultiHandle) {
        transfer.prepareRequest()
        if let error = transfer.connection.start(on: multi) { end(transfer, error) }
    }

    func cancel(_ number: UInt64) {
        loop.assertOnLoop()
        if let transfer = running[number] { end(transfer, .cancelled) }
    }

    func resume(_ number: UInt64) {
        loop.assertOnLoop()
        guard let transfer = running[number], let multi = transfer.connection.multi, transfer.isPaused
        else { return }
        transfer.resume()
        let code = multi.unpause(transfer.connection.handle)
        if code != CURLE_OK { ended(transfer, code) }
    }

    /// Cancels all transfers and closes all connections.
    func close() {
        loop.assertOnLoop()
        for transfer in Array(running.values) { end(transfer, .cancelled) }
        for multi in connections?.all ?? [] { multi.close() }
        connections = nil
        closeRetired()
    }

    // MARK: Links

    /// Ends the transfers of a link that is gone, and never reuses its idle connections.
    func linkChanged() {
        loop.assertOnLoop()
        guard let connections, let fresh = newConnections() else { return }
        retired += connections.all
        self.connections = fresh
        for transfer in Array(running.values)
        where !transfer.connection.isAlive || !transfer.connection.mayKeepItsRoute {
            end(transfer, .connection(.lost))
        }
        loop.post { [self] in closeRetired() }
    }

    /// Ends the transfers that may not use the link of their current route. Later transfers of this kind use new
    /// connections, because another interface may carry the idle ones now.
    func routesChanged() {
        loop.assertOnLoop()
        guard let connections, let fresh = newMulti() else { return }
        retired.append(connections.unmetered)
        self.connections = Connections(any: connections.any, unmetered: fresh)
        for transfer in Array(running.values) where !transfer.connection.mayKeepItsRoute {
            end(transfer, .connection(.lost))
        }
        loop.post { [self] in closeRetired() }
    }

    /// Switches offline mode: when it begins, all transfers end and all connections are closed.
    func setOfflineMode(_ isOn: Bool) {
        loop.assertOnLoop()
        isOfflineMode = isOn
        guard isOn, let connections, let fresh = newConnections() else { return }
        for transfer in Array(running.values) { end(transfer, .offlineMode) }
        retired += connections.all
        self.connections = fresh
        // Posted, because libcurl's calls may be in progress.
        loop.post { [self] in closeRetired() }
    }

    /// Any thread.
    func isMetered(host: String) -> Bool? {
        peers.last(of: host).map { LinkGate(settings: settings.links).answer(for: $0) == .metered }
    }

    private func closeRetired() {
        retired.removeAll { old in
            guard !running.values.contains(where: { $0.connection.multi === old }) else { return false }
            old.close()
            return true
        }
    }

    // MARK: Ends

    private func ended(_ transfer: RunningTransfer, _ code: CURLcode) {
        switch transfer.outcome(of: code) {
        case .ended(let error): end(transfer, error)
        case .redirected:
            guard let connections else { return }
            transfer.connection.stop()
            perform(transfer, on: connections[transfer])
        }
    }

    private func end(_ transfer: RunningTransfer, _ error: TransferError?) {
        guard running.removeValue(forKey: transfer.transfer.number) != nil else { return }
        transfer.connection.end()
        // Posted, because libcurl's calls for this handle are in progress.
        if !retired.isEmpty { loop.post { [self] in closeRetired() } }
        transfer.sink.ended(transfer.transfer.isCancelled ? .cancelled : error)
    }
}

extension Transfers {
    /// The libcurl handles that run transfers. A transfer that may not use metered links never reuses a connection of
    /// one that may.
    private struct Connections {
        let any: MultiHandle
        let unmetered: MultiHandle

        var all: [MultiHandle] { [any, unmetered] }

        subscript(transfer: RunningTransfer) -> MultiHandle { transfer.mayUseMeteredLink ? any : unmetered }
    }
}

extension TransferRequest {
    /// The name of a field that cannot be sent; nil when all can be sent.
    fileprivate var invalidHeader: String? {
        if case .post(_, let contentType) = method, !HeaderField("Content-Type", contentType).isValid {
            return "Content-Type"
        }
        return headers.first { !$0.isValid }?.name
    }
}
