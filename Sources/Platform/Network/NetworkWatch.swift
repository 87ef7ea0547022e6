import CLinux

/// Reports when the network comes, goes or changes. The kernel says that something has changed (rtnetlink(7)), and the
/// state is read then: nothing wakes up while nothing changes.
///
/// Thread: the loop's.
/// `@unchecked Sendable` is safe because the loop alone uses what is in here.
public final class NetworkWatch: @unchecked Sendable {
    public private(set) var state: NetworkState
    private let meteredInterfaces: [String]
    private let loop: EventLoop
    private let descriptor: Int32
    private let changed: (NetworkState) -> Void

    /// - Parameters:
    ///   - meteredInterfaces: those that count as cellular whatever they are called.
    ///   - changed: told each new state.
    /// - Throws: where the kernel does not tell, because the process may not ask it.
    public init(
        meteredInterfaces: [String], loop: EventLoop, changed: @escaping (NetworkState) -> Void
    ) throws(SystemError) {
        self.meteredInterfaces = meteredInterfaces
        self.loop = loop
        self.changed = changed
        descriptor = tonearm_network_changes()
        if descriptor < 0 { throw .last("socket", "rtnetlink") }
        // After the socket was opened: nothing is missed in between.
        state = NetworkState.current(meteredInterfaces: meteredInterfaces)
        try loop.watch(descriptor, for: .readable) { [self] _ in look() }
    }

    deinit { close(descriptor) }

    /// Tells nothing more. The end of the use.
    public func stop() { loop.unwatch(descriptor) }

    private func look() {
        tonearm_skip_input(descriptor)
        let now = NetworkState.current(meteredInterfaces: meteredInterfaces)
        guard now != state else { return }
        state = now
        changed(now)
    }
}
