import Foundation

/// A machine with a cable and a modem, both to one far machine, in two network namespaces. The calling thread is in
/// that of the machine. The far machine has two addresses that no link has: 10.99.0.1 and fd99::1.
///
///     eth0   10.9.0.1, fd09::1 ── far-eth0   10.9.0.2, fd09::2
///     modem  10.8.0.1, fd08::1 ── far-modem  10.8.0.2, fd08::2
public final class TwoLinks<Server: Sendable>: Sendable {
    /// The server on the far machine.
    public let server: Server
    private let packets: Int32
    private let ended = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - modem: how its interface is named.
    ///   - make: called on the far machine.
    /// - Returns: nil when the kernel or `make` refuses.
    public init?(modem: String = "wwan0", serving make: @escaping @Sendable () -> Server?) {
        let far = Locked<String?>(nil)
        let made = Locked<Server?>(nil)
        let (entered, connected, listens) =
            (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let ended = ended
        Thread.detachNewThread {
            _ = NetworkNamespace.onThread {
                far.withLock { $0 = NetworkNamespace.thread }
                entered.signal()
                connected.waitInTime()
                Self.ip("addr add 10.99.0.1/32 dev lo", "-6 addr add fd99::1/128 dev lo")
                Self.connect("far-eth0", 9, 2)
                Self.connect("far-modem", 8, 2)
                let server = make()
                made.withLock { $0 = server }
                listens.signal()
                ended.waitInTime()
            }
        }
        entered.waitOrEndRun("the far namespace")
        let thread = far.withLock { $0 } ?? ""
        let isMade =
            Self.ip("link add eth0 type veth peer name far-eth0 netns \(thread)")
            && Self.ip("link add \(modem) type veth peer name far-modem netns \(thread)")
        connected.signal()
        listens.waitOrEndRun("the server in the far namespace")
        if isMade {
            Self.connect("eth0", 9, 1)
            Self.connect(modem, 8, 1)
        }
        // On an interface that is down it would begin with an error.
        let packets = isMade ? Self.listen(on: modem) : -1
        guard packets >= 0, let server = made.withLock({ $0 }) else {
            ended.signal()
            return nil
        }
        (self.server, self.packets) = (server, packets)
    }

    deinit {
        close(packets)
        ended.signal()
    }

    private static func connect(_ interface: String, _ network: Int, _ host: Int) {
        ip("addr add 10.\(network).0.\(host)/24 dev \(interface)")
        ip("link set \(interface) up")
        ip("-6 addr add fd0\(network)::\(host)/64 dev \(interface) nodad")
    }

    @discardableResult
    private static func ip(_ lines: String...) -> Bool { lines.allSatisfy { NetworkNamespace.ip($0) } }

    // MARK: Bytes over the modem

    /// A socket that gets all that an interface sends and receives (packet(7)).
    private static func listen(on interface: String) -> Int32 {
        let all = UInt16(0x0003).bigEndian
        let descriptor = socket(17, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), Int32(all))
        // struct sockaddr_ll
        var address = [UInt8](repeating: 0, count: 20)
        withUnsafeBytes(of: UInt16(17)) { address.replaceSubrange(0..<2, with: $0) }
        withUnsafeBytes(of: all) { address.replaceSubrange(2..<4, with: $0) }
        withUnsafeBytes(of: Int32(bitPattern: if_nametoindex(interface))) { address.replaceSubrange(4..<8, with: $0) }
        let result = address.withUnsafeBytes {
            bind(descriptor, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), 20)
        }
        return result == 0 ? descriptor : -1
    }

    /// Bytes of the packets of TCP and UDP that the modem has sent and received since the last call. Neighbour
    /// discovery is none of them.
    public func carriedBytes() -> Int {
        var packet = [UInt8](repeating: 0, count: 65_536)
        var sum = 0
        while true {
            let count = recv(packets, &packet, packet.count, Int32(MSG_DONTWAIT))
            if count <= 0 { return sum }
            let transport = packet[0] >> 4 == 4 ? packet[9] : packet[6]
            if count > 20, transport == 6 || transport == 17 { sum += count }
        }
    }
}
