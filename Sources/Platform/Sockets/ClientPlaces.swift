/// Decides which client leaves when all places are taken and another one connects. It has no state
/// (docs/decisions/places-for-clients.md).
///
///     var places = ClientPlaces(limit: 50)
///     places.decide(for: newcomer, among: clients)    // .welcome, .replace(client's number) or .refuse
public struct ClientPlaces: Sendable {
    /// A client that is connected.
    public struct Client: Sendable {
        public var number: UInt64
        /// The network from `network(of:)`; empty for a client of this machine's own sockets.
        public var network: [UInt8]
        /// The time of the client's last request, or of its connection, in nanoseconds of a monotonic clock.
        public var lastRequest: Int64

        public init(number: UInt64, network: [UInt8], lastRequest: Int64) {
            self.number = number
            self.network = network
            self.lastRequest = lastRequest
        }
    }

    public enum Decision: Equatable, Sendable {
        case welcome
        /// The client of this number makes room.
        case replace(UInt64)
        case refuse
    }

    /// The most clients.
    public var limit: Int

    public init(limit: Int) { self.limit = limit }

    /// Returns the part of an address that its owner cannot change. A customer of a provider has 64 bits of a global
    /// address of IPv6, and may change the others. The machines of one house share those bits of a local address.
    /// - Parameter address: 16 bytes, as `StreamSocket.peerAddress` has them; empty for a local client.
    public static func network(of address: [UInt8]) -> [UInt8] {
        // 2000::/3 has the global addresses (RFC 4291, 2.4).
        (address.first ?? 0) & 0xE0 == 0x20 ? Array(address.prefix(8)) : address
    }

    /// Each network has a fair share: when all places are taken, the network with the most clients loses the one with
    /// the oldest request. It loses none if it has fewer than two more than the newcomer's, so that two networks do not
    /// disconnect each other's clients in turn.
    public func decide(for newcomer: [UInt8], among clients: [Client]) -> Decision {
        guard clients.count >= limit else { return .welcome }
        func count(of network: [UInt8]) -> Int {
            var count = 0
            for client in clients where client.network == network { count += 1 }
            return count
        }
        var (most, oldest): (Int, Client?) = (count(of: newcomer) + 1, nil)
        for client in clients where client.network != newcomer {
            let count = count(of: client.network)
            if count > most {
                (most, oldest) = (count, client)
            } else if count == most, let last = oldest, client.lastRequest < last.lastRequest {
                oldest = client
            }
        }
        guard let oldest else { return .refuse }
        return .replace(oldest.number)
    }
}
