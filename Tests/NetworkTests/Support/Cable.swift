import Foundation
import TestSupport

/// A cable between the calling thread's namespace and another one, in which a server listens. The near end is
/// `near`, 10.9.0.1; the server has 10.9.0.2.
final class Cable: Sendable {
    let server: ScriptedServer
    private let ended = DispatchSemaphore(value: 0)

    /// In the namespace that the near end is to be in; nil when the kernel refuses.
    init?(_ script: @escaping @Sendable (ScriptedConnection) -> Void) {
        let far = Locked<String?>(nil)
        let made = Locked<ScriptedServer?>(nil)
        let (entered, connected, listens) =
            (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let ended = ended
        Thread.detachNewThread {
            _ = NetworkNamespace.onThread {
                far.withLock { $0 = NetworkNamespace.thread }
                entered.signal()
                connected.waitInTime()
                NetworkNamespace.run("ip", "addr", "add", "10.9.0.2/24", "dev", "far")
                NetworkNamespace.run("ip", "link", "set", "far", "up")
                let server = ScriptedServer(address: "10.9.0.2", script)
                made.withLock { $0 = server }
                listens.signal()
                ended.waitInTime()
            }
        }
        entered.waitOrEndRun("the far namespace")
        let isMade =
            NetworkNamespace.run(
                "ip", "link", "add", "near", "type", "veth", "peer", "name", "far", "netns",
                far.withLock { $0 } ?? "")
            && NetworkNamespace.run("ip", "addr", "add", "10.9.0.1/24", "dev", "near")
        connected.signal()
        listens.waitOrEndRun("the server in the far namespace")
        guard isMade, let server = made.withLock({ $0 }) else {
            ended.signal()
            return nil
        }
        self.server = server
        Self.plugIn()
    }

    deinit { ended.signal() }

    /// Brings the link up.
    static func plugIn() {
        NetworkNamespace.run("ip", "link", "set", "near", "up")
        NetworkNamespace.run("ip", "route", "replace", "default", "via", "10.9.0.2")
    }

    /// Brings the link down.
    static func pullOut() { NetworkNamespace.run("ip", "link", "set", "near", "down") }
}
