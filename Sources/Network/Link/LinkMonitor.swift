import CLinux
import Platform

/// Reports each change of the link, and of any other route. The link is read only after the kernel has reported a
/// change (rtnetlink(7)), so that nothing wakes up otherwise (docs/decisions/link-changes.md).
///
/// Thread: the loop's.
/// `@unchecked Sendable` is safe because only the loop uses the state.
public final class LinkMonitor: @unchecked Sendable {
    public private(set) var link: Link
    private let settings: LinkSettings
    private let loop: EventLoop
    private let descriptor: Int32
    private let routesChanged: (Link) -> Void
    private let changed: (Link) -> Void
    /// The interfaces at the last change.
    private var interfaces: [NetworkInterface]

    /// - Parameters:
    ///   - routesChanged: called when the link is the same but another change affects routes: a route to some networks,
    ///     a rule, the ports of a bridge.
    ///   - changed: called with each new link.
    /// - Throws: when the kernel does not allow this process to watch changes.
    public init(
        _ settings: LinkSettings, loop: EventLoop, routesChanged: @escaping (Link) -> Void = { _ in },
        changed: @escaping (Link) -> Void
    ) throws(SystemError) {
        self.settings = settings
        self.loop = loop
        self.routesChanged = routesChanged
        self.changed = changed
        descriptor = tonearm_network_changes()
        if descriptor < 0 { throw .last("socket", "rtnetlink") }
        // Read after the socket was opened, so that no change is missed.
        let costs = LinkGate.costs(settings)
        interfaces = costs.interfaces
        link = Link.current(costs)
        try loop.watch(descriptor, for: .readable) { [self] _ in look() }
    }

    deinit { close(descriptor) }

    /// Stops reporting. Must be the last call.
    public func stop() { loop.unwatch(descriptor) }

    private func look() {
        let isOfRoute = tonearm_route_has_changed(descriptor) != 0
        let costs = LinkGate.costs(settings)
        let (before, now) = (link, Link.current(costs))
        // A Wi-Fi interface that scans for networks is reported repeatedly without a change.
        let isOther = isOfRoute || costs.interfaces != interfaces
        interfaces = costs.interfaces
        link = now
        if !now.isSame(as: before) { changed(now) } else if isOther || now != before { routesChanged(now) }
    }
}
