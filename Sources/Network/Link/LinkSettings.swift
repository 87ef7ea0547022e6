/// The configuration of links.
public struct LinkSettings: Sendable {
    /// Interfaces that count as cellular.
    public var meteredInterfaces: [String]
    /// Interfaces that never count as cellular. They have priority over `meteredInterfaces`.
    public var unmeteredInterfaces: [String]
    /// Whether the content service is on this machine and needs no network.
    let isServiceLocal: Bool

    /// - Parameter service: the address of the content service; nil for none.
    public init(meteredInterfaces: [String] = [], unmeteredInterfaces: [String] = [], service: String? = nil) {
        self.meteredInterfaces = meteredInterfaces
        self.unmeteredInterfaces = unmeteredInterfaces
        isServiceLocal = service.flatMap { WebAddress($0) }?.isLocal ?? false
    }
}

extension WebAddress {
    /// Whether the name or address of the host is this machine's (RFC 6761, 6.3; RFC 1122, 3.2.1.3; RFC 4291, 2.5.3).
    var isLocal: Bool {
        host.utf8.elementsEqual("localhost".utf8) || host.utf8.elementsEqual("[::1]".utf8)
            || host.utf8.starts(with: "127.".utf8) && host.utf8.allSatisfy(Self.isOfAddress)
    }

    private static func isOfAddress(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
