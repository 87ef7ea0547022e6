import CLinux

/// The address and port of another machine, in the kernel's form.
struct PeerAddress {
    let address: sockaddr_storage
    /// UDP instead of TCP.
    let isDatagram: Bool

    /// - Parameters:
    ///   - address: an address of IPv4 or IPv6.
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

    /// - Parameter text: a numeric address. IPv6 addresses have no brackets; a link-local one includes its interface:
    ///   `fe80::1%eth0`.
    init?(_ text: String, port: Int, isDatagram: Bool = false) {
        var parsed = sockaddr_storage()
        guard text.withCString({ tonearm_address($0, Int32(clamping: port), &parsed) }) == 0 else { return nil }
        address = parsed
        self.isDatagram = isDatagram
    }

    /// - Parameter host: the host of a URL.
    /// - Returns: nil when it is not a numeric address.
    init?(inDigits host: String) {
        let inner = host.utf8.drop { $0 == UInt8(ascii: "[") }.prefix { $0 != UInt8(ascii: "]") }
        self.init(String(decoding: inner, as: UTF8.self), port: 0)
    }

    /// Returns whether a host is a numeric address, which needs no name server.
    static func isInDigits(host: String) -> Bool { PeerAddress(inDigits: host) != nil }

    /// Whether it is in this network or on this machine, and not in the internet.
    var isLocal: Bool { withUnsafePointer(to: address) { tonearm_is_local_destination($0) == 1 } }
}

/// The name servers that resolve host names.
enum NameServers {
    private static let port = 53

    /// Returns whether a host has an address in the text of hosts(5), so that no server is asked for it.
    static func isKnown(_ host: String, in text: [UInt8]) -> Bool {
        text.split(separator: UInt8(ascii: "\n")).contains { line in
            let words = line.prefix { $0 != UInt8(ascii: "#") }
                .split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            return words.dropFirst().contains { String(decoding: $0, as: UTF8.self).equalsIgnoringCase(host) }
        }
    }

    /// Returns the first name server in the text of resolv.conf(5). Returns nil when it names none, so that a server on
    /// this machine is used, and when it is unreadable.
    static func first(in text: [UInt8]) -> PeerAddress? {
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            guard words.count >= 2, words[0].elementsEqual("nameserver".utf8) else { continue }
            return PeerAddress(String(decoding: words[1], as: UTF8.self), port: port, isDatagram: true)
        }
        return nil
    }
}
