import CLinux
import Platform

/// Reports when the link comes, goes or changes. The kernel reports a change (rtnetlink(7)), and only then the link is
/// read: nothing wakes up while nothing changes.
///
/// Thread: the loop's.
/// `@unchecked Sendable` is safe because the loop alone uses what is in here.
public final class LinkMonitor: @unchecked Sendable {
    public private(set) var link: Link
    private let settings: LinkSettings
    private let loop: EventLoop
    private let descriptor: Int32
    private let changed: (Link) -> Void

    /// - Parameter changed: called with each new link.
    /// - Throws: when the kernel does not allow this process to watch.
    public init(
        _ settings: LinkSettings, loop: EventLoop, changed: @escaping (Link) -> Void
    ) throws(SystemError) {
        self.settings = settings
        self.loop = loop
        self.changed = changed
        descriptor = tonearm_network_changes()
        if descriptor < 0 { throw .last("socket", "rtnetlink") }
        // After the socket was opened, so that no change is missed.
        link = Link.current(settings)
        try loop.watch(descriptor, for: .readable) { [self] _ in look() }
    }

    deinit { close(descriptor) }

    /// Stops reporting. The last call.
    public func stop() { loop.unwatch(descriptor) }

    private func look() {
        tonearm_skip_input(descriptor)
        let now = Link.current(settings)
        guard now != link else { return }
        link = now
        changed(now)
    }
}
