import Platform

/// The connection of this machine to other machines: the interface of its default route, or else of a connected
/// network. For a content service on this machine it is loopback when there is neither. A single transfer may use
/// another route: see `LinkGate`.
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
    /// Whether any route uses an unmetered link, this one or another.
    public let hasUnmeteredRoute: Bool
    /// Distinguishes the networks that an interface moves between.
    let network: String

    /// No route to other machines.
    public static let offline = Link(.offline)

    /// - Parameters:
    ///   - interface: its name; empty when offline.
    ///   - hasUnmeteredRoute: nil to derive it from the kind.
    public init(_ kind: Kind, interface: String = "", hasUnmeteredRoute: Bool? = nil) {
        self.init(
            kind, interface, network: "", hasUnmeteredRoute: hasUnmeteredRoute ?? (kind == .ethernet || kind == .wifi))
    }

    private init(_ kind: Kind, _ interface: String, network: String, hasUnmeteredRoute: Bool) {
        self.kind = kind
        self.interface = interface
        self.network = network
        self.hasUnmeteredRoute = hasUnmeteredRoute
    }

    /// Whether data costs money.
    public var isMetered: Bool { kind == .cellular }
    public var isOffline: Bool { kind == .offline }

    /// Returns whether both are the same interface in the same network. Other routes are ignored.
    func isSame(as other: Link) -> Bool {
        kind == other.kind && interface.utf8.elementsEqual(other.interface.utf8)
            && network.utf8.elementsEqual(other.network.utf8)
    }

    /// - Parameters:
    ///   - routes: the routes of all interfaces.
    ///   - costs: the costs and the interfaces at the same moment.
    init(_ routes: [Route], _ costs: LinkCosts) {
        let usable = routes.compactMap { route in
            costs.interface(named: route.interface).flatMap { $0.isRunning ? (route, $0.index) : nil }
        }
        // The kernel prefers half of a default route to a whole one, then the lowest metric, then the first of equal
        // routes.
        let best = usable.filter { $0.0.isDefault }.min {
            ($1.0.prefixLength, $0.0.metric) < ($0.0.prefixLength, $1.0.metric)
        }
        guard let (route, index) = best ?? usable.first else {
            self = costs.settings.isServiceLocal ? Link(.ethernet, interface: "lo") : .offline
            return
        }
        self.init(
            costs.kind(of: index), route.interface, network: route.network,
            hasUnmeteredRoute: usable.contains { !costs.isMetered($0.1) })
    }

    /// Returns the current link, from the kernel, /proc and /sys. Short reads without waiting. Any thread.
    public static func current(_ settings: LinkSettings) -> Link { current(LinkGate.costs(settings)) }

    static func current(_ costs: LinkCosts) -> Link {
        // The routes of the calling thread, which may be in another network namespace than the process.
        let routes = Route.all(
            version4: text("/proc/thread-self/net/route"), version6: text("/proc/thread-self/net/ipv6_route"))
        return Link(routes, costs)
    }

    /// Returns an empty array when the file is missing: a kernel without IPv6 does not have it.
    private static func text(_ path: String) -> [UInt8] {
        do throws(SystemError) { return try File.contents(of: path, limit: 1 << 20) } catch { return [] }
    }
}
