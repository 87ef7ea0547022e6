import Platform

/// Transfers over HTTP and HTTPS: owns the network thread, and the connections that stay open between requests. One a
/// process. Any thread.
/// `@unchecked Sendable` is safe because `lock` guards what changes.
public final class Network: @unchecked Sendable {
    private let loop: EventLoop
    private let transfers: Transfers
    private let waits: LinkWaits
    /// Those that a server has asked for: no link ends them.
    private let serverWaits: LinkWaits
    private let lock = Lock()
    /// Guarded by `lock`; nil after `stop`.
    private var thread: NamedThread?
    private var nextNumber: UInt64 = 0

    /// Reads the certificate authorities and starts the thread.
    /// - Throws: when a file of authorities cannot be used, and when the system has no thread, descriptor or memory.
    public init(_ settings: NetworkSettings) throws(NetworkSetupError) {
        do throws(SystemError) { loop = try EventLoop() } catch { throw .system(error) }
        transfers = try Transfers(settings, on: loop)
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
    /// - Parameter sink: gets the response; kept until the transfer has ended.
    public func start(_ request: TransferRequest, into sink: any TransferSink) -> Transfer {
        let (transfer, isStarted) = lock.withLock {
            let transfer = Transfer(nextNumber, of: transfers, on: loop)
            nextNumber += 1
            let isRunning = thread != nil
            // Under the lock: `stop` cannot come between, and it cancels what was posted before.
            if isRunning { loop.post { [transfers] in transfers.start(request, transfer, into: sink) } }
            return (transfer, isRunning)
        }
        if !isStarted { sink.ended(.cancelled) }
        return transfer
    }

    /// Calls `action` once on the network thread, `nanoseconds` from now. Never after `stop`.
    public func schedule(after nanoseconds: Int64, _ action: @escaping @Sendable () -> Void) {
        loop.post { [loop] in loop.schedule(after: nanoseconds, action) }
    }

    /// Calls `action` once on the network thread, `nanoseconds` from now, or at once when there is another link. Never
    /// after `stop`.
    public func waitForLink(
        atMost nanoseconds: Int64, _ action: @escaping @Sendable (LinkWaitEnd) -> Void
    ) {
        loop.post { [waits] in waits.add(atMost: nanoseconds, action) }
    }

    /// Calls `action` once on the network thread, `nanoseconds` from now, or at once when offline mode begins: an
    /// attempt then finds out. For waits that a server has asked for. Never after `stop`.
    public func waitForServer(atMost nanoseconds: Int64, _ action: @escaping @Sendable () -> Void) {
        loop.post { [serverWaits] in serverWaits.add(atMost: nanoseconds) { _ in action() } }
    }

    /// Blocks for so many nanoseconds, or until offline mode begins.
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

    /// Another number after each change to a link that there is.
    public var linkChanges: UInt32 { waits.changes }

    /// Blocks for so many nanoseconds. Another link ends it at once, also one that came after `linkChanges` was `seen`:
    /// a request between the two, which has failed on the old link, says nothing about the new one.
    /// - Returns: nil when it was cancelled.
    public func waitForLink(
        since seen: UInt32, atMost nanoseconds: Int64, cancellation: Cancellation
    ) -> LinkWaitEnd? {
        let milliseconds = Int(clamping: nanoseconds / 1_000_000)
        do throws(SystemError) {
            let wakeUp = try WakeUp()
            // The one in the action may be gone while the descriptor is still polled.
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
            // No descriptor is left: the time passes all the same.
            return cancellation.wait(milliseconds: milliseconds) ? nil : .timeElapsed
        }
    }

    /// Another link is in use from now on. Transfers whose connection has gone with the old one end with
    /// `.connection(.lost)`, those that wait for a connection as well, and all waits for a link end.
    public func linkChanged(to link: Link) {
        loop.post { [loop, transfers, waits] in
            transfers.linkChanged()
            // Posted: after the waits of those that have just ended.
            if !link.isOffline { loop.post { waits.wake() } }
        }
    }

    /// A route, a rule or an interface has changed, and the link has not: transfers that may not use a metered link,
    /// and would now, end with `.connection(.lost)`. Another attempt finds another way, or ends with `.meteredLink`.
    public func routesChanged() {
        loop.post { [transfers] in transfers.routesChanged() }
    }

    /// While it is on, nothing uses the network: transfers that run end with `.offlineMode`, and so do new ones; all
    /// connections are closed, and waits for another attempt end (docs/decisions/offline-mode-is-a-switch.md).
    public func setOfflineMode(_ isOn: Bool) {
        loop.post { [loop, transfers, waits, serverWaits] in
            transfers.setOfflineMode(isOn)
            guard isOn else { return }
            // Posted: after the waits of those that have just ended.
            loop.post {
                waits.wake()
                serverWaits.wake()
            }
        }
    }

    /// The host of an address, as `isMetered` takes it; nil for what is no address.
    public static func host(of url: String) -> String? { WebAddress(url)?.host }

    /// Whether the route to a host costs money now: that to the address which a transfer connected to last. nil before
    /// the first one. Any thread.
    public func isMetered(host: String) -> Bool? { transfers.isMetered(host: host) }

    /// Cancels all transfers and ends the thread. Later ones are cancelled at once, on the thread that starts them.
    /// Idempotent. Waits for the thread, unless a sink calls it.
    public func stop() {
        let ending = lock.withLock {
            defer { thread = nil }
            if thread != nil {
                loop.post { [transfers] in transfers.close() }
                loop.stop()
            }
            return thread
        }
        if let ending, !transfers.isCurrentThread { ending.join() }
    }
}
