import Platform
import Testing

@testable import Network

@Suite("The link: how it is found")
struct LinkTests {
    /// As the kernel writes them.
    private static let version4 = """
        Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
        wwan0\t00000000\t0100000A\t0003\t0\t0\t700\t00000000\t0\t0\t0
        eth0\t00000000\t0202000A\t0003\t0\t0\t100\t00000000\t0\t0\t0
        eth0\t0002000A\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0
        eth1\t00000000\t0202000A\t0002\t0\t0\t0\t00000000\t0\t0\t0

        """
    private static let version6 = """
        00000000000000000000000000000000 00 00000000000000000000000000000000 00 \
        fe800000000000000000000000000002 00000400 00000001 00000000 00000003     wlan0
        fe800000000000000000000000000000 40 00000000000000000000000000000000 00 \
        00000000000000000000000000000000 00000100 00000002 00000000 00000001     eth0
        00000000000000000000000000000000 00 00000000000000000000000000000000 00 \
        00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo

        """

    private func routes(_ version4: String = "", _ version6: String = "") -> [DefaultRoute] {
        DefaultRoute.all(version4: Array(version4.utf8), version6: Array(version6.utf8))
    }

    @Test("Default routes that can be used, and no others")
    func defaultRoutes() {
        let found = routes(Self.version4, Self.version6)
        #expect(
            found == [
                DefaultRoute(interface: "wwan0", gateway: "0100000A", metric: 700),
                DefaultRoute(interface: "eth0", gateway: "0202000A", metric: 100),
                DefaultRoute(interface: "wlan0", gateway: "fe800000000000000000000000000002", metric: 1024),
            ])
    }

    @Test(
        "What is no list of routes has none",
        arguments: ["", "\n", "nonsense", "a b c d e f g h i j k", "eth0\t00000000"])
    func nonsense(text: String) {
        #expect(routes(text, text) == [])
    }

    @Test(
        "The route with the lowest metric whose interface is up decides",
        arguments: [
            ([], .ethernet, "eth0"), (["eth0"], .cellular, "wwan0"), (["eth0", "wwan0"], .wifi, "wlan0"),
            (["eth0", "wwan0", "wlan0"], .offline, ""),
        ] as [([String], Link.Kind, String)])
    func routeInUse(down: [String], kind: Link.Kind, interface: String) {
        let link = Link(routes(Self.version4, Self.version6), meteredInterfaces: []) { name in
            Link.Interface(isUp: !down.contains(name), type: name == "wlan0" ? "wlan" : nil)
        }
        #expect(link.kind == kind && link.interface == interface)
    }

    @Test(
        "Cellular is what the kernel or its name says, and what the board names; Wi-Fi is what the kernel says",
        arguments: [
            ("wwan0", nil, [], .cellular), ("ppp0", nil, [], .cellular), ("usb0", "wwan", [], .cellular),
            ("usb0", nil, [], .ethernet), ("usb0", nil, ["usb0"], .cellular), ("usb01", nil, ["usb0"], .ethernet),
            ("wlan0", "wlan", ["usb0"], .wifi), ("wlan0", "wlan", ["wlan0"], .cellular),
        ] as [(String, String?, [String], Link.Kind)])
    func kinds(interface: String, type: String?, named: [String], kind: Link.Kind) {
        let route = DefaultRoute(interface: interface, metric: 0)
        let link = Link([route], meteredInterfaces: named) { _ in Link.Interface(isUp: true, type: type) }
        #expect(link.kind == kind && link.isMetered == (kind == .cellular))
    }

    @Test("Another router behind the same interface is another link")
    func otherRouter() {
        let links = ["0102000A", "0103000A"].map { gateway in
            Link([DefaultRoute(interface: "wlan0", gateway: gateway, metric: 0)], meteredInterfaces: []) { _ in
                Link.Interface(isUp: true)
            }
        }
        #expect(links[0] != links[1])
    }

    @Test(
        "The type in a uevent file",
        arguments: [
            ("DEVTYPE=wlan\nINTERFACE=wlan0\nIFINDEX=3\n", "wlan"), ("INTERFACE=eth0\nIFINDEX=2\n", nil), ("", nil),
            ("INTERFACE=x\nDEVTYPE=wwan", "wwan"), ("XDEVTYPE=wlan\n", nil),
        ] as [(String, String?)])
    func types(text: String, type: String?) {
        #expect(Link.Interface.type(inEvent: Array(text.utf8)) == type)
    }

    @Test("The kernel lets it be watched")
    func watching() throws {
        let loop = try EventLoop()
        let monitor = try LinkMonitor(meteredInterfaces: [], loop: loop) { _ in }
        #expect(monitor.link == Link.current(meteredInterfaces: []))
        monitor.stop()
    }
}
