/// A route to other machines, as the kernel lists it in /proc/net/route (IPv4) and /proc/net/ipv6_route.
struct Route: Equatable {
    var interface: String
    /// The router of a default route, else the network that the route leads to, as the kernel writes its address: in
    /// hexadecimal digits. Networks that an interface moves between differ in it.
    var network: String
    /// It leads to all networks, or to a large part of them, and not only to one that the interface is connected to.
    var isDefault: Bool
    /// Of default routes, how many bits of an address they are about: a VPN has several, each to a part of all
    /// networks.
    var prefixLength: Int
    /// Of default routes, the one with the lowest metric is used.
    var metric: UInt32

    // <linux/route.h>: a usable route, and one that rejects packets.
    private static let up: UInt32 = 0x0001
    private static let reject: UInt32 = 0x0200

    /// - Parameters: the texts of the files; lines that are not routes are skipped.
    static func all(version4: [UInt8], version6: [UInt8]) -> [Route] {
        lines(version4).compactMap { self.init(version4: $0) } + lines(version6).compactMap { self.init(version6: $0) }
    }

    private static func lines(_ text: [UInt8]) -> [[String]] {
        text.split(separator: UInt8(ascii: "\n")).map { line in
            line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.map {
                String(decoding: $0, as: UTF8.self)
            }
        }
    }

    /// Interface, destination, gateway, flags, two counters, the decimal metric, mask…
    private init?(version4 words: [String]) {
        guard words.count >= 8, let flags = UInt32(words[3], radix: 16), Self.isUsable(flags, words[0]),
            let destination = UInt32(words[1], radix: 16), let mask = UInt32(words[7], radix: 16),
            let metric = UInt32(words[6])
        else { return nil }
        let prefixLength = mask.nonzeroBitCount
        let isDefault = prefixLength <= 1
        // In network order on a little-endian machine: the first byte of the address is the lowest.
        let isMulticast = destination & 0xF0 == 0xE0
        let isLinkLocal = destination & 0xFFFF == 0xFEA9
        if isMulticast || isLinkLocal { return nil }
        self.init(
            interface: words[0], network: isDefault ? words[2] : words[1], isDefault: isDefault,
            prefixLength: isDefault ? prefixLength : 0, metric: metric)
    }

    /// Destination and its length, source and its length, next hop, metric, two counters, flags, interface; numbers are
    /// hexadecimal.
    private init?(version6 words: [String]) {
        guard words.count >= 10, let flags = UInt32(words[8], radix: 16), Self.isUsable(flags, words[9]),
            let length = UInt32(words[1], radix: 16), let metric = UInt32(words[5], radix: 16)
        else { return nil }
        // The kernel also lists each address and the multicast groups of an interface, and fe80::/10 of each one that
        // is up.
        let isOther = ["fe8", "fe9", "fea", "feb", "ff"].contains { words[0].utf8.starts(with: $0.utf8) }
        if length == 128 || isOther { return nil }
        // 2000::/3 and its halves are all addresses that others have.
        let isDefault = length <= 4
        self.init(
            interface: words[9], network: words[isDefault ? 4 : 0], isDefault: isDefault,
            prefixLength: isDefault ? Int(length) : 0, metric: metric)
    }

    init(
        interface: String, network: String = "", isDefault: Bool = true, prefixLength: Int = 0, metric: UInt32 = 0
    ) {
        self.interface = interface
        self.network = network
        self.isDefault = isDefault
        self.prefixLength = prefixLength
        self.metric = metric
    }

    private static func isUsable(_ flags: UInt32, _ interface: String) -> Bool {
        flags & up != 0 && flags & reject == 0 && !interface.utf8.elementsEqual("lo".utf8)
    }
}
