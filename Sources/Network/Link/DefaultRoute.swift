/// A default route, as the kernel lists it in /proc/net/route (IPv4) and /proc/net/ipv6_route.
struct DefaultRoute: Equatable {
    var interface: String
    /// The router, as the kernel writes its address: in hexadecimal digits. Networks that an interface moves between
    /// differ in it.
    var gateway: String
    /// The route with the lowest metric is used.
    var metric: UInt32

    // <linux/route.h>: a usable route, and one that rejects packets.
    private static let up: UInt32 = 0x0001
    private static let reject: UInt32 = 0x0200

    /// - Parameters: the texts of the files; lines that are not routes are skipped.
    static func all(version4: [UInt8], version6: [UInt8]) -> [DefaultRoute] {
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
        guard words.count >= 8, Self.isZero(words[1]), Self.isZero(words[7]), let flags = UInt32(words[3], radix: 16),
            Self.isUsable(flags), let metric = UInt32(words[6])
        else { return nil }
        self.init(interface: words[0], gateway: words[2], metric: metric)
    }

    /// Destination and its length, source and its length, next hop, metric, two counters, flags, interface; numbers are
    /// hexadecimal.
    private init?(version6 words: [String]) {
        guard words.count >= 10, Self.isZero(words[0]), Self.isZero(words[1]), let flags = UInt32(words[8], radix: 16),
            Self.isUsable(flags), let metric = UInt32(words[5], radix: 16)
        else { return nil }
        self.init(interface: words[9], gateway: words[4], metric: metric)
    }

    init(interface: String, gateway: String = "", metric: UInt32) {
        self.interface = interface
        self.gateway = gateway
        self.metric = metric
    }

    private static func isUsable(_ flags: UInt32) -> Bool { flags & up != 0 && flags & reject == 0 }
    private static func isZero(_ digits: String) -> Bool { digits.utf8.allSatisfy { $0 == UInt8(ascii: "0") } }
}
