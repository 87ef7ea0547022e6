/// How this machine is connected to others.
public enum NetworkState: Equatable, Sendable {
    /// There is no route to other networks.
    case offline
    /// By an interface that counts as cellular.
    case metered
    case online

    /// - Parameters:
    ///   - routes: the default routes.
    ///   - meteredInterfaces: those that count as cellular whatever they are called.
    ///   - isUp: whether an interface has a link.
    init(_ routes: [DefaultRoute], meteredInterfaces: [String], isUp: (_ interface: String) -> Bool) {
        // The kernel takes the lowest metric, of equal ones the one that came first.
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

    /// As it is now, as the kernel tells in /proc and /sys. Short reads without waiting.
    public static func current(meteredInterfaces: [String]) -> NetworkState {
        let routes = DefaultRoute.all(version4: text("/proc/net/route"), version6: text("/proc/net/ipv6_route"))
        return NetworkState(routes, meteredInterfaces: meteredInterfaces) { interface in
            let state = text("/sys/class/net/\(interface)/operstate")
            // A driver that does not know about links says "unknown".
            return state.starts(with: "up".utf8) || state.starts(with: "unknown".utf8)
        }
    }

    /// Empty where there is no such file: a kernel without IPv6 has none for it.
    private static func text(_ path: String) -> [UInt8] {
        do throws(SystemError) { return try File.contents(of: path, limit: 1 << 20) } catch { return [] }
    }
}
