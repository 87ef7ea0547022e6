import Foundation
import ProgramTestSupport
import TestSupport
import Testing

/// The parts together: the daemon on a machine with a cable and a modem, and an origin that both reach.
@Suite(
    "A daemon and its metered link (docs/decisions/metered-by-route.md)",
    .enabled(if: NetworkNamespace.isAvailable))
struct MeteredDownloadTests {
    /// @unchecked: only one thread at a time uses it.
    private final class FarOrigin: @unchecked Sendable {
        let origin: RunningOrigin

        init(_ origin: RunningOrigin) { self.origin = origin }
    }

    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        try FileManager.default.createDirectory(atPath: folder["music"], withIntermediateDirectories: true)
        try Music(frames: 50_000, seed: 1).writeFLAC(to: folder["music/1.flac"], ["--tag=ALBUM=Works"])
        // Slow enough to be interrupted.
        let faults = "[fault slow]\npath = /v1/content/*\nbytes-per-second = 25000\n"
        try Data(faults.utf8).write(to: URL(fileURLWithPath: folder["faults"]))
    }

    @Test("A download goes over the cable alone, waits while only the modem leads there, and goes on by itself")
    func daemon() throws {
        let problem = NetworkNamespace.onThread { [self] () -> String in
            do {
                try follow()
                return ""
            } catch {
                return "\(error)"
            }
        }
        #expect(problem == "")
    }

    private func follow() throws {
        let machine = TwoLinks { [folder] in
            let options = ["--address", "10.99.0.1", "--manifest", "bts", "--faults", folder["faults"]]
            let origin = try? RunningOrigin(folder["music"], state: folder["state"], options: options)
            return origin.map { FarOrigin($0) }
        }
        let cable = "route add default via 10.9.0.2 metric 100"
        guard let machine, NetworkNamespace.ip(cable, "route add default via 10.8.0.2 metric 200") else {
            throw Unexpected("no machine")
        }
        let settings = "[service]\nurl = \(machine.server.origin.address)\n[offline]\nfree-space = 0\n"
        let daemon = try RunningDaemon(settings: settings)
        func wait(for state: String) {
            expectSoon(state) { (try? daemon.run("offline", "list").output.contains(state)) ?? false }
        }
        _ = try daemon.run("offline", "add", "tonearm:track/1")
        wait(for: " %")
        NetworkNamespace.ip("link set eth0 down")
        wait(for: "waits for Wi-Fi or Ethernet")
        NetworkNamespace.ip("link set eth0 up", cable)
        wait(for: " %")
        NetworkNamespace.ip("route add 10.99.0.1/32 via 10.8.0.2")
        wait(for: "waits for Wi-Fi or Ethernet")
        NetworkNamespace.ip("route del 10.99.0.1/32")
        wait(for: "kept")
        guard machine.carriedBytes() == 0 else { throw Unexpected("bytes over the modem") }
        guard try daemon.end().code == 0 else { throw Unexpected("the daemon's end") }
    }
}
