import Platform

/// Transfers over HTTP and HTTPS, and WebSockets. Owns the network thread, and the connections that stay open between
/// requests. One per process. Any thread.
/// `@unchecked Sendable` is safe because `lock` guards the mutable state.
public final class Network: @unchecked Sendable {
    private let loop: EventLoop
    private let transfers: Transfers
    private let sockets: WebSockets
    private let waits: LinkWaits
    /// The waits that a server has requested: a change of the link does not end them.
    private let serverWaits: LinkWaits
    private let lock = Lock()
    /// Guarded by `lock`; nil after `stop`.
    private var thread: NamedThread?
    private var nextNumber: UInt64 = 0

    /// Reads the certificate authorities and starts the thread.
    /// - Throws: when a file of authorities cannot be used, or the system has no thread, descriptor or memory left.
    public init(_ settings: NetworkSettings) throws(NetworkSetupError) {
        do throws(SystemError) { loop = try EventLoop() } catch { throw .system(error) }
        transfers = try Transfers(settings, on: loop)
        sockets = WebSockets(settings, with: transfers, on: loop)
        waits = LinkWaits(on: loop)
        serverWaits = LinkWaits(on: loop)
        do throws(SystemError) {
            thread = try NamedThread.start(name: "network") { [transfers] in transfers.run() }
        } catch {
            transfers.close()
            throw .system(error)
        }
    }

    deinit { stop() }

    /// Starts a transfer.
    /// - Parameter sink: gets the response; retained until the transfer has ended.
    public func start(_ request: TransferRequest, into sink: any TransferSink) -> Transfer {
        let (transfer, isStarted) = lock.withLock {
            let transfer = Transfer(nextNumber, of: transfers, on: loop)
            nextNumber += 1
            let isRunning = thread != nil
            // Under the lock, so that `stop` cannot run in between: it cancels transfers that were posted before.
            if isRunning { loop.post { [transfers] in transfers.start(request, transfer, into: sink) } }
            return (transfer, isRunning)
        }
        if !isStarted { sink.ended(.cancelled) }
        return transfer
    }

    /// Opens a WebSocket.
    /// - Parameter sink: gets its events; retained until the WebSocket has ended.
    public func openWebSocket(_ request: WebSocketRequest, into sink: any WebSocketSink) -> WebSocket {
        let (socket, isStarted) = lock.withLock {
            let number = nextNumber
            nextNumber += 1
            let isRunning = thread != nil
            // Under the lock, for the same reason as in `start`.
            if isRunning { loop.post { [sockets] in sockets.open(request, number, into: sink) } }
            return (WebSocket(number, of: sockets, on: loop), isRunning)
        }
        if !isStarted { sink.closed(.cancelled) }
        return socket
    }

    /// Calls `action` once on the network thread, `nanoseconds` from now; never after `stop`.
    public func schedule(after nanoseconds: Int64, _ action: @escaping @Sendable () -> Void) {
        loop.post { [loop] in loop.schedule(after: nanoseconds, action) }
    }

    /// Calls `action` once on the network thread, `nanoseconds` from now, or at once when the link changes; never after
    /// `stop`.
    public func waitForLink(
        atMost nanoseconds: Int64, _ action: @escaping @Sendable (LinkWaitEnd) -> Void
    ) {
        loop.post { [waits] in waits.add(atMost: nanoseconds, action) }
    }

    /// Calls `action` once on the network thread, `nanoseconds` from now, or at once when offline mode begins, so that
    /// the next attempt detects it. For waits that a server has requested. Never called after `stop`.
    public func waitForServer(atMost nanoseconds: Int64, _ action: @escaping @Sendable () -> Void) {
        loop.post { [serverWaits] in serverWaits.add(atMost: nanoseconds) { _ in action() } }
    }

    /// Blocks for this many nanoseconds, or until offline mode begins.
    /// - Returns: whether it was cancelled.
    public func wait(_ nanoseconds: Int64, cancellation: Cancellation) -> Bool {
        let milliseconds = Int(clamping: nanoseconds / 1_000_000)
        do throws(SystemError) {
            let wakeUp = try WakeUp()
            defer { withExtendedLifetime(wakeUp) {} }
            waitForServer(atMost: nanoseconds) { wakeUp.signal() }
            return try cancellation.wait(for: wakeUp.descriptor, .readable, milliseconds: milliseconds) == .cancelled
        } catch {
            return cancellation.wait(milliseconds: milliseconds)
        }
    }

    /// A number that differs after each change to a usable link.
    public var linkChanges: UInt32 { waits.changes }

    /// Blocks for this many nanoseconds. Returns at once when the link changes, or has changed since `linkChanges` was
    /// `seen`: a request that has failed on the old link proves nothing about the new one.
    /// - Returns: nil when it was cancelled.
    public func waitForLink(
        since seen: UInt32, atMost nanoseconds: Int64, cancellation: Cancellation
    ) -> LinkWaitEnd? {
        let milliseconds = Int(clamping: nanoseconds / 1_000_000)
        do throws(SystemError) {
            let wakeUp = try WakeUp()
            // The action may release its reference while the descriptor is still polled.
            defer { withExtendedLifetime(wakeUp) {} }
            loop.post { [waits] in
                waits.add(since: seen, atMost: nanoseconds) { end in if end == .linkChanged { wakeUp.signal() } }
            }
            switch try cancellation.wait(for: wakeUp.descriptor, .readable, milliseconds: milliseconds) {
            case .ready: return .linkChanged
            case .timedOut: return .timeElapsed
            case .cancelled: return nil
            }
        } catch {
            // Without a descriptor, wait for the whole time.
            return cancellation.wait(milliseconds: milliseconds) ? nil : .timeElapsed
        }
    }

    /// Notifies the transfers and WebSockets of a new link. Those without a connection end with `.connection(.lost)`,
    /// and so do those whose connection was lost with the old link. All waits for a link end.
    public func linkChanged(to link: Link) {
        loop.post { [loop, transfers, sockets, waits] in
            transfers.linkChanged()
            sockets.linkChanged()
            // Posted, so that it also ends the waits of transfers that have just ended.
            if !link.isOffline { loop.post { waits.wake() } }
        }
    }

    /// Notifies the transfers of a changed route, rule or interface while the link is the same. Transfers that would
    /// now use a metered link against their request end with `.connection(.lost)`. Another attempt finds another way,
    /// or ends with `.meteredLink`.
    public func routesChanged() {
        loop.post { [transfers, sockets] in
            transfers.routesChanged()
            sockets.routesChanged()
        }
    }

    /// Switches offline mode. While it is on, nothing uses the network: running and new transfers and
    /// WebSockets end with `.offlineMode`, all connections are closed, and waits for another attempt end
    /// (docs/decisions/offline-mode-is-a-switch.md).
    public func setOfflineMode(_ isOn: Bool) {
        loop.post { [loop, transfers, sockets, waits, serverWaits] in
            transfers.setOfflineMode(isOn)
            sockets.setOfflineMode(isOn)
            guard isOn else { return }
            // Posted, so that it also ends the waits of transfers that have just ended.
            loop.post {
                waits.wake()
                serverWaits.wake()
            }
        }
    }

    /// Returns the host of an address in the form for `isMetered`; nil for text that is not an address.
    public static func host(of url: String) -> String? { WebAddress(url)?.host }

    /// Returns whether two addresses have the same scheme, host and port; false for an invalid one.
    public static func haveSameOrigin(_ first: String, _ second: String) -> Bool {
        guard let first = WebAddress(first), let second = WebAddress(second) else { return false }
        return first.hasOrigin(of: second)
    }

    /// Whether the host of an address is of this network by its name, or by the numbers in it.
    public static func isLocal(host: String) -> Bool {
        PeerAddress(inDigits: host).map { $0.isLocal } ?? LocalName.isLocal(host)
    }

    /// Returns whether the current route to a host costs money, by the address of the last connection; nil before the
    /// first one. Any thread.
    public func isMetered(host: String) -> Bool? { transfers.isMetered(host: host) }

    /// Cancels all transfers and WebSockets, and ends the thread. Later ones are cancelled at once, on the thread that
    /// starts them. Idempotent. Waits for the thread, unless a sink calls it.
    public func stop() {
        let ending = lock.withLock {
            defer { thread = nil }
            if thread != nil {
                loop.post { [transfers, sockets] in
                    transfers.close()
                    sockets.close()
                }
                loop.stop()
            }
            return thread
        }
        if let ending, !transfers.isCurrentThread { ending.join() }
    }
}
