/// A route to other machines, as the kernel lists it in /proc/net/route (IPv4) and /proc/net/ipv6_route.
struct Route: Equatable {
    var interface: String
    /// The router of a default route, or else the network that the route leads to, as a hexadecimal address from the
    /// kernel. It distinguishes the networks that an interface moves between.
    var network: String
    /// Whether it leads to all networks or a large part of them, not only to one that the interface is connected to.
    var isDefault: Bool
    /// The prefix length of a default route: a VPN has several default routes, each to a part of all networks. 0 for
    /// other routes.
    var prefixLength: Int
    /// The metric. The default route with the lowest one is used.
    var metric: UInt32

    // <linux/route.h>: a usable route, and a route that rejects packets.
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

    /// The words are: interface, destination, gateway, flags, two counters, the decimal metric, mask…
    private init?(version4 words: [String]) {
        guard words.count >= 8, let flags = UInt32(words[3], radix: 16), Self.isUsable(flags, words[0]),
            let destination = UInt32(words[1], radix: 16), let mask = UInt32(words[7], radix: 16),
            let metric = UInt32(words[6])
        else { return nil }
        let prefixLength = mask.nonzeroBitCount
        let isDefault = prefixLength <= 1
        // The number is in network order, so on a little-endian machine the first byte of the address is the lowest
        // one.
        let isMulticast = destination & 0xF0 == 0xE0
        let isLinkLocal = destination & 0xFFFF == 0xFEA9
        if isMulticast || isLinkLocal { return nil }
        self.init(
            interface: words[0], network: isDefault ? words[2] : words[1], isDefault: isDefault,
            prefixLength: isDefault ? prefixLength : 0, metric: metric)
    }

    /// The words are: destination and its length, source and its length, next hop, metric, two counters, flags,
    /// interface. Numbers are hexadecimal.
    private init?(version6 words: [String]) {
        guard words.count >= 10, let flags = UInt32(words[8], radix: 16), Self.isUsable(flags, words[9]),
            let length = UInt32(words[1], radix: 16), let metric = UInt32(words[5], radix: 16)
        else { return nil }
        // The kernel also lists each address and the multicast groups of an interface, and fe80::/10 of each interface
        // that is up.
        let isOther = ["fe8", "fe9", "fea", "feb", "ff"].contains { words[0].utf8.starts(with: $0.utf8) }
        if length == 128 || isOther { return nil }
        // 2000::/3 and its halves contain all global addresses.
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
