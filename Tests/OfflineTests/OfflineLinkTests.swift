import Crypto
import Foundation
import Network
import OfflineTestSupport
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Player

/// The kernel's own links, in a network namespace: a cable, and an interface that the board's profile calls cellular.
@Suite("Downloading products while real links come and go (docs/playback.md, 16.5)")
struct OfflineLinkTests {
    private let folder: ScratchFolder
    private let file: [UInt8]
    private let service = OfflineTestService()

    init() throws {
        folder = try ScratchFolder()
        let track = try Track("a", frames: 100_000, in: folder)
        file = try track.file
        service.serve(file, as: "7")
    }

    @Test("Only the cable is used, and what has arrived stays", .enabled(if: NetworkNamespace.isAvailable))
    func links() throws {
        let problem = NetworkNamespace.onThread { [self] () -> String in
            do {
                try follow()
                return ""
            } catch {
                return "\(error)"
            }
        }
        #expect(problem == "")
        // One transfer until the cable went, and one for the rest.
        let arrived = (file.count + 1) / 2 / SealedLayout.chunkCount * SealedLayout.chunkCount
        #expect(service.contentRequests.map { $0.from } == [0, arrived])
    }

    /// Runs in the namespace, so that the player's threads belong to it too.
    private func follow() throws {
        try add("wwan0", "10.8.0.1", metric: "200")
        let offline = try OfflineFixture(service, link: nil)
        let player = offline.player
        let monitor = offline.fixture.onControl {
            try? LinkMonitor(LinkSettings(meteredInterfaces: ["wwan0"]), loop: player.loop) {
                player.linkChanged(to: $0)
            }
        }
        guard let monitor else { throw Unexpected("no monitor of the links") }
        player.linkChanged(to: monitor.link)
        service.hang(after: (file.count + 1) / 2)
        guard offline.engine.offline(OfflineFixture.product(7)) else { throw Unexpected("no download") }
        try offline.spin("the wait") { offline.status(of: 7) == .waiting(.unmeteredNetwork) }
        try add("cable", "10.9.0.1", metric: "100")
        try offline.spin("the transfer") { service.hangingTransfers == 1 }
        try offline.wait(for: "50 r7")
        NetworkNamespace.run("ip", "link", "set", "cable", "down")
        try offline.spin("the end of the transfer") { service.hangingTransfers == 0 }
        try offline.spin("the wait") { offline.status(of: 7) == .waiting(.unmeteredNetwork) }
        NetworkNamespace.run("ip", "link", "set", "wwan0", "down")
        try offline.spin("the wait") { offline.status(of: 7) == .waiting(.network) }
        service.hang(after: nil)
        try connect("cable", "10.9.0.1", metric: "100")
        try offline.wait(for: "done r7")
        offline.fixture.onControl { monitor.stop() }
    }

    private func add(_ interface: String, _ address: String, metric: String) throws {
        let peer = "\(interface)-peer"
        guard NetworkNamespace.run("ip", "link", "add", interface, "type", "veth", "peer", "name", peer),
            NetworkNamespace.run("ip", "link", "set", peer, "up"),
            NetworkNamespace.run("ip", "addr", "add", "\(address)/24", "dev", interface)
        else { throw Unexpected("no interface \(interface)") }
        try connect(interface, address, metric: metric)
    }

    /// Brings an interface up and adds a route over it. A link that goes down loses its route.
    private func connect(_ interface: String, _ address: String, metric: String) throws {
        guard NetworkNamespace.run("ip", "link", "set", interface, "up"),
            NetworkNamespace.run("ip", "route", "add", "default", "dev", interface, "metric", metric)
        else { throw Unexpected("no route over \(interface)") }
    }
}
