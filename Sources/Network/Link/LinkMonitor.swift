import CLinux
import Platform

/// Reports when the link comes, goes or changes, and when any other route does. The kernel reports a change
/// (rtnetlink(7)), and only then the link is read: nothing wakes up while nothing changes.
///
/// Thread: the loop's.
/// `@unchecked Sendable` is safe because the loop alone uses what is in here.
public final class LinkMonitor: @unchecked Sendable {
    public private(set) var link: Link
    private let settings: LinkSettings
    private let loop: EventLoop
    private let descriptor: Int32
    private let routesChanged: (Link) -> Void
    private let changed: (Link) -> Void
    /// At the last look.
    private var interfaces: [NetworkInterface]

    /// - Parameters:
    ///   - routesChanged: called when something else has changed that decides where packets go: a route to some
    ///     networks, a rule, the ports of a bridge. The link is the same interface in the same network.
    ///   - changed: called with each new link.
    /// - Throws: when the kernel does not allow this process to watch.
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
        // After the socket was opened, so that no change is missed.
        let costs = LinkGate.costs(settings)
        interfaces = costs.interfaces
        link = Link.current(costs)
        try loop.watch(descriptor, for: .readable) { [self] _ in look() }
    }

    deinit { close(descriptor) }

    /// Stops reporting. The last call.
    public func stop() { loop.unwatch(descriptor) }

    private func look() {
        let isOfRoute = tonearm_route_has_changed(descriptor) != 0
        let costs = LinkGate.costs(settings)
        let (before, now) = (link, Link.current(costs))
        // A Wi-Fi that looks for networks reports its interface again and again.
        let isOther = isOfRoute || costs.interfaces != interfaces
        interfaces = costs.interfaces
        link = now
        if !now.isSame(as: before) { changed(now) } else if isOther || now != before { routesChanged(now) }
    }
}
