import CLinux

/// The address and port of another machine, as the kernel takes them.
struct PeerAddress {
    let address: sockaddr_storage
    /// UDP, and not TCP.
    let isDatagram: Bool

    /// - Parameters:
    ///   - address: of IPv4 or IPv6.
    ///   - count: its size in bytes.
    init?(_ address: UnsafePointer<sockaddr>, count: Int) {
        var copy = sockaddr_storage()
        guard count > 0, count <= MemoryLayout<sockaddr_storage>.size else { return nil }
        withUnsafeMutableBytes(of: &copy) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: count))
        }
        self.address = copy
        isDatagram = false
    }

    /// - Parameter text: an address in digits; one of IPv6 without brackets, and for an address of a link with its
    ///   interface: `fe80::1%eth0`.
    init?(_ text: String, port: Int, isDatagram: Bool = false) {
        var parsed = sockaddr_storage()
        guard text.withCString({ tonearm_address($0, Int32(clamping: port), &parsed) }) == 0 else { return nil }
        address = parsed
        self.isDatagram = isDatagram
    }

    /// Whether the host of an address is one in digits, which nobody has to look up.
    static func isInDigits(host: String) -> Bool {
        let inner = host.utf8.drop { $0 == UInt8(ascii: "[") }.prefix { $0 != UInt8(ascii: "]") }
        return PeerAddress(String(decoding: inner, as: UTF8.self), port: 0) != nil
    }
}

/// The name servers that names are looked up with.
enum NameServers {
    private static let port = 53

    /// Whether a host has an address in the text of hosts(5), so that no server is asked for it.
    static func isKnown(_ host: String, in text: [UInt8]) -> Bool {
        text.split(separator: UInt8(ascii: "\n")).contains { line in
            let words = line.prefix { $0 != UInt8(ascii: "#") }
                .split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            return words.dropFirst().contains { String(decoding: $0, as: UTF8.self).equalsIgnoringCase(host) }
        }
    }

    /// The one that is asked first, of the text of resolv.conf(5); nil: on this machine, or what nobody can read.
    static func first(in text: [UInt8]) -> PeerAddress? {
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            guard words.count >= 2, words[0].elementsEqual("nameserver".utf8) else { continue }
            return PeerAddress(String(decoding: words[1], as: UTF8.self), port: port, isDatagram: true)
        }
        return nil
    }
}
