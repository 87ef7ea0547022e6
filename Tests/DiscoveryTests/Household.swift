import CLinux
import Foundation
import Platform
import TestSupport

@testable import Discovery

/// A machine of a test that announces services, in a network namespace and on a loop of its own. A cable connects it
/// with the calling thread's namespace:
///
///     near  10.9.0.1, fe80::1 (this machine) ── far  10.9.0.2, fe80::2 (the calling thread's)
///
/// It ends with this object.
final class AnnouncingMachine: Sendable {
    /// Used on the loop's thread.
    // @unchecked: the loop's thread alone uses the announcer.
    private final class Parts: @unchecked Sendable {
        let loop: EventLoop
        let announcer: ServiceAnnouncer

        init(_ loop: EventLoop, _ announcer: ServiceAnnouncer) {
            self.loop = loop
            self.announcer = announcer
        }
    }

    private let parts: Parts
    private let ended: DispatchSemaphore

    /// Connects the cable. The machine does not announce anything yet.
    init(name: String, host: String, _ services: [AnnouncedService], renamed: Recorder<String>) throws {
        let thread = Locked<String?>(nil)
        let made = Locked<Parts?>(nil)
        let (entered, connected, ready) =
            (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            _ = NetworkNamespace.onThread {
                thread.set(NetworkNamespace.thread)
                entered.signal()
                connected.waitInTime()
                guard Self.connect("near", 1), let loop = try? EventLoop() else {
                    ready.signal()
                    return
                }
                let announcer = ServiceAnnouncer(loop: loop, name: name, host: host, services: services)
                announcer.renamed = { renamed.record("\($0), \($1)") }
                made.set(Parts(loop, announcer))
                ready.signal()
                loop.run()
                announcer.stop()
                ended.signal()
            }
        }
        try entered.wait(for: "the namespace of the machine")
        let isConnected =
            NetworkNamespace.ip("link add far type veth peer name near netns \(thread.value ?? "")")
            && Self.connect("far", 2)
        connected.signal()
        try ready.wait(for: "the machine")
        guard isConnected, let parts = made.value else {
            made.value?.loop.stop()
            throw Unexpected("no cable between two namespaces")
        }
        self.parts = parts
        self.ended = ended
    }

    deinit { parts.loop.stop() }

    /// Without random addresses and the kernel's check for duplicates, so that the link is ready at once.
    private static func connect(_ interface: String, _ number: Int) -> Bool {
        NetworkNamespace.ip(
            "link set \(interface) addrgenmode none", "addr add 10.9.0.\(number)/24 dev \(interface)",
            "link set \(interface) up", "-6 addr add fe80::\(number)/64 dev \(interface) nodad")
    }

    /// Runs work on the loop's thread, and waits for it.
    func perform<Result: Sendable>(_ work: @escaping @Sendable (ServiceAnnouncer, EventLoop) -> Result) -> Result {
        let result = AwaitedValue<Result>()
        parts.loop.post { [parts] in result.set(work(parts.announcer, parts.loop)) }
        return result.wait("the loop of the machine")
    }

    func start() throws {
        let problem = perform { announcer, _ -> String? in
            do throws(SystemError) { try announcer.start() } catch { return error.description }
            return nil
        }
        if let problem { throw Unexpected(problem) }
    }

    /// Says goodbye. The cable stays.
    func stop() { perform { announcer, _ in announcer.stop() } }

    /// Gives the machine another address.
    func setAddress(_ last: Int) {
        _ = perform { _, _ in
            NetworkNamespace.ip("addr flush dev near scope global", "addr add 10.9.0.\(last)/24 dev near")
        }
    }

    /// Ends the machine, and the cable with it.
    func end() throws {
        parts.loop.stop()
        try ended.wait(for: "the end of the machine")
    }
}

/// avahi-daemon in the calling thread's namespace, and its clients. They have a D-Bus of their own.
final class Avahi {
    private let folder: ScratchFolder
    private let bus: TestProcess
    private let daemon: TestProcess
    private let environment: [String: String]

    /// Waits until it is ready.
    init(host: String) throws {
        // Its files lie at fixed places. The mounts of this thread are its own.
        guard NetworkNamespace.run("mount", "-t", "tmpfs", "none", "/run"),
            NetworkNamespace.run("mkdir", "/run/avahi-daemon")
        else { throw Unexpected("no /run of its own") }
        let folder = try ScratchFolder()
        self.folder = folder
        let address = "unix:path=\(folder["bus"])"
        try Data(
            """
            <busconfig><type>system</type><listen>\(address)</listen>
            <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
            <allow own="*"/><allow user="*"/></policy></busconfig>
            """.utf8
        ).write(to: URL(fileURLWithPath: folder["bus.conf"]))
        try Data(
            """
            [server]
            host-name=\(host)
            allow-interfaces=far
            [publish]
            publish-workstation=no
            publish-hinfo=no
            """.utf8
        ).write(to: URL(fileURLWithPath: folder["avahi.conf"]))
        environment = ProcessInfo.processInfo.environment.merging(["DBUS_SYSTEM_BUS_ADDRESS": address]) { $1 }
        let bus = try TestProcess(
            "dbus-daemon", ["--config-file=\(folder["bus.conf"])", "--nofork", "--nopidfile", "--print-address"])
        self.bus = bus
        // It prints its address once it listens. Its socket appears before.
        try bus.line("its address") { $0.hasPrefix(address) }
        let daemon = try TestProcess(
            "/usr/sbin/avahi-daemon",
            ["--file", folder["avahi.conf"], "--no-drop-root", "--no-chroot", "--no-rlimits"],
            environment: environment, output: .null)
        self.daemon = daemon
        try daemon.wait("that it is ready") { daemon.allErrors.contains("startup complete") }
    }

    func client(_ program: String, _ arguments: String...) throws -> TestProcess {
        try TestProcess(program, arguments, environment: environment)
    }

    /// The output of a program that ends by itself.
    func run(_ program: String, _ arguments: String...) throws -> String {
        let result = try TestProcess.run(program, arguments, environment: environment)
        guard result.code == 0, !result.text.isEmpty else {
            throw Unexpected("\(program) \(arguments.joined(separator: " ")): \(result.text)\(result.errors)")
        }
        return result.text
    }

    func end() throws {
        try daemon.terminate()
        try bus.terminate()
    }
}
