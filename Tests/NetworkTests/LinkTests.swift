import Glibc
import Platform
import Testing

@testable import Network

@Suite("The link: how it is found")
struct LinkTests {
    /// The routes as the kernel writes them.
    private static let version4 = """
        Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
        lan0\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
        wwan0\t00000000\t0100000A\t0003\t0\t0\t700\t00000000\t0\t0\t0
        eth0\t00000000\t0202000A\t0003\t0\t0\t100\t00000000\t0\t0\t0
        eth0\t0002000A\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0
        eth1\t00000000\t0202000A\t0002\t0\t0\t0\t00000000\t0\t0\t0
        eth1\t000000E0\t00000000\t0001\t0\t0\t0\t000000F0\t0\t0\t0
        eth1\t0000FEA9\t00000000\t0001\t0\t0\t1000\t0000FFFF\t0\t0\t0
        lo\t0000007F\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0

        """
    private static let version6 = """
        00000000000000000000000000000000 00 00000000000000000000000000000000 00 \
        fe800000000000000000000000000002 00000400 00000001 00000000 00000003     wlan0
        fe800000000000000000000000000000 40 00000000000000000000000000000000 00 \
        00000000000000000000000000000000 00000100 00000002 00000000 00000001     eth0
        fd000000000000010000000000000000 40 00000000000000000000000000000000 00 \
        00000000000000000000000000000000 00000100 00000001 00000000 00000001     lan1
        fd000000000000010000000000000001 80 00000000000000000000000000000000 00 \
        00000000000000000000000000000000 00000000 00000003 00000000 80200001     lan1
        ff000000000000000000000000000000 08 00000000000000000000000000000000 00 \
        00000000000000000000000000000000 00000100 00000004 00000000 00000001     lan1
        00000000000000000000000000000000 00 00000000000000000000000000000000 00 \
        00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo

        """

    /// The interfaces of the routes above.
    private static let interfaces = ["lan0", "wwan0", "eth0", "wlan0", "lan1"]

    private static func costs(
        down: [String] = [], types: [String: String] = ["wlan0": "wlan"], _ settings: LinkSettings = LinkSettings(),
        names: [String] = interfaces
    ) -> LinkCosts {
        let all = names.enumerated().map { index, name in
            NetworkInterface(
                index: Int32(index + 2), name: name, isRunning: !down.contains(name), type: types[name])
        }
        return LinkCosts(all, settings)
    }

    private func routes(_ version4: String = "", _ version6: String = "") -> [Route] {
        Route.all(version4: Array(version4.utf8), version6: Array(version6.utf8))
    }

    @Test("Routes that can be used, and no others")
    func usableRoutes() {
        let found = routes(Self.version4, Self.version6)
        #expect(
            found == [
                Route(interface: "lan0", network: "0000A8C0", isDefault: false),
                Route(interface: "wwan0", network: "0100000A", metric: 700),
                Route(interface: "eth0", network: "0202000A", metric: 100),
                Route(interface: "eth0", network: "0002000A", isDefault: false, metric: 100),
                Route(interface: "wlan0", network: "fe800000000000000000000000000002", metric: 1024),
                Route(
                    interface: "lan1", network: "fd000000000000010000000000000000", isDefault: false, metric: 256),
            ])
    }

    @Test(
        "Bytes that are no list of routes have none",
        arguments: ["", "\n", "nonsense", "a b c d e f g h i j k", "eth0\t00000000"])
    func nonsense(text: String) {
        #expect(routes(text, text) == [])
    }

    @Test(
        "The default route with the lowest metric whose interface is up decides, else a network",
        arguments: [
            ([], .ethernet, "eth0"), (["eth0"], .cellular, "wwan0"), (["eth0", "wwan0"], .wifi, "wlan0"),
            (["eth0", "wwan0", "wlan0"], .ethernet, "lan0"), (["eth0", "wwan0", "wlan0", "lan0"], .ethernet, "lan1"),
            (["eth0", "wwan0", "wlan0", "lan0", "lan1"], .offline, ""),
        ] as [([String], Link.Kind, String)])
    func routeInUse(down: [String], kind: Link.Kind, interface: String) {
        let link = Link(routes(Self.version4, Self.version6), Self.costs(down: down))
        #expect(link.kind == kind && link.interface == interface)
        #expect(link.hasUnmeteredRoute == (kind != .offline))
    }

    @Test(
        "Cellular is what the kernel or its name says, and what the board names; Wi-Fi is what the kernel says",
        arguments: [
            ("wwan0", nil, [], .cellular), ("ppp0", nil, [], .cellular), ("eth1", "wwan", [], .cellular),
            ("eth1", nil, [], .ethernet), ("eth1", nil, ["eth1"], .cellular), ("eth12", nil, ["eth1"], .ethernet),
            ("wlan0", "wlan", ["usb0"], .wifi), ("wlan0", "wlan", ["wlan0"], .cellular),
        ] as [(String, String?, [String], Link.Kind)])
    func kinds(interface: String, type: String?, named: [String], kind: Link.Kind) {
        let types = type.map { [interface: $0] } ?? [:]
        let costs = Self.costs(types: types, LinkSettings(meteredInterfaces: named), names: [interface])
        let link = Link([Route(interface: interface)], costs)
        #expect(link.kind == kind && link.isMetered == (kind == .cellular))
        #expect(link.hasUnmeteredRoute == !link.isMetered)
    }

    @Test("Another router behind the same interface is another link")
    func otherRouter() {
        let links = ["0102000A", "0103000A"].map { network in
            Link([Route(interface: "wlan0", network: network)], Self.costs())
        }
        #expect(!links[0].isSame(as: links[1]) && links[0] != links[1])
    }

    @Test(
        "A service on this machine needs no other one",
        arguments: [
            ("https://localhost:8443", true), ("http://127.0.0.1", true), ("http://[::1]:80/", true),
            ("https://LocalHost/a", true), ("https://music.example", false), ("https://128.0.0.1", false),
            ("https://localhost.example", false), ("https://127.example", false), ("nonsense", false), (nil, false),
        ] as [(String?, Bool)])
    func localService(service: String?, isLink: Bool) {
        let settings = LinkSettings(service: service)
        #expect(Link([], Self.costs(settings)).isOffline == !isLink)
        let link = Link([Route(interface: "wwan0")], Self.costs(settings))
        #expect(link.kind == .cellular)
    }

    @Test("Half of a default route comes before all of it, whatever their metrics are")
    func halves() {
        let text = """
            Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
            eth0\t00000000\t0202000A\t0003\t0\t0\t0\t00000000\t0\t0\t0
            wwan0\t00000000\t0100000A\t0003\t0\t0\t700\t00000080\t0\t0\t0
            wwan0\t00000080\t0100000A\t0003\t0\t0\t700\t00000080\t0\t0\t0

            """
        let link = Link(routes(text), Self.costs())
        #expect(link.kind == .cellular && link.interface == "wwan0" && link.hasUnmeteredRoute)
    }

    @Test("A name server of a link is asked over its own interface")
    func nameServerOfLink() throws {
        let server = try #require(NameServers.first(in: Array("nameserver fe80::1%lo\n".utf8)))
        var address = server.address
        let scope = withUnsafeBytes(of: &address) { $0.load(as: sockaddr_in6.self).sin6_scope_id }
        #expect(scope == if_nametoindex("lo") && scope != 0)
    }

    @Test(
        "The name server that is asked first, and the names of this machine's own file",
        arguments: [
            ("nameserver 10.0.0.1\nnameserver 10.0.0.2\n", true), ("# nothing\nsearch a\n", false),
            ("options x\nnameserver\tfe80::1%eth0\n", true), ("nameserver nonsense\n", false), ("", false),
        ] as [(String, Bool)])
    func nameServers(text: String, isFound: Bool) {
        #expect((NameServers.first(in: Array(text.utf8)) != nil) == isFound)
        let hosts = Array("127.0.0.1 localhost\n10.0.0.1\tMusic music.lan # radio\n".utf8)
        #expect(NameServers.isKnown("music.LAN", in: hosts) && NameServers.isKnown("music", in: hosts))
        #expect(!NameServers.isKnown("radio", in: hosts) && !NameServers.isKnown("10.0.0.1", in: hosts))
    }

    @Test(
        "The type in a uevent file",
        arguments: [
            ("DEVTYPE=wlan\nINTERFACE=wlan0\nIFINDEX=3\n", "wlan"), ("INTERFACE=eth0\nIFINDEX=2\n", nil), ("", nil),
            ("INTERFACE=x\nDEVTYPE=wwan", "wwan"), ("XDEVTYPE=wlan\n", nil),
        ] as [(String, String?)])
    func types(text: String, type: String?) {
        #expect(NetworkInterface.value(of: "DEVTYPE=", inEvent: Array(text.utf8)) == type)
    }

    @Test("The kernel lets it be watched")
    func watching() throws {
        let loop = try EventLoop()
        let monitor = try LinkMonitor(LinkSettings(), loop: loop) { _ in }
        #expect(monitor.link == Link.current(LinkSettings()))
        monitor.stop()
    }
}
