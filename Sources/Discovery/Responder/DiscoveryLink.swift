/// An address of IPv4 or IPv6.
struct IPAddress: Equatable, Sendable {
    let isVersion6: Bool
    /// The first 8 bytes of one of IPv6; 0 for IPv4.
    private var high: UInt64 = 0
    /// The other bytes.
    private var low: UInt64 = 0

    /// - Parameter bytes: 4 or 16, in network order.
    init(bytes: [UInt8]) {
        isVersion6 = bytes.count > 4
        for byte in bytes {
            high = high << 8 | low >> 56
            low = low << 8 | UInt64(byte)
        }
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        var bit: UInt64 = isVersion6 ? 128 : 32
        while bit > 0 {
            bit -= 8
            bytes.append(UInt8(truncatingIfNeeded: bit < 64 ? low >> bit : high >> (bit - 64)))
        }
        return bytes
    }

    /// 169.254.0.0/16 and fe80::/10, which every link has.
    var isLinkLocal: Bool { isVersion6 ? high >> 54 == 0xFE80 >> 6 : low >> 16 == 0xA9FE }

    /// Whether both are in one network of this many bits.
    func shares(_ prefixLength: Int, with other: IPAddress) -> Bool {
        guard isVersion6 == other.isVersion6 else { return false }
        let (highs, lows) = (high ^ other.high, low ^ other.low)
        // A shift by 64 and more leaves nothing.
        if !isVersion6 { return lows >> max(32 - prefixLength, 0) == 0 }
        return highs >> max(64 - prefixLength, 0) == 0
            && (prefixLength <= 64 || lows >> max(128 - prefixLength, 0) == 0)
    }
}

/// A sender or receiver of packets on one link.
struct Endpoint: Equatable, Sendable {
    var address: IPAddress
    var port: UInt16
}

/// An interface on which the services are announced, and its addresses.
struct DiscoveryLink: Equatable, Sendable {
    struct Address: Equatable, Sendable {
        var address: IPAddress
        var prefixLength: Int
        /// Whether others may use it: temporary and deprecated addresses are not announced.
        var isAnnounced = true
    }

    /// The number of the interface.
    var index: Int32
    var addresses: [Address]

    var announced: [IPAddress] { addresses.compactMap { $0.isAnnounced ? $0.address : nil } }

    /// Whether an address is on this link, so that no router is between (RFC 6762, 11).
    func has(_ other: IPAddress) -> Bool {
        other.isLinkLocal || addresses.contains { $0.address.shares($0.prefixLength, with: other) }
    }
}
