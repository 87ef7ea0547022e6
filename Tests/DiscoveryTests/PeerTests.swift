import Foundation
import Platform
import TestSupport
import Testing

@testable import Discovery

/// avahi and python's zeroconf as the phones on the other end of a cable.
@Suite(
    "Other programs find the services",
    .enabled(if: NetworkNamespace.isAvailable, "it needs root, for network namespaces of its own"))
struct PeerTests {
    /// Runs `body` in a namespace, and fails with its error.
    private func inNamespace(_ body: @escaping @Sendable () throws -> Void) {
        let problem = NetworkNamespace.onThread { () -> String? in
            do {
                try body()
                return nil
            } catch {
                return "\(error)"
            }
        }
        #expect(problem == .some(nil))
    }

    private static func expect(_ isTrue: Bool, _ what: @autoclosure () -> String) throws {
        if !isTrue { throw Unexpected(what()) }
    }

    @Test("avahi and zeroconf find name, host, address, port and texts, and a new address; after the end they are gone")
    func found() {
        inNamespace {
            let renamed = Recorder<String>()
            let machine = try AnnouncingMachine(
                name: "Küche", host: "kitchen",
                [
                    AnnouncedService(type: "_mpd._tcp", port: 6600),
                    AnnouncedService(type: "_http._tcp", port: 80, texts: ["path=/"]),
                ], renamed: renamed)
            let avahi = try Avahi(host: "phone")
            let browser = try avahi.client("avahi-browse", "-rpk", "_mpd._tcp")
            try machine.start()
            let name = #"K\195\188che"#
            try browser.line("the announcement") {
                $0 == "=;far;IPv4;\(name);_mpd._tcp;local;kitchen.local;10.9.0.1;6600;"
            }

            let web = try avahi.run("avahi-browse", "-rptk", "_http._tcp")
            try Self.expect(web.contains(#";kitchen.local;10.9.0.1;80;"path=/""#), web)
            let all = try avahi.run("avahi-browse", "-aptk")
            try Self.expect(all.contains("_mpd._tcp") && all.contains("_http._tcp"), all)
            let host = try avahi.run("avahi-resolve", "-4", "-n", "kitchen.local")
            try Self.expect(host == "kitchen.local\t10.9.0.1\n", host)
            let sixth = try avahi.run("avahi-resolve", "-6", "-n", "kitchen.local")
            try Self.expect(sixth == "kitchen.local\tfe80::1\n", sixth)
            let zeroconf = try avahi.run("/usr/bin/python3", "-c", Self.zeroconf)
            try Self.expect(zeroconf == "Küche kitchen.local. 80 10.9.0.1 b'/'\n", zeroconf)

            machine.setAddress(7)
            try waitUntil("the new address", log: renamed.elements.joined(separator: "\n")) {
                try avahi.run("avahi-resolve", "-4", "-n", "kitchen.local") == "kitchen.local\t10.9.0.7\n"
            }
            machine.stop()
            try browser.line("the goodbye") { $0 == "-;far;IPv4;\(name);_mpd._tcp;local" }
            try machine.end()
            browser.kill()
            try avahi.end()
            try Self.expect(renamed.elements.isEmpty, "renamed: \(renamed.elements)")
        }
    }

    /// Prints the service of the web server, as an application that uses python's zeroconf sees it.
    private static let zeroconf = """
        import zeroconf
        z = zeroconf.Zeroconf(interfaces=["10.9.0.2"])
        i = z.get_service_info("_http._tcp.local.", "Küche._http._tcp.local.", 10000)
        address = i.parsed_addresses(zeroconf.IPVersion.V4Only)[0]
        print(i.name.split(".")[0], i.server, i.port, address, i.properties[b"path"])
        z.close()
        """

    @Test("A machine that has the names already keeps them, and this one gets numbers")
    func conflict() {
        inNamespace {
            let renamed = Recorder<String>()
            let machine = try AnnouncingMachine(
                name: "Kitchen", host: "kitchen", [AnnouncedService(type: "_mpd._tcp", port: 6600)], renamed: renamed)
            let avahi = try Avahi(host: "kitchen")
            let publisher = try avahi.client("avahi-publish", "-s", "Kitchen", "_mpd._tcp", "6601")
            let browser = try avahi.client("avahi-browse", "-rpk", "_mpd._tcp")
            try browser.line("its own service") {
                $0.hasPrefix("=;far;IPv4;Kitchen;_mpd._tcp;local;kitchen.local;10.9.0.2;6601;")
            }
            try machine.start()
            try browser.line("the renamed service") {
                $0 == #"=;far;IPv4;Kitchen\032\0402\041;_mpd._tcp;local;kitchen-2.local;10.9.0.1;6600;"#
            }
            try Self.expect(renamed.elements.last == "Kitchen (2), kitchen-2", "renamed: \(renamed.elements)")
            let host = try avahi.run("avahi-resolve", "-4", "-n", "kitchen.local")
            try Self.expect(host == "kitchen.local\t10.9.0.2\n", host)
            try machine.end()
            browser.kill()
            publisher.kill()
            try avahi.end()
        }
    }

    @Test("A port that another program has for itself is an error, and nothing stays open")
    func takenPort() {
        inNamespace {
            let socket = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
            defer { close(socket) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(5353).bigEndian
            let isBound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            try Self.expect(isBound, "port 5353 is taken in a new namespace")
            let loop = try EventLoop()
            let announcer = ServiceAnnouncer(
                loop: loop, name: "", host: "kitchen", services: [AnnouncedService(type: "_mpd._tcp", port: 6600)])
            do throws(SystemError) {
                try announcer.start()
                throw SystemError(code: 0, operation: "no error")
            } catch {
                guard error.code == EADDRINUSE else { throw error }
            }
            close(socket)
            try announcer.start()
            announcer.stop()
        }
    }
}
