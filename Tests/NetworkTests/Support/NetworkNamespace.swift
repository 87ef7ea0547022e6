import CLinux
import Foundation

/// A network of its own for the thread that enters it, and for the threads that this one starts. Needs root.
enum NetworkNamespace {
    /// Whether this process may make one.
    static let isAvailable: Bool = {
        guard geteuid() == 0 else { return false }
        return onThread { run("ip", "link", "add", "probe", "type", "veth", "peer", "name", "other") } ?? false
    }()

    /// Runs `body` on a new thread in a new namespace; nil when there is none.
    static func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result? {
        let result = Locked<Result?>(nil)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            if enter() {
                let value = body()
                result.withLock { $0 = value }
            }
            done.signal()
        }
        done.wait()
        return result.withLock { $0 }
    }

    /// CLONE_NEWNET and CLONE_NEWNS: /sys/class/net is that of the namespace in which /sys was mounted.
    private static func enter() -> Bool {
        typealias Unshare = @convention(c) (Int32) -> Int32
        guard let address = dlsym(nil, "unshare"),
            unsafeBitCast(address, to: Unshare.self)(0x4000_0000 | 0x0002_0000) == 0,
            mount("none", "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0
        else { return false }
        return mount("none", "/sys", "sysfs", 0, nil) == 0 && run("ip", "link", "set", "lo", "up")
    }

    /// Runs a program in the calling thread's namespace.
    @discardableResult
    static func run(_ words: String...) -> Bool {
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        var status: Int32 = 0
        return posix_spawnp(&process, words[0], nil, nil, &arguments, environ) == 0
            && waitpid(process, &status, 0) == process && status == 0
    }

    /// The calling thread, for `ip link set … netns`.
    static var thread: String {
        typealias GetThread = @convention(c) () -> Int32
        return dlsym(nil, "gettid").map { "\(unsafeBitCast($0, to: GetThread.self)())" } ?? ""
    }
}

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
                connected.wait()
                NetworkNamespace.run("ip", "addr", "add", "10.9.0.2/24", "dev", "far")
                NetworkNamespace.run("ip", "link", "set", "far", "up")
                let server = ScriptedServer(address: "10.9.0.2", script)
                made.withLock { $0 = server }
                listens.signal()
                ended.wait()
            }
        }
        entered.wait()
        let isMade =
            NetworkNamespace.run(
                "ip", "link", "add", "near", "type", "veth", "peer", "name", "far", "netns",
                far.withLock { $0 } ?? "")
            && NetworkNamespace.run("ip", "addr", "add", "10.9.0.1/24", "dev", "near")
        connected.signal()
        listens.wait()
        guard isMade, let server = made.withLock({ $0 }) else {
            ended.signal()
            return nil
        }
        self.server = server
        Self.plugIn()
    }

    deinit { ended.signal() }

    /// The link comes.
    static func plugIn() {
        NetworkNamespace.run("ip", "link", "set", "near", "up")
        NetworkNamespace.run("ip", "route", "replace", "default", "via", "10.9.0.2")
    }

    /// The link goes.
    static func pullOut() { NetworkNamespace.run("ip", "link", "set", "near", "down") }
}
