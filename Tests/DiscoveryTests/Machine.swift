import Testing

@testable import Discovery

/// A machine on one link, with its time: what it sends is recorded.
struct Machine {
    struct Sent {
        /// Milliseconds.
        let time: Int64
        let message: DNSMessage
        let packet: OutgoingPacket

        var isGoodbye: Bool { message.isResponse && message.answers.allSatisfy { $0.ttl == 0 } }
    }

    static let link = DiscoveryLink(
        index: 1,
        addresses: [
            .init(address: IPAddress(bytes: [10, 0, 0, 1]), prefixLength: 24),
            .init(address: IPAddress(bytes: [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1]), prefixLength: 64),
        ])
    static let neighbour = Endpoint(address: IPAddress(bytes: [10, 0, 0, 2]), port: 5353)
    static let type = DNSName(unchecked: "_mpd._tcp.local")
    static let instance = DNSName(unchecked: "Kitchen._mpd._tcp.local")
    static let host = DNSName(unchecked: "kitchen.local")

    var responder: Responder
    /// Milliseconds.
    private(set) var now: Int64 = 0
    private(set) var sent: [Sent] = []

    init(
        _ services: [AnnouncedService] = [AnnouncedService(type: "_mpd._tcp", port: 6600)],
        links: [DiscoveryLink] = [link], seed: UInt64 = 1
    ) {
        responder = Responder(ServiceNames(instance: "Kitchen", host: "kitchen"), services, seed: seed)
        update(links)
    }

    /// One that has announced its services, and 10 s later.
    static func established(
        _ services: [AnnouncedService] = [AnnouncedService(type: "_mpd._tcp", port: 6600)],
        links: [DiscoveryLink] = [link]
    ) -> Machine {
        var machine = Machine(services, links: links)
        machine.run(for: 12_000)
        machine.forget()
        return machine
    }

    mutating func forget() { sent = [] }

    private mutating func record(_ packets: [OutgoingPacket]) {
        for packet in packets {
            guard let message = DNSMessage(parsing: packet.bytes) else {
                Issue.record("it sent a packet that cannot be read")
                continue
            }
            sent.append(Sent(time: now, message: message, packet: packet))
        }
    }

    mutating func update(_ links: [DiscoveryLink]) {
        record(responder.update(links, at: now * 1_000_000))
    }

    mutating func stop() { record(responder.stop()) }

    /// Lets time pass, and wakes the responder whenever it asks for it.
    mutating func run(for milliseconds: Int64) {
        let end = now + milliseconds
        while let due = responder.nextWakeUp, (due + 999_999) / 1_000_000 <= end {
            now = max(now, (due + 999_999) / 1_000_000)
            record(responder.wake(at: now * 1_000_000))
        }
        now = end
    }

    mutating func receive(
        _ message: DNSMessage, from source: Endpoint = neighbour, link: Int32 = 1, isMulticast: Bool = true
    ) {
        for bytes in message.packets(limit: 9000).all {
            receive(bytes, from: source, link: link, isMulticast: isMulticast)
        }
    }

    mutating func receive(_ bytes: [UInt8], from source: Endpoint, link: Int32 = 1, isMulticast: Bool = true) {
        let packet = IncomingPacket(bytes: bytes, link: link, source: source, isMulticast: isMulticast)
        record(responder.receive(packet, at: now * 1_000_000))
    }

    /// Asks, and returns what it sends within half a second.
    mutating func answers(
        to questions: [DNSQuestion], knowing known: [DNSRecord] = [], from source: Endpoint = neighbour,
        isMulticast: Bool = true
    ) -> [Sent] {
        var query = DNSMessage()
        query.questions = questions
        query.answers = known
        let before = sent.count
        receive(query, from: source, isMulticast: isMulticast)
        run(for: 500)
        return Array(sent[before...])
    }

    // MARK: Messages of others

    static func query(_ name: DNSName, _ type: UInt16, unicast: Bool = false) -> DNSQuestion {
        DNSQuestion(name: name, type: type, wantsUnicast: unicast)
    }

    static func response(_ records: DNSRecord...) -> DNSMessage {
        var message = DNSMessage(isResponse: true)
        message.answers = records
        return message
    }

    /// Another machine's probe for the host.
    static func hostProbe(_ address: [UInt8], unicast: Bool = true) -> DNSMessage {
        var message = DNSMessage()
        message.questions = [query(host, DNSType.any, unicast: unicast)]
        message.authorities = [DNSRecord(name: host, data: .address4(address), ttl: 120)]
        return message
    }

    static func service(_ port: UInt16 = 6600, host: DNSName = host, ttl: UInt32 = 120) -> DNSRecord {
        DNSRecord(
            name: instance, data: .service(priority: 0, weight: 0, port: port, host: host), ttl: ttl, isUnique: true)
    }

    static func pointer(ttl: UInt32 = 4500) -> DNSRecord { DNSRecord(name: type, data: .pointer(instance), ttl: ttl) }
}

extension [Machine.Sent] {
    var probes: Self { filter { !$0.message.isResponse } }
    var responses: Self { filter { $0.message.isResponse } }
    var times: [Int64] { map(\.time) }

    /// Whether one of the answers is a record of this name and type, and how often.
    func count(of name: DNSName, _ type: UInt16) -> Int {
        flatMap(\.message.answers).filter { $0.name == name && $0.data.type == type }.count
    }
}

extension DNSData {
    static func address4(_ bytes: [UInt8]) -> DNSData { DNSData(type: DNSType.address4, bytes: bytes) }
    static func address6(_ bytes: [UInt8]) -> DNSData { DNSData(type: DNSType.address6, bytes: bytes) }
}
