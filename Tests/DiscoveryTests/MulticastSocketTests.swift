import Glibc
import Platform
import TestSupport
import Testing

@testable import Discovery

@Suite("The socket of multicast DNS")
struct MulticastSocketTests {
    @Test("A packet with a destination goes there, and not to the group", arguments: [false, true])
    func unicast(isVersion6: Bool) throws {
        // Any ports, so that no other program of this machine takes part.
        let sender = try MulticastSocket(isVersion6: isVersion6, port: 0)
        let receiver = try MulticastSocket(isVersion6: isVersion6, port: 0)
        let loopback = IPAddress(bytes: isVersion6 ? [UInt8](repeating: 0, count: 15) + [1] : [127, 0, 0, 1])
        let link = Int32(if_nametoindex("lo"))
        let destination = Endpoint(address: loopback, port: try port(of: receiver))
        sender.send(OutgoingPacket(bytes: [1, 2, 3], link: link, destination: destination))
        try waitForDescriptor(receiver.descriptor, "the packet")
        let packet = try #require(receiver.receive())
        #expect(packet.bytes == [1, 2, 3] && packet.link == link && !packet.isMulticast)
        #expect(packet.source == Endpoint(address: loopback, port: try port(of: sender)))
        #expect(receiver.receive() == nil)
    }

    private func port(of socket: MulticastSocket) throws -> UInt16 {
        var address = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket.descriptor, $0, &size) }
        }
        try #require(result == 0)
        // Both versions have it at the same place.
        return UInt16(bigEndian: address.sin6_port)
    }
}
