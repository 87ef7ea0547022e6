import Foundation

/// A separate network for the thread that enters it, and for the threads that this one starts. Needs root.
public enum NetworkNamespace {
    /// Whether this process may make one.
    public static let isAvailable: Bool = {
        guard geteuid() == 0 else { return false }
        return onThread { run("ip", "link", "add", "probe", "type", "veth", "peer", "name", "other") } ?? false
    }()

    /// Runs `body` on a new thread in the namespace of the process. A thread of a pool may be in another namespace:
    /// that of a thread that gave the pool work.
    public static func onThreadOfProcess<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result? {
        let results = Recorder<Result>()
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            if enterThatOfProcess() { results.record(body()) }
            done.signal()
        }
        // The waits of the body fail before.
        done.waitOrEndRun("a thread in a network namespace", within: 5 * Deadline.standard)
        return results.elements.first
    }

    /// That of the first thread, which never enters another one. Without the right to change it there is no other one.
    private static func enterThatOfProcess() -> Bool {
        guard geteuid() == 0 else { return true }
        typealias SetNamespace = @convention(c) (Int32, Int32) -> Int32
        let place = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)
        guard place >= 0, let address = dlsym(nil, "setns") else { return false }
        defer { close(place) }
        return unsafeBitCast(address, to: SetNamespace.self)(place, 0) == 0
    }

    /// Runs `body` on a new thread in a new namespace; nil when there is none.
    public static func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result? {
        let results = Recorder<Result>()
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            if enter() { results.record(body()) }
            done.signal()
        }
        // The waits of the body fail before.
        done.waitOrEndRun("a thread in a network namespace", within: 5 * Deadline.standard)
        return results.elements.first
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
    public static func run(_ words: String...) -> Bool {
        (try? TestProcess(words[0], Array(words.dropFirst()), output: .null).waitUntilExit()) == 0
    }

    /// Runs ip(8) with each of these lines, in the calling thread's namespace.
    @discardableResult
    public static func ip(_ lines: String...) -> Bool {
        lines.allSatisfy { line in
            let words = line.split(separator: " ").map(String.init)
            return (try? TestProcess("ip", words, output: .null).waitUntilExit()) == 0
        }
    }

    /// The calling thread, for `ip link set … netns`.
    public static var thread: String {
        typealias GetThread = @convention(c) () -> Int32
        return dlsym(nil, "gettid").map { "\(unsafeBitCast($0, to: GetThread.self)())" } ?? ""
    }
}
