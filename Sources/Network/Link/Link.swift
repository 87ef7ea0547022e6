import Platform

/// The connection of this machine to other machines: the interface of its default route, else of a network that it is
/// connected to, else, for a content service on this machine, loopback.
public struct Link: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        /// There is no route to other machines.
        case offline
        case ethernet
        case wifi
        case cellular
    }

    public let kind: Kind
    /// Empty when offline.
    public let interface: String
    /// Tells apart the networks that an interface moves between.
    let network: String

    /// No route to other machines.
    public static let offline = Link(.offline)

    /// - Parameter interface: its name; empty when offline.
    public init(_ kind: Kind, interface: String = "") { self.init(kind, interface, network: "") }

    private init(_ kind: Kind, _ interface: String, network: String) {
        self.kind = kind
        self.interface = interface
        self.network = network
    }

    /// Whether data costs money.
    public var isMetered: Bool { kind == .cellular }
    public var isOffline: Bool { kind == .offline }

    /// What the kernel says about an interface.
    struct Interface: Equatable {
        /// It has a carrier, or a driver that cannot tell.
        var isUp: Bool
        /// `DEVTYPE` of the kernel: `wlan`, `wwan`; nil for most others.
        var type: String?
    }

    /// - Parameters:
    ///   - routes: of all interfaces.
    ///   - look: asks the kernel about an interface.
    init(_ routes: [Route], _ settings: LinkSettings, look: (_ interface: String) -> Interface) {
        let usable = routes.filter { look($0.interface).isUp }
        // The kernel uses the lowest metric; of equal ones the first.
        guard let route = usable.filter({ $0.isDefault }).min(by: { $0.metric < $1.metric }) ?? usable.first else {
            self = settings.isServiceLocal ? Link(.ethernet, interface: "lo") : .offline
            return
        }
        let kind = Self.kind(of: route.interface, look(route.interface), settings.meteredInterfaces)
        self.init(kind, route.interface, network: route.network)
    }

    private static func kind(of name: String, _ interface: Interface, _ meteredInterfaces: [String]) -> Kind {
        let isNamed = meteredInterfaces.contains { $0.utf8.elementsEqual(name.utf8) }
        // A modem with PPP has no type of its own.
        let isModem = ["wwan", "ppp"].contains { name.utf8.starts(with: $0.utf8) }
        if isNamed || isModem || interface.isOf("wwan") { return .cellular }
        return interface.isOf("wlan") ? .wifi : .ethernet
    }

    /// The current link, from /proc and /sys. Short reads without waiting. Any thread.
    public static func current(_ settings: LinkSettings) -> Link {
        // Of the calling thread, which may be in another network namespace than the process.
        let routes = Route.all(
            version4: text("/proc/thread-self/net/route"), version6: text("/proc/thread-self/net/ipv6_route"))
        return Link(routes, settings) { name in
            let state = text("/sys/class/net/\(name)/operstate")
            // A driver without link detection reports "unknown".
            return Interface(
                isUp: state.starts(with: "up".utf8) || state.starts(with: "unknown".utf8),
                type: Interface.type(inEvent: text("/sys/class/net/\(name)/uevent")))
        }
    }

    /// Empty when the file is missing: a kernel without IPv6 does not have it.
    private static func text(_ path: String) -> [UInt8] {
        do throws(SystemError) { return try File.contents(of: path, limit: 1 << 20) } catch { return [] }
    }
}

extension Link.Interface {
    /// `DEVTYPE` in the lines of a `uevent` file.
    static func type(inEvent text: [UInt8]) -> String? {
        let mark = "DEVTYPE=".utf8
        for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: mark) {
            return String(decoding: line.dropFirst(mark.count), as: UTF8.self)
        }
        return nil
    }

    fileprivate func isOf(_ type: String) -> Bool { self.type.map { $0.utf8.elementsEqual(type.utf8) } ?? false }
}
