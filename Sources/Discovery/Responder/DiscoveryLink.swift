/// An address of IPv4 (4 bytes) or IPv6 (16 bytes).
struct IPAddress: Equatable, Sendable {
    let bytes: [UInt8]

    var isVersion6: Bool { bytes.count == 16 }

    /// 169.254.0.0/16 and fe80::/10, which every link has.
    var isLinkLocal: Bool {
        isVersion6 ? bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80 : bytes[0] == 169 && bytes[1] == 254
    }

    /// Whether both are in one network of this many bits.
    func shares(_ prefixLength: Int, with other: IPAddress) -> Bool {
        guard bytes.count == other.bytes.count, prefixLength <= bytes.count * 8 else { return false }
        let whole = prefixLength / 8
        let rest = UInt8(prefixLength % 8)
        guard bytes[..<whole] == other.bytes[..<whole] else { return false }
        return rest == 0 || (bytes[whole] ^ other.bytes[whole]) >> (8 - rest) == 0
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
