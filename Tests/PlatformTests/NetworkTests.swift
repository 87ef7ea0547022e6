import Testing

@testable import Platform

@Suite("How the network is found")
struct NetworkTests {
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
                DefaultRoute(interface: "wwan0", metric: 700), DefaultRoute(interface: "eth0", metric: 100),
                DefaultRoute(interface: "wlan0", metric: 1024),
            ])
    }

    @Test(
        "What is no list of routes has none",
        arguments: ["", "\n", "nonsense", "a b c d e f g h i j k", "eth0\t00000000"])
    func nonsense(text: String) {
        #expect(routes(text, text) == [])
    }

    @Test(
        "The route with the lowest metric whose link is up says what the network is",
        arguments: [
            ([], .online), (["eth0"], .metered), (["eth0", "wwan0"], .online), (["eth0", "wwan0", "wlan0"], .offline),
        ] as [([String], NetworkState)])
    func links(down: [String], state: NetworkState) {
        let found = NetworkState(routes(Self.version4, Self.version6), meteredInterfaces: []) { !down.contains($0) }
        #expect(found == state)
    }

    @Test(
        "Cellular is what is called so, and what the board names",
        arguments: [
            ("wwan0", [], NetworkState.metered), ("ppp0", [], .metered), ("usb0", [], .online),
            ("usb0", ["usb0"], .metered),
            ("usb01", ["usb0"], .online), ("wlan0", ["usb0"], .online),
        ] as [(String, [String], NetworkState)])
    func cellular(interface: String, named: [String], state: NetworkState) {
        let route = DefaultRoute(interface: interface, metric: 0)
        #expect(NetworkState([route], meteredInterfaces: named) { _ in true } == state)
    }

    @Test("The kernel lets it be watched")
    func watching() throws {
        let loop = try EventLoop()
        let watch = try NetworkWatch(meteredInterfaces: [], loop: loop) { _ in }
        #expect(watch.state == NetworkState.current(meteredInterfaces: []))
        watch.stop()
    }
}
