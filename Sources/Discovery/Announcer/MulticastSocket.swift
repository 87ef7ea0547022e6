import CLinux
import Platform

/// A UDP socket of one version of IP at the port of multicast DNS. `deinit` closes it.
///
/// Thread: one at a time.
final class MulticastSocket {
    let descriptor: Int32
    let isVersion6: Bool
    private let port: UInt16
    private var buffer = [UInt8](repeating: 0, count: packetSize)

    /// The most bytes of a packet (RFC 6762, 17).
    private static let packetSize = 9000
    /// 224.0.0.251 and ff02::fb (RFC 6762, 3).
    private static let group4: [UInt8] = [224, 0, 0, 251]
    private static let group6: [UInt8] = [0xFF, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFB]

    /// - Throws: EADDRINUSE when another program has the port for itself, EAFNOSUPPORT when the kernel does not have
    ///   this version.
    init(isVersion6: Bool, port: UInt16 = MulticastDNS.port) throws(SystemError) {
        self.isVersion6 = isVersion6
        self.port = port
        descriptor = tonearm_multicast_open(isVersion6 ? 1 : 0, port)
        if descriptor < 0 { throw .last("open", "UDP port \(port)") }
    }

    deinit { close(descriptor) }

    /// Receives the packets to the group on a link, from now on until the interface is gone.
    /// - Returns: false when the kernel refuses it: it is in too many groups, or the interface is gone.
    func join(_ link: Int32) -> Bool {
        var group = group(link)
        return tonearm_multicast_join(descriptor, &group) == 0
    }

    private func group(_ link: Int32) -> tonearm_datagram {
        Self.datagram(Endpoint(address: IPAddress(bytes: isVersion6 ? Self.group6 : Self.group4), port: port), link)
    }

    /// Sends without waiting. A packet that cannot be sent is lost, like any datagram.
    func send(_ packet: OutgoingPacket) {
        var to = packet.destination.map { Self.datagram($0, packet.link) } ?? group(packet.link)
        _ = packet.bytes.withUnsafeBytes { tonearm_multicast_send(descriptor, $0.baseAddress, $0.count, &to) }
    }

    /// The next packet that has arrived; nil when there is none.
    func receive() -> IncomingPacket? {
        var from = tonearm_datagram()
        let count = buffer.withUnsafeMutableBytes {
            tonearm_multicast_receive(descriptor, $0.baseAddress, $0.count, &from)
        }
        guard count >= 0 else { return nil }
        let bytes = withUnsafeBytes(of: from.address) { Array($0.prefix(Int(from.address_count))) }
        return IncomingPacket(
            bytes: Array(buffer[..<count]), link: from.interface,
            source: Endpoint(address: IPAddress(bytes: bytes), port: from.port), isMulticast: from.is_multicast != 0)
    }

    private static func datagram(_ endpoint: Endpoint, _ link: Int32) -> tonearm_datagram {
        var datagram = tonearm_datagram()
        datagram.interface = link
        datagram.port = endpoint.port
        datagram.address_count = UInt8(truncatingIfNeeded: endpoint.address.bytes.count)
        withUnsafeMutableBytes(of: &datagram.address) { $0.copyBytes(from: endpoint.address.bytes.prefix(16)) }
        return datagram
    }
}
