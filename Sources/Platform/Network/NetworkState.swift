/// The connection of this machine to other networks.
public enum NetworkState: Equatable, Sendable {
    /// There is no route to other networks.
    case offline
    /// Through an interface that counts as cellular.
    case metered
    case online

    /// - Parameters:
    ///   - routes: the default routes.
    ///   - meteredInterfaces: interfaces that count as cellular by configuration.
    ///   - isUp: whether an interface has a link.
    init(_ routes: [DefaultRoute], meteredInterfaces: [String], isUp: (_ interface: String) -> Bool) {
        // The kernel uses the lowest metric; of equal ones the first.
        let usable = routes.filter { isUp($0.interface) }
        guard let route = usable.min(by: { $0.metric < $1.metric }) else {
            self = .offline
            return
        }
        let isMetered =
            meteredInterfaces.contains { $0.utf8.elementsEqual(route.interface.utf8) }
            || ["wwan", "ppp"].contains { route.interface.utf8.starts(with: $0.utf8) }
        self = isMetered ? .metered : .online
    }

    /// The current state, from /proc and /sys. Short reads without waiting.
    public static func current(meteredInterfaces: [String]) -> NetworkState {
        let routes = DefaultRoute.all(version4: text("/proc/net/route"), version6: text("/proc/net/ipv6_route"))
        return NetworkState(routes, meteredInterfaces: meteredInterfaces) { interface in
            let state = text("/sys/class/net/\(interface)/operstate")
            // A driver without link detection reports "unknown".
            return state.starts(with: "up".utf8) || state.starts(with: "unknown".utf8)
        }
    }

    /// Empty when the file is missing: a kernel without IPv6 does not have it.
    private static func text(_ path: String) -> [UInt8] {
        do throws(SystemError) { return try File.contents(of: path, limit: 1 << 20) } catch { return [] }
    }
}
