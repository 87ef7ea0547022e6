/// Decides which interfaces of this machine cost money, from the interface itself and the interface that carries its
/// packets (docs/decisions/metered-by-route.md). A value: its only input besides its properties is `route`.
struct LinkCosts {
    /// The interface of the route to the other end of a tunnel; nil when there is none.
    typealias RouteToRemote = (_ remote: [UInt8]) -> Int32?

    private enum Cost: Equatable {
        case free(Link.Kind)
        case metered
        /// The interface that carries its packets is unknown.
        case unknown
    }

    private enum Carrier {
        /// Its own hardware, or packets never leave the machine.
        case itself
        case interface(Int32)
        /// Any of the ports of the interface.
        case ports
        /// The route to the other end of a tunnel.
        case remote([UInt8])
        case unknown
    }

    let interfaces: [NetworkInterface]
    let settings: LinkSettings
    let route: RouteToRemote

    init(_ interfaces: [NetworkInterface], _ settings: LinkSettings, route: @escaping RouteToRemote = { _ in nil }) {
        (self.interfaces, self.settings, self.route) = (interfaces, settings, route)
    }

    /// Returns whether packets over this interface cost money, as far as that is known.
    func isMetered(_ index: Int32) -> Bool { kind(of: index) == .cellular }

    func isMetered(_ interface: NetworkInterface) -> Bool { isMetered(interface.index) }

    /// Returns the kind of link over which packets of this interface leave the machine; never `offline`.
    func kind(of index: Int32) -> Link.Kind {
        switch cost(of: index, seen: []) {
        case .free(let kind): kind
        case .metered: .cellular
        case .unknown: isUnknownMetered ? .cellular : .ethernet
        }
    }

    /// Whether an interface of unknown cost counts as metered: false only when an unmetered link is running and no
    /// metered one.
    var isUnknownMetered: Bool {
        let running = interfaces.filter { $0.isRunning && !$0.isLoopback }
        if running.contains(where: { ownCost(of: $0) == .metered }) { return true }
        return !running.contains { interface in
            guard case .itself = carrier(of: interface) else { return false }
            return ownCost(of: interface) != .metered && !interface.isKind(["dummy"])
        }
    }

    func interface(_ index: Int32) -> NetworkInterface? { interfaces.first { $0.index == index } }

    func interface(named name: String) -> NetworkInterface? {
        interfaces.first { $0.name.utf8.elementsEqual(name.utf8) }
    }

    /// Returns the cost by name and kind alone; nil when it depends on the carrier.
    private func ownCost(of interface: NetworkInterface) -> Cost? {
        let isNamed = { (names: [String]) in names.contains { $0.utf8.elementsEqual(interface.name.utf8) } }
        if isNamed(settings.unmeteredInterfaces) { return .free(interface.isOf("wlan") ? .wifi : .ethernet) }
        return isNamed(settings.meteredInterfaces) || interface.isModem ? .metered : nil
    }

    private func cost(of index: Int32, seen: [Int32]) -> Cost {
        guard let interface = interface(index), !seen.contains(index) else { return .unknown }
        if let cost = ownCost(of: interface) { return cost }
        let seen = seen + [index]
        switch carrier(of: interface) {
        case .itself: return .free(interface.isOf("wlan") ? .wifi : .ethernet)
        case .interface(let lower): return cost(of: lower, seen: seen)
        case .remote(let remote): return route(remote).map { cost(of: $0, seen: seen) } ?? .unknown
        case .unknown: return .unknown
        case .ports:
            let costs = interfaces.filter { $0.master == index }.map { cost(of: $0.index, seen: seen) }
            if costs.contains(.metered) { return .metered }
            return costs.contains(.unknown) ? .unknown : costs.first ?? .unknown
        }
    }

    private func carrier(of interface: NetworkInterface) -> Carrier {
        if let tunnel = interface.tunnel {
            if tunnel.isUnpredictable { return .unknown }
            if let bound = tunnel.interface { return .interface(bound) }
            return tunnel.hasOneRemote ? .remote(tunnel.remote) : .unknown
        }
        // The routes of their packets are unknown, whatever interface is below them.
        if interface.isKind(["tun", "wireguard", "xfrm", "ovpn", "l2tpeth", "gtp"]) { return .unknown }
        if interface.isKind(["bridge", "bond", "team", "vrf", "hsr"]) { return .ports }
        // The other end of a virtual cable counts as another machine.
        if interface.isLoopback || interface.isKind(["veth", "netkit", "dummy"]) || interface.isOf("wlan") {
            return .itself
        }
        if case .driven = interface.device { return .itself }
        switch interface.lower {
        case .interface(let lower): return .interface(lower)
        case .none, .elsewhere: return .unknown
        }
    }
}

extension NetworkInterface.Tunnel {
    /// Whether the address is neither all zeros nor a multicast group.
    fileprivate var hasOneRemote: Bool {
        guard let first = remote.first, remote.contains(where: { $0 != 0 }) else { return false }
        return remote.count == 4 ? first & 0xF0 != 0xE0 : first != 0xFF
    }
}

extension NetworkInterface {
    // <linux/if_arp.h>: PPP, serial lines, and modems without a link-layer header.
    private static let modemHardware: [UInt16] = [256, 257, 258, 259, 512, 519, 820, 821]
    private static let loopback: UInt16 = 772
    /// The beginnings of the names of modems and phones. `ww` covers wwan0 and predictable names.
    private static let modemNames = [
        "ww", "ppp", "usb", "rndis", "bnep", "rmnet", "qmimux", "ccmni", "hso", "pdp", "mhi_",
    ]
    /// The types of modems, of Bluetooth, and of a USB gadget, where this board is the device of another machine.
    private static let modemTypes = ["wwan", "bluetooth", "gadget"]
    /// The drivers of modems and phones on a USB cable. Some Ethernet adapters use one of the first three: the board's
    /// profile then lists them as unmetered.
    private static let modemDrivers = [
        "cdc_ether", "cdc_ncm", "cdc_eem", "cdc_mbim", "huawei_cdc_ncm", "rndis_host", "ipheth", "qmi_wwan",
        "qmi_wwan_q", "sierra_net", "hso", "kalmia", "lg-vl600", "cdc_phonet", "GobiNet",
    ]

    var isLoopback: Bool { hardware == Self.loopback }

    /// Whether it is a modem, or a phone that shares its network.
    fileprivate var isModem: Bool {
        // Some Wi-Fi adapters use RNDIS.
        if isOf("wlan") { return false }
        if Self.modemHardware.contains(hardware) || Self.modemTypes.contains(where: { isOf($0) }) { return true }
        if Self.modemNames.contains(where: { name.utf8.starts(with: $0.utf8) }) { return true }
        guard case .driven(let driver?) = device else { return false }
        return Self.modemDrivers.contains { $0.utf8.elementsEqual(driver.utf8) }
    }
}
