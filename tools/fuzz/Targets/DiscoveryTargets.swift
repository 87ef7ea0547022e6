@testable import Discovery

/// Packets of multicast DNS.
let discoveryTargets = [
    FuzzTarget("dns-message") { bytes in
        if let message = DNSMessage(parsing: bytes) {
            // A message that was read is written in a way that reads the same.
            let packets = message.packets(limit: 65_535)
            let isWhole = packets.all.count == 1 && packets.additionalCount == message.additionals.count
            if isWhole, var again = DNSMessage(parsing: packets.all[0]) {
                again.id = message.id
                require(again == message, "it reads otherwise")
            }
            _ = message.legacyPacket(limit: 512)
        }
        // The same packet at every moment of a responder's life, from a neighbour, a stranger and a usual resolver.
        let own = IPAddress(bytes: [10, 0, 0, 1])
        let link = DiscoveryLink(index: 1, addresses: [.init(address: own, prefixLength: 24)])
        var responder = Responder(
            ServiceNames(instance: "Kitchen", host: "kitchen"),
            [AnnouncedService(type: "_http._tcp", port: 80, texts: ["path=/"])], seed: 1)
        var now: Int64 = 0
        var sent = responder.update([link], at: now)
        for source in [[10, 0, 0, 2], [8, 8, 8, 8]] as [[UInt8]] {
            for (port, isMulticast) in [(5353, true), (40_000, true), (5353, false)] as [(UInt16, Bool)] {
                let packet = IncomingPacket(
                    bytes: bytes, link: 1, source: Endpoint(address: IPAddress(bytes: source), port: port),
                    isMulticast: isMulticast)
                sent += responder.receive(packet, at: now)
                for _ in 0..<8 {
                    guard let next = responder.nextWakeUp else { break }
                    now = max(now, next)
                    sent += responder.wake(at: now)
                }
            }
        }
        sent += responder.stop()
        for packet in sent {
            require(packet.bytes.count <= 1452, "a packet of \(packet.bytes.count) bytes")
            require(DNSMessage(parsing: packet.bytes) != nil, "a packet that cannot be read")
            guard let destination = packet.destination else { continue }
            require(link.has(destination.address), "an answer to a stranger")
        }
    }
]
