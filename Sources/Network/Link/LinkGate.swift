import CLinux
import Platform

/// Queries the kernel whether a packet to an address may leave without cost (docs/decisions/metered-by-route.md).
///
/// Thread: any. Each query is a few system calls that do not wait.
struct LinkGate {
    enum Answer: Equatable {
        /// The address belongs to this machine.
        case local
        /// A packet may leave over the interface with this number.
        case open(over: Int32)
        case metered
        /// There is no route.
        case unreachable
    }

    let settings: LinkSettings

    /// Returns the costs of the interfaces as they are now.
    static func costs(_ settings: LinkSettings) -> LinkCosts {
        LinkCosts(NetworkInterface.all(), settings) { remote in
            var address = sockaddr_storage()
            let isAddress = remote.withUnsafeBufferPointer {
                tonearm_address_of_bytes($0.baseAddress, Int32($0.count), &address) == 0
            }
            guard isAddress, case (TONEARM_ROUTE_OUT, let interface) = Self.route(to: address) else { return nil }
            return interface
        }
    }

    private static func route(
        to address: sockaddr_storage, protocol: Int32 = 0
    ) -> (type: Int, interface: Int32) {
        var (address, interface) = (address, Int32(0))
        let type = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { tonearm_route($0, 0, `protocol`, &interface) }
        }
        // If the kernel does not answer, there is no known route.
        return (type < 0 ? TONEARM_ROUTE_NONE : Int(type), interface)
    }

    func answer(for peer: PeerAddress) -> Answer {
        let (type, interface) = Self.route(to: peer.address, protocol: peer.isDatagram ? 17 : 6)
        switch type {
        case TONEARM_ROUTE_LOCAL: return .local
        case TONEARM_ROUTE_OUT:
            return Self.costs(settings).isMetered(interface) ? .metered : .open(over: interface)
        case TONEARM_ROUTE_WRAPPED:
            return Self.costs(settings).isUnknownMetered ? .metered : .open(over: interface)
        default: return .unreachable
        }
    }
}
