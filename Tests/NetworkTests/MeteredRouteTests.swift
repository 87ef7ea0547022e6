import Foundation
import TestSupport
import Testing

@testable import Network

/// A cable and a modem as the kernel has them, in network namespaces.
@Suite(
    "Not a byte over a metered link (docs/decisions/metered-by-route.md)", .serialized,
    .enabled(if: NetworkNamespace.isAvailable))
struct MeteredRouteTests: MeteredSuite {
    /// The result of one transfer, and how much of it the modem has carried.
    private struct Outcome: Equatable, CustomStringConvertible {
        var error: TransferError?
        var carried: Int
        var body = ""

        static let refused = Outcome(error: .meteredLink, carried: 0)
        static let delivered = Outcome(error: nil, carried: 0, body: "ok")
        var description: String { "\(error.map { "\($0)" } ?? "complete"), \(carried) bytes over the modem, \(body)" }
    }

    /// A transfer that may not use a metered link, on a machine that was set up by lines of ip(8).
    private static func outcome(
        modem: String = "wwan0", version: Int = 4, links: LinkSettings = LinkSettings(), _ lines: [String]
    ) -> Outcome? {
        NetworkNamespace.onThread { () -> Outcome? in
            guard let machine = TwoLinks(modem: modem, whole), let network = try? network(links) else { return nil }
            for line in lines where !NetworkNamespace.ip(line) { return nil }
            _ = machine.carriedBytes()
            let (sink, error) = network.run(request(machine.url(version)))
            network.stop()
            return Outcome(error: error, carried: machine.carriedBytes(), body: sink.text)
        } ?? nil
    }

    /// A row of the matrix: the setup of the machine, and the outcome of a transfer that may not use a metered link.
    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var modem = "wwan0"
        var version = 4
        var unmetered: [String] = []
        let isDelivered: Bool
        let lines: [String]

        init(
            _ name: String, modem: String = "wwan0", version: Int = 4, unmetered: [String] = [], isDelivered: Bool,
            _ lines: [String]
        ) {
            testDescription = name
            (self.modem, self.version, self.unmetered) = (modem, version, unmetered)
            (self.isDelivered, self.lines) = (isDelivered, lines)
        }
    }

    /// The kernel sends no neighbour discovery into a tunnel, which would be bytes over the modem.
    private static let quiet = "link set vx0 addrgenmode none"

    static let rows = [
        Row("both, the cable first", isDelivered: true, [overCable, overModem]),
        Row("both, the modem first", isDelivered: false, [overCable, "route add default via 10.8.0.2 metric 50"]),
        Row("the modem alone", isDelivered: false, [overModem]),
        Row("no route at all to it", isDelivered: false, []),
        Row(
            "IPv6 over the modem, IPv4 over the cable", version: 6, isDelivered: false,
            [
                overCable, "-6 route add default via fd08::2",
            ]),
        Row(
            "IPv6 over the cable, IPv4 over the modem", version: 6, isDelivered: true,
            [
                overModem, "-6 route add default via fd09::2",
            ]),
        Row(
            "a route to the service over the modem", isDelivered: false,
            [
                overCable, "route add 10.99.0.1/32 via 10.8.0.2",
            ]),
        Row(
            "a route to the service over the cable", isDelivered: true,
            [
                overModem, "route add 10.99.0.1/32 via 10.9.0.2",
            ]),
        Row(
            "both halves of all addresses over the modem", isDelivered: false,
            [
                overCable, "route add 0.0.0.0/1 via 10.8.0.2", "route add 128.0.0.0/1 via 10.8.0.2",
            ]),
        Row(
            "a rule by the address", isDelivered: false,
            [
                overCable, "route add default via 10.8.0.2 table 100", "rule add to 10.99.0.0/16 lookup 100",
            ]),
        Row(
            "a rule by the user", isDelivered: false,
            [
                overCable, "route add default via 10.8.0.2 table 100", "rule add uidrange 0-0 lookup 100",
            ]),
        Row(
            "a rule by the protocol", isDelivered: false,
            [
                overCable, "route add default via 10.8.0.2 table 100", "rule add ipproto tcp lookup 100",
            ]),
        Row(
            "a rule that leads back to the cable", isDelivered: true,
            [
                overModem, "route add default via 10.9.0.2 table 100", "rule add to 10.99.0.0/16 lookup 100",
            ]),
        Row(
            "a VPN of a program beside both", isDelivered: false,
            [
                overCable, "tuntap add tun0 mode tun", "link set tun0 up", "route add 10.99.0.1/32 dev tun0",
            ]),
        Row(
            "a VPN of a program, and the modem is up", isDelivered: false,
            [
                overModem, "tuntap add tun0 mode tun", "addr add 10.7.0.1/24 dev tun0", "link set tun0 up",
                "route add 10.99.0.1/32 dev tun0",
            ]),
        Row(
            "a tunnel whose other end is behind the modem", isDelivered: false,
            [
                overCable, "link add vx0 type vxlan id 5 remote 10.8.0.2 dstport 4789",
                quiet, "addr add 10.7.0.1/24 dev vx0", "link set vx0 up",
                "route add 10.99.0.1/32 via 10.7.0.2",
            ]),
        Row(
            "a tunnel that is bound to the modem", isDelivered: false,
            [
                overCable, "link add vx0 type vxlan id 5 remote 10.9.0.2 dev wwan0 dstport 4789",
                quiet, "addr add 10.7.0.1/24 dev vx0", "link set vx0 up",
                "route add 10.99.0.1/32 via 10.7.0.2",
            ]),
        Row(
            "a bridge with the modem", isDelivered: false,
            [
                "link add br0 type bridge", "link set wwan0 master br0", "addr flush dev wwan0",
                "addr add 10.8.0.1/24 dev br0", "link set br0 up", "route add default via 10.8.0.2 dev br0",
            ]),
        Row(
            "a bridge with the cable", isDelivered: true,
            [
                overModem, "link add br0 type bridge", "link set eth0 master br0", "addr flush dev eth0",
                "addr add 10.9.0.1/24 dev br0", "link set br0 up", "route add 10.99.0.1/32 via 10.9.0.2 dev br0",
            ]),
        Row(
            "another interface on the modem", isDelivered: false,
            [
                "link add link wwan0 name internet type macvlan mode bridge", "addr flush dev wwan0",
                "addr add 10.8.0.1/24 dev internet", "link set internet up",
                "route add default via 10.8.0.2 dev internet",
            ]),
        Row("a phone on USB", modem: "usb0", isDelivered: false, [overModem]),
        Row("a phone on Bluetooth", modem: "bnep0", isDelivered: false, [overModem]),
        Row(
            "a phone on USB that the profile knows", modem: "usb0", unmetered: ["usb0"], isDelivered: true,
            [
                overModem
            ]),
    ]

    @Test("A transfer that may not use the modem is never on it", arguments: rows)
    func matrix(_ row: Row) throws {
        let links = LinkSettings(unmeteredInterfaces: row.unmetered)
        var outcome = try #require(
            Self.outcome(modem: row.modem, version: row.version, links: links, row.lines), "the machine was not made")
        if !row.unmetered.isEmpty {
            #expect(outcome.carried > 0)
            outcome.carried = 0
        }
        let expected: Outcome =
            row.isDelivered
            ? .delivered
            : row.lines.isEmpty
                ? Outcome(error: .connection(.unreachable), carried: 0)
                : .refused
        #expect(outcome == expected)
    }

    @Test("The same transfers go when they may")
    func permitted() throws {
        let outcome = NetworkNamespace.onThread { () -> Outcome? in
            guard let machine = TwoLinks(Self.whole), let network = try? Self.network(),
                NetworkNamespace.ip(Self.overModem)
            else { return nil }
            let (sink, error) = network.run(Self.request(machine.url(4), mayUseMeteredLink: true))
            #expect(machine.carriedBytes() > 0)
            // Its connection is open, but not for a transfer that may not use it.
            let refused = network.run(Self.request(machine.url(4))).error
            #expect(refused == .meteredLink)
            #expect(network.isMetered(host: "10.99.0.1") == true)
            #expect(network.isMetered(host: "10.99.0.2") == nil)
            network.stop()
            return Outcome(error: error, carried: 0, body: sink.text)
        }
        #expect(try #require(outcome) == .delivered)
    }

    @Test("Of a name with both kinds of addresses, the one over the cable is used")
    func name() throws {
        let folder = try ScratchFolder()
        let hosts = folder["hosts"]
        try Data("10.99.0.1 service.test\nfd99::1 service.test\n".utf8).write(to: URL(fileURLWithPath: hosts))
        let outcome = NetworkNamespace.onThread { () -> Outcome? in
            guard mount(hosts, "/etc/hosts", nil, UInt(MS_BIND), nil) == 0, let machine = TwoLinks(Self.whole),
                let network = try? Self.network(),
                NetworkNamespace.ip(Self.overCable, "-6 route add default via fd08::2")
            else { return nil }
            let url = "http://service.test:\(machine.server.port)/"
            let (sink, error) = network.run(Self.request(url))
            network.stop()
            return Outcome(error: error, carried: machine.carriedBytes(), body: sink.text)
        }
        #expect(try #require(outcome) == .delivered)
    }

    @Test("A name server behind the modem is not asked")
    func nameServer() throws {
        let folder = try ScratchFolder()
        let resolver = folder["resolv.conf"]
        try Data("nameserver 10.8.0.2\n".utf8).write(to: URL(fileURLWithPath: resolver))
        let outcome = NetworkNamespace.onThread { () -> Outcome? in
            guard mount(resolver, "/etc/resolv.conf", nil, UInt(MS_BIND), nil) == 0,
                let machine = TwoLinks(Self.whole), let network = try? Self.network(),
                NetworkNamespace.ip(Self.overCable)
            else { return nil }
            let error = network.run(Self.request("http://service.test:\(machine.server.port)/")).error
            network.stop()
            return Outcome(error: error, carried: machine.carriedBytes())
        }
        #expect(try #require(outcome) == .refused)
    }

    @Test("A request on an open connection asks again, also before anybody has told the network")
    func reuse() throws {
        let outcome = NetworkNamespace.onThread { () -> [Outcome]? in
            guard let machine = TwoLinks(Self.whole), let network = try? Self.network(),
                NetworkNamespace.ip(Self.overCable)
            else { return nil }
            var outcomes: [Outcome] = []
            for line in ["route add 10.99.0.1/32 via 10.8.0.2", "route del 10.99.0.1/32", "link set lo up"] {
                let (sink, error) = network.run(Self.request(machine.url(4)))
                outcomes.append(Outcome(error: error, carried: machine.carriedBytes(), body: sink.text))
                NetworkNamespace.ip(line)
            }
            #expect(machine.server.connectionCount <= 2)
            network.stop()
            return outcomes
        }
        #expect(try #require(outcome) == [.delivered, .refused, .delivered])
    }

    @Test("A tunnel that a program of this machine carries on: a proxy is one")
    func proxy() throws {
        let errors = NetworkNamespace.onThread { () -> [TransferError?]? in
            guard let machine = TwoLinks(Self.whole), NetworkNamespace.ip(Self.overCable) else { return nil }
            let proxy = ScriptedServer(Self.whole)
            var settings = NetworkSettings { 1_800_000_000 }
            settings.proxy = proxy.url("")
            guard let authority = try? Nginx.shared.get().certificates.authority else { return nil }
            settings.caFile = authority
            guard let network = try? Network(settings) else { return nil }
            let first = network.run(Self.request(machine.url(4))).error
            NetworkNamespace.ip("link set wwan0 down")
            let second = network.run(Self.request(machine.url(4))).error
            network.stop()
            return [first, second]
        }
        #expect(try #require(errors) == [.meteredLink, nil])
    }
}
