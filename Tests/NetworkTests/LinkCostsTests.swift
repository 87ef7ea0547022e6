import Testing

@testable import Network

@Suite("Which links cost money (docs/decisions/metered-by-route.md)")
struct LinkCostsTests {
    private static let eth0 = NetworkInterface(index: 2, name: "eth0")
    private static let wwan0 = NetworkInterface(index: 3, name: "wwan0", type: "wwan")
    private static let wlan0 = NetworkInterface(index: 4, name: "wlan0", type: "wlan")

    private static func virtual(
        _ name: String, _ kind: String, over lower: Int32? = nil, tunnel: NetworkInterface.Tunnel? = nil
    ) -> NetworkInterface {
        NetworkInterface(
            index: 10, name: name, kind: kind, device: .none, lower: lower.map { .interface($0) } ?? .none,
            tunnel: tunnel)
    }

    private static func port(_ interface: NetworkInterface) -> NetworkInterface {
        var port = interface
        port.master = 10
        return port
    }

    private static func down(_ interface: NetworkInterface) -> NetworkInterface {
        var down = interface
        down.isRunning = false
        return down
    }

    private static func phone(_ name: String, driver: String? = nil, type: String? = nil) -> NetworkInterface {
        NetworkInterface(index: 10, name: name, type: type, device: .driven(by: driver))
    }

    @Test(
        "Modems, and phones that share their network, by name, type, hardware and driver",
        arguments: [
            (phone("wwan0"), true), (phone("wwp0s20u4"), true), (phone("ppp0"), true), (phone("usb0"), true),
            (phone("rndis0"), true), (phone("bnep0"), true), (phone("rmnet_data0"), true),
            (phone("eth1", type: "wwan"), true), (phone("pan", type: "bluetooth"), true),
            (phone("net0", type: "gadget"), true), (phone("enx0a1b2c3d4e5f", driver: "cdc_ncm"), true),
            (phone("enx0a1b2c3d4e5f", driver: "rndis_host"), true), (phone("eth1", driver: "ipheth"), true),
            (phone("eth1", driver: "cdc_ether"), true), (phone("enx0a1b2c3d4e5f", driver: "r8152"), false),
            (phone("eth1", driver: "smsc95xx"), false), (phone("eth1"), false),
            (phone("wlan1", driver: "rndis_wlan", type: "wlan"), false),
            (NetworkInterface(index: 10, name: "uplink", hardware: 512), true),
            (NetworkInterface(index: 10, name: "uplink", hardware: 519), true),
        ] as [(NetworkInterface, Bool)])
    func modems(_ interface: NetworkInterface, isMetered: Bool) {
        #expect(LinkCosts([interface], LinkSettings()).isMetered(10) == isMetered)
    }

    @Test("The profile of the board goes before all of that")
    func profile() {
        let settings = LinkSettings(meteredInterfaces: ["eth0"], unmeteredInterfaces: ["usb0", "wg0", "wlan0"])
        let interfaces = [
            Self.eth0, Self.wlan0, NetworkInterface(index: 5, name: "usb0"), Self.virtual("wg0", "wireguard"),
        ]
        let costs = LinkCosts(interfaces, settings)
        #expect(interfaces.map { costs.kind(of: $0.index) } == [.cellular, .wifi, .ethernet, .ethernet])
    }

    @Test(
        "A route over another interface costs as much as that interface",
        arguments: [
            (virtual("v", "vlan", over: 3), .cellular), (virtual("v", "vlan", over: 2), .ethernet),
            (virtual("v", "vlan", over: 4), .wifi), (virtual("v", "macvlan", over: 3), .cellular),
            (virtual("v", "ipvlan", over: 3), .cellular), (virtual("v", "macsec", over: 2), .ethernet),
            // A tunnel that is bound to an interface.
            (virtual("t", "ipip", tunnel: .init(interface: 3, remote: [10, 0, 0, 1])), .cellular),
            (virtual("t", "vxlan", tunnel: .init(interface: 2)), .ethernet),
            // A tunnel whose packets take the route to its other end: below, an odd last byte is over wwan0.
            (virtual("t", "ipip", tunnel: .init(remote: [10, 0, 0, 1])), .cellular),
            (virtual("t", "gre", tunnel: .init(remote: [10, 0, 0, 2])), .ethernet),
            (virtual("t", "sit", tunnel: .init(remote: [10, 0, 0, 1])), .cellular),
            (virtual("t", "ip6tnl", tunnel: .init(remote: [0xFD] + .init(repeating: 0, count: 14) + [2])), .ethernet),
            // The route is not known, and wwan0 is up.
            (virtual("t", "ipip", tunnel: .init(remote: [0, 0, 0, 0])), .cellular),
            (virtual("t", "vxlan", tunnel: .init(remote: [239, 1, 1, 2])), .cellular),
            (virtual("t", "gre", tunnel: .init(remote: [10, 0, 0, 2], isUnpredictable: true)), .cellular),
            (virtual("tun0", "tun"), .cellular), (virtual("wg0", "wireguard"), .cellular),
            (virtual("x", "xfrm", over: 2), .cellular), (virtual("new", "invented"), .cellular),
            (virtual("br0", "bridge"), .cellular),
            (virtual("c", "veth", over: 3), .ethernet),
        ] as [(NetworkInterface, Link.Kind)])
    func lower(_ interface: NetworkInterface, kind: Link.Kind) {
        let costs = LinkCosts([Self.eth0, Self.wwan0, Self.wlan0, interface], LinkSettings()) { remote in
            remote.last.map { $0 % 2 == 1 ? 3 : 2 }
        }
        #expect(costs.kind(of: 10) == kind)
    }

    @Test(
        "A bridge or a bond costs what its dearest port costs",
        arguments: [
            ("bridge", [port(eth0)], .ethernet), ("bridge", [port(eth0), port(wwan0)], .cellular),
            ("bond", [port(eth0), port(down(wwan0))], .cellular), ("bridge", [port(wlan0), wwan0], .wifi),
            ("team", [port(wwan0)], .cellular),
        ] as [(String, [NetworkInterface], Link.Kind)])
    func ports(_ kind: String, _ ports: [NetworkInterface], expected: Link.Kind) {
        #expect(LinkCosts([Self.virtual("b", kind)] + ports, LinkSettings()).kind(of: 10) == expected)
    }

    @Test("A VLAN over a bridge over a bond with a modem is metered; a circle is what nobody knows")
    func depth() {
        var bond = NetworkInterface(index: 11, name: "bond0", kind: "bond", device: .none)
        bond.master = 12
        var modem = Self.wwan0
        modem.master = 11
        let bridge = NetworkInterface(index: 12, name: "br0", kind: "bridge", device: .none)
        let all = [Self.virtual("v", "vlan", over: 12), bridge, bond, modem, Self.eth0]
        #expect(LinkCosts(all, LinkSettings()).isMetered(10))
        let circle = [
            Self.virtual("a", "vlan", over: 11),
            NetworkInterface(index: 11, name: "b", kind: "vlan", device: .none, lower: .interface(10)), Self.eth0,
        ]
        #expect(!LinkCosts(circle, LinkSettings()).isMetered(10))
        #expect(LinkCosts(circle + [Self.wwan0], LinkSettings()).isMetered(10))
    }

    @Test(
        "A route that cannot be followed is metered, unless there are only links that are not",
        arguments: [
            ([eth0], false), ([eth0, wwan0], true), ([eth0, down(wwan0)], false), ([wlan0], false), ([], true),
            ([down(eth0)], true), ([wwan0], true),
            ([NetworkInterface(index: 1, name: "lo", hardware: 772, device: .none)], true),
        ] as [([NetworkInterface], Bool)])
    func unknown(_ others: [NetworkInterface], isMetered: Bool) {
        #expect(LinkCosts([Self.virtual("tun0", "tun")] + others, LinkSettings()).isMetered(10) == isMetered)
        // In another namespace, or gone.
        var elsewhere = Self.virtual("m", "macvlan")
        elsewhere.lower = .elsewhere
        #expect(LinkCosts([elsewhere] + others, LinkSettings()).isMetered(10) == isMetered)
        #expect(LinkCosts(others, LinkSettings()).isMetered(99) == isMetered)
    }
}
