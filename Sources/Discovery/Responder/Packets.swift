/// A packet that has arrived.
struct IncomingPacket: Sendable {
    var bytes: [UInt8]
    /// The number of the interface.
    var link: Int32
    var source: Endpoint
    /// Whether it was sent to the group, not to this machine alone.
    var isMulticast = true
}

/// A packet to send over one interface.
struct OutgoingPacket: Equatable, Sendable {
    var bytes: [UInt8]
    var link: Int32
    /// nil for the group, by all versions of IP.
    var destination: Endpoint?
}

/// Numbers of multicast DNS. Times are in nanoseconds.
enum MulticastDNS {
    static let port: UInt16 = 5353
    /// The bytes of a packet of 1,500 bytes without the headers of IPv6 and UDP.
    static let packetLimit = 1452
    /// The maximum size of an answer to a resolver without multicast DNS, in bytes (RFC 1035, 4.2.1).
    static let legacyLimit = 512
    /// The seconds for which a resolver without multicast DNS may cache an answer (RFC 6762, 6.7).
    static let legacyLifetime: UInt32 = 10

    static let second: Int64 = 1_000_000_000
    static let millisecond: Int64 = 1_000_000
}
