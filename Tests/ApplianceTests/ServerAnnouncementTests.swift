import ApplianceTestSupport
import Discovery
import Foundation
import Platform
import TestSupport
import Testing

@testable import Appliance

@Suite("The servers are announced")
struct ServerAnnouncementTests {
    private func configuration(_ text: String) throws -> Configuration {
        try Configuration(parsing: Array(text.utf8), file: "tonearm.conf")
    }

    @Test("MPD is a service without texts; the web server has two types with its path, others with TLS")
    func services() {
        func shown(_ servers: AnnouncedServers) -> [String] {
            servers.services.map { "\($0.type) \($0.port) \($0.texts.joined())" }
        }
        #expect(shown(AnnouncedServers(mpdPort: nil, webPort: nil)).isEmpty)
        #expect(shown(AnnouncedServers(mpdPort: 6600, webPort: nil)) == ["_mpd._tcp 6600 "])
        #expect(
            shown(AnnouncedServers(mpdPort: 6601, webPort: 80)) == [
                "_mpd._tcp 6601 ", "_http._tcp 80 path=/", "_tonearm._tcp 80 path=/",
            ])
        #expect(
            shown(AnnouncedServers(mpdPort: nil, webPort: 443, isWebSecure: true)) == [
                "_https._tcp 443 path=/", "_tonearm._tcp 443 path=/tls=1",
            ])
    }

    @Test(
        "A port of MPD is announced when other machines can connect to it",
        arguments: [
            ("any", true), ("192.168.1.10", true), ("::", true), ("127.0.0.1", false), ("127.1.2.3", false),
            ("::1", false), ("::ffff:127.0.0.1", false), ("none", false),
        ])
    func reachable(address: String, isReachable: Bool) throws {
        let configuration = try configuration("[mpd]\naddress = \(address)")
        #expect(AnnouncedServers.isReachable(configuration.mpdAddress) == isReachable)
    }

    @Test(
        "auto follows avahi-daemon; on and off do not; without servers nothing is announced",
        .enabled(if: NetworkNamespace.isAvailable, "it needs root, for a network namespace of its own"),
        arguments: [
            ("auto", false, true), ("auto", true, false), ("on", true, true), ("off", false, false),
        ])
    func rule(announce: String, runsAvahi: Bool, isAnnounced: Bool) throws {
        let problem = try inNamespace("announce = \(announce)\nname = Küche") { daemon, folder in
            let socket = runsAvahi ? folder : "\(folder)/none"
            let none = ServerAnnouncement.open(
                daemon, AnnouncedServers(mpdPort: nil, webPort: nil), avahiSocket: socket)
            let servers = AnnouncedServers(mpdPort: 6600, webPort: nil)
            let announcement = ServerAnnouncement.open(daemon, servers, avahiSocket: socket)
            defer { announcement?.stop() }
            if none != nil { return "announced without a server" }
            if (announcement != nil) != isAnnounced { return "announced: \(announcement != nil)" }
            if let announcement, announcement.names.name != "Küche" { return announcement.names.name }
            return daemon.problems.all.first?.message
        }
        #expect(problem == nil)
    }

    @Test(
        "A port that cannot be opened is a problem of the status, and the daemon goes on",
        .enabled(if: NetworkNamespace.isAvailable, "it needs root, for a network namespace of its own"))
    func problem() throws {
        let problem = try inNamespace("announce = on") { daemon, _ in
            let socket = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
            defer { close(socket) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(5353).bigEndian
            _ = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            let servers = AnnouncedServers(mpdPort: 6600, webPort: nil)
            guard ServerAnnouncement.open(daemon, servers) == nil else { return "it was opened" }
            return daemon.problems.all.map { "\($0.subject): \($0.message)" }.joined()
        }
        #expect(
            problem == "discovery: other machines cannot find this one: open UDP port 5353: Address already in use; "
                + "see [discovery] announce")
    }

    /// Runs `body` on the thread of a daemon in a network namespace of its own.
    private func inNamespace(
        _ settings: String, _ body: @escaping @Sendable (Daemon, String) -> String?
    ) throws -> String? {
        let result = NetworkNamespace.onThread { () -> String? in
            do {
                let folder = try ScratchFolder()
                let fixture = DaemonFixture(folder: folder["state"])
                try fixture.start("[player]\nstate = \(folder["state"])\n[discovery]\n\(settings)")
                defer { fixture.end() }
                return fixture.perform { body($0, folder.path) }
            } catch {
                return "\(error)"
            }
        }
        return try #require(result)
    }
}
